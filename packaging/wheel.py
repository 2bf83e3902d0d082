#!/usr/bin/env python3
"""Writes a wheel with the program as its only content, as `maturin` does with
`bindings = "bin"`. maturin can't use a program that is already compiled.

    wheel.py PLATFORM BINARY GLIBC DIR

GLIBC is the newest version of glibc that the program needs, such as 2.17.
"""

import base64
import hashlib
import pathlib
import sys
import zipfile

from project import AUTHOR, DESCRIPTION, LICENSE, PROCESSORS, REGISTRY_NAME, ROOT, VERSION, timestamp

# Older names of some tags, which older installers know.
ALIASES = {"2_17": "manylinux2014", "2_12": "manylinux2010", "2_5": "manylinux1"}


def tag(platform, glibc):
    processor = PROCESSORS[platform]["wheel"]
    version = glibc.replace(".", "_")
    names = [f"manylinux_{version}_{processor}"]
    if version in ALIASES:
        names.append(f"{ALIASES[version]}_{processor}")
    return f"py3-none-{'.'.join(names)}"


def metadata():
    fields = [
        "Metadata-Version: 2.1",
        "Name: madoguchi",
        f"Version: {VERSION}",
        f"Summary: {DESCRIPTION}",
        f"Author: {AUTHOR}",
        "Keywords: mcp,model-context-protocol,agents",
        "Requires-Python: >=3.8",
        "Description-Content-Type: text/markdown",
    ]
    if LICENSE:
        fields.append(f"License: {LICENSE}")
    readme = (ROOT / "README.md").read_text()
    # The MCP registry looks for this line.
    return "\n".join(fields) + f"\n\n{readme}\n<!-- mcp-name: {REGISTRY_NAME} -->\n"


def write(platform, binary, glibc, directory):
    tags = tag(platform, glibc)
    info = f"madoguchi-{VERSION}.dist-info"
    python, abi, platforms = tags.split("-")
    wheel = ["Wheel-Version: 1.0", "Generator: madoguchi", "Root-Is-Purelib: false"]
    wheel += [f"Tag: {python}-{abi}-{one}" for one in platforms.split(".")]
    files = [
        (f"madoguchi-{VERSION}.data/scripts/madoguchi", binary.read_bytes(), 0o755),
        (f"{info}/METADATA", metadata().encode(), 0o644),
        (f"{info}/WHEEL", ("\n".join(wheel) + "\n").encode(), 0o644),
    ]
    record = ""
    for name, content, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        record += f"{name},sha256={digest},{len(content)}\n"
    record += f"{info}/RECORD,,\n"
    files.append((f"{info}/RECORD", record.encode(), 0o644))
    path = directory / f"madoguchi-{VERSION}-{tags}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, mode in files:
            entry = zipfile.ZipInfo(name, timestamp().timetuple()[:6])
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    print(path)


if __name__ == "__main__":
    platform, binary, glibc, directory = sys.argv[1:]
    write(platform, pathlib.Path(binary), glibc, pathlib.Path(directory))
