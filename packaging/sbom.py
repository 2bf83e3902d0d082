#!/usr/bin/env python3
"""Prints what the program is made of, in the format CycloneDX 1.5: every crate that is
compiled into it, with its licence and checksum.

    sbom.py RUST-TARGET
"""

import json
import re
import subprocess
import sys
import tomllib
import uuid

from project import DESCRIPTION, ROOT, VERSION, timestamp


def metadata(target):
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    command += ["--filter-platform", target]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    return json.loads(output)


def edges(node):
    """The packages that one is linked with: neither for its tests nor for its build script."""
    for dependency in node["deps"]:
        if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
            yield dependency["pkg"]


def reachable(start, nodes):
    found, waiting = {start}, [start]
    while waiting:
        for package in edges(nodes[waiting.pop()]):
            if package not in found:
                found.add(package)
                waiting.append(package)
    return found


def reference(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, checksums):
    described = {
        "type": "library",
        "bom-ref": reference(package),
        "name": package["name"],
        "version": package["version"],
    }
    # Our own crates are on no registry.
    if package["source"]:
        described["purl"] = reference(package)
        checksum = checksums[package["name"], package["version"]]
        described["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package["license"]:
        # Old crates write `/` for OR.
        expression = re.sub(r"\s*/\s*", " OR ", package["license"])
        described["licenses"] = [{"expression": expression}]
    return described


def bill(target):
    described = metadata(target)
    packages = {package["id"]: package for package in described["packages"]}
    nodes = {node["id"]: node for node in described["resolve"]["nodes"]}
    program = next(it for it in packages.values() if it["name"] == "madoguchi")
    contained = reachable(program["id"], nodes)
    with open(ROOT / "Cargo.lock", "rb") as file:
        locked = tomllib.load(file)["package"]
    checksums = {(it["name"], it["version"]): it.get("checksum") for it in locked}
    libraries = [packages[it] for it in contained if it != program["id"]]
    libraries.sort(key=reference)
    dependencies = [
        {
            "ref": reference(packages[it]),
            "dependsOn": sorted({reference(packages[one]) for one in edges(nodes[it])}),
        }
        for it in sorted(contained, key=lambda it: reference(packages[it]))
    ]
    body = {
        "metadata": {
            "timestamp": timestamp().strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": reference(program),
                "name": "madoguchi",
                "version": VERSION,
                "description": DESCRIPTION,
            },
            "properties": [{"name": "madoguchi:target", "value": target}],
        },
        "components": [component(it, checksums) for it in libraries],
        "dependencies": dependencies,
    }
    # The same content always has the same number.
    number = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(body, sort_keys=True))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
        **body,
    }


if __name__ == "__main__":
    print(json.dumps(bill(sys.argv[1]), indent=2))
