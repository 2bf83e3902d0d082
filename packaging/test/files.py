"""Validates what other programs read of the packages in a directory, with their own checkers:
the SBOM against CycloneDX's schema, server.json against that of the MCP registry.

    files.py DIR
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator


def bill(path):
    text = path.read_text()
    error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(text)
    assert error is None, error
    components = json.loads(text)["components"]
    names = {component["name"] for component in components}
    assert {"tokio", "rusqlite", "rustls", "desk"} <= names, sorted(names)
    assert not {"proptest", "rcgen"} & names, "crates of the tests are not in the program"
    print(f"ok: SBOM, {len(components)} components")


def server(path):
    """skillsaw bundles the published schema."""
    with tempfile.TemporaryDirectory() as directory:
        shutil.copy(path, directory)
        command = [pathlib.Path(sys.executable).parent / "skillsaw", "lint"]
        command += ["--type", "mcp-registry", directory]
        checked = subprocess.run(command, capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        # It has to notice a mistake.
        broken = json.loads(path.read_text()) | {"description": "long " * 30}
        (pathlib.Path(directory) / "server.json").write_text(json.dumps(broken))
        checked = subprocess.run(command, capture_output=True, text=True)
        assert checked.returncode != 0, "the checker accepts anything"
    print("ok: server.json")


if __name__ == "__main__":
    directory = pathlib.Path(sys.argv[1])
    bill(next(directory.glob("*.cdx.json")))
    server(directory / "server.json")
