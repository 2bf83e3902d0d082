#!/usr/bin/env python3
"""Prints server.json, with which the MCP registry lists the program.

    registry.py COUNTERS.JSON

COUNTERS.JSON is what `madoguchi package-files` writes.
"""

import json
import pathlib
import sys

from project import DESCRIPTION, REGISTRY_NAME, VERSION

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def package(registry, hint, counters):
    return {
        "registryType": registry,
        "identifier": "madoguchi",
        "version": VERSION,
        "runtimeHint": hint,
        "transport": {"type": "stdio"},
        "packageArguments": [
            {"type": "positional", "value": "stdio"},
            {
                "type": "positional",
                "valueHint": "counter",
                "description": "Which counter to serve.",
                "isRequired": True,
                "choices": counters,
                "default": counters[0],
            },
        ],
        "environmentVariables": [
            {
                "name": "MADOGUCHI_DATA",
                "description": "The data directory. Default: the platform's own.",
                "format": "filepath",
            },
            {
                "name": "MADOGUCHI_KEY",
                "description": "A key of the desk. Limits the server to what the key allows.",
                "isSecret": True,
            },
        ],
    }


def server(counters):
    return {
        "$schema": SCHEMA,
        "name": REGISTRY_NAME,
        "title": "Madoguchi",
        "description": DESCRIPTION,
        "version": VERSION,
        "packages": [package("npm", "npx", counters), package("pypi", "uvx", counters)],
    }


if __name__ == "__main__":
    counters = json.loads(pathlib.Path(sys.argv[1]).read_text())
    print(json.dumps(server([counter["name"] for counter in counters]), indent=2))
