#!/usr/bin/env python3
"""Lays out npm packages, ready for `npm pack`.

    npm.py platform PLATFORM BINARY DIR     the program for one platform
    npm.py launcher DIR PLATFORM...         `madoguchi`, which starts the program of its platform
"""

import json
import pathlib
import shutil
import sys

from project import DESCRIPTION, LICENSE, NPM_SCOPE, PROCESSORS, REGISTRY_NAME, ROOT, VERSION


def manifest(directory, fields):
    common = {"version": VERSION, "license": LICENSE or "UNLICENSED"}
    text = json.dumps({**fields, **common}, indent=2)
    (directory / "package.json").write_text(text + "\n")


def platform(name, binary, directory):
    (directory / "bin").mkdir(parents=True)
    shutil.copy(binary, directory / "bin/madoguchi")
    (directory / "bin/madoguchi").chmod(0o755)
    (directory / "README.md").write_text(
        f"# {NPM_SCOPE}/{name}\n\nThe program of the package `madoguchi` for {name}.\n"
    )
    system, processor = name.split("-")
    manifest(
        directory,
        {
            "name": f"{NPM_SCOPE}/{name}",
            "description": f"{DESCRIPTION} The program for {name}.",
            "os": [system],
            "cpu": [processor],
            "libc": ["glibc"],
            "files": ["bin"],
            "preferUnplugged": True,
        },
    )


def launcher(directory, platforms):
    (directory / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "packaging/npm/launcher.js", directory / "bin/madoguchi.js")
    shutil.copy(ROOT / "README.md", directory / "README.md")
    manifest(
        directory,
        {
            "name": "madoguchi",
            "description": DESCRIPTION,
            "mcpName": REGISTRY_NAME,
            "keywords": ["mcp", "model-context-protocol", "agents"],
            "bin": {"madoguchi": "bin/madoguchi.js"},
            "files": ["bin"],
            "engines": {"node": ">=18"},
            "optionalDependencies": {f"{NPM_SCOPE}/{name}": VERSION for name in platforms},
        },
    )


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "platform":
        name, binary, directory = rest
        assert name in PROCESSORS, name
        platform(name, binary, pathlib.Path(directory))
    else:
        launcher(pathlib.Path(rest[0]), rest[1:])
