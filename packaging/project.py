"""What all packages say about the project. The version and the names come from Cargo.toml,
the description from the program's crate."""

import datetime
import os
import pathlib
import subprocess
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent

with open(ROOT / "Cargo.toml", "rb") as file:
    _workspace = tomllib.load(file)["workspace"]
with open(ROOT / "crates/madoguchi/Cargo.toml", "rb") as file:
    _crate = tomllib.load(file)["package"]

VERSION = _workspace["package"]["version"]
DESCRIPTION = _crate["description"]
LICENSE = _workspace["package"].get("license")
REGISTRY_NAME = _workspace["metadata"]["packages"]["registry-name"]
NPM_SCOPE = _workspace["metadata"]["packages"]["npm-scope"]
AUTHOR = "Madoguchi contributors"

# Our name of a platform, as Node.js has it, and what others call its processor.
PROCESSORS = {
    "linux-x64": {"rust": "x86_64", "npm": "x64", "wheel": "x86_64"},
    "linux-arm64": {"rust": "aarch64", "npm": "arm64", "wheel": "aarch64"},
}


def timestamp():
    """The time that packages carry: SOURCE_DATE_EPOCH, else that of the last commit."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    if not seconds:
        command = ["git", "-C", str(ROOT), "show", "--no-patch", "--format=%ct", "HEAD"]
        seconds = subprocess.run(command, capture_output=True, check=True).stdout
    return datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc)
