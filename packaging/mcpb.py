#!/usr/bin/env python3
"""Lays out one MCP bundle for each counter, ready for `mcpb pack`, and prints their names.

    mcpb.py COUNTERS.JSON PLATFORM BINARY DIR

COUNTERS.JSON is what `madoguchi package-files` writes.
"""

import json
import os
import pathlib
import sys

from project import AUTHOR, LICENSE, VERSION

# What a desktop client has to ask its user: it starts servers in no particular folder.
QUESTIONS = {
    "rooms": {
        "folder": {
            "type": "directory",
            "title": "Folder of the rooms",
            "description": "Agents that use the same folder meet in the same rooms.",
            "required": True,
            "default": "${HOME}/.local/share/madoguchi/rooms",
        }
    },
    "todo": {
        "project": {
            "type": "directory",
            "title": "Project",
            "description": "The folder of the project. Its tasks are kept in .todo inside it.",
            "required": True,
        }
    },
}
ARGUMENTS = {"todo": ["--root", "${user_config.project}"]}
VARIABLES = {"rooms": {"AGENT_COMM_DATA_DIR": "${user_config.folder}"}}


def manifest(counter, platform):
    name = counter["name"]
    program = "server/madoguchi"
    fields = {
        "manifest_version": "0.3",
        "name": f"madoguchi-{name}",
        "display_name": f"Madoguchi: {counter['title']}",
        "version": VERSION,
        "description": counter["summary"],
        "author": {"name": AUTHOR},
        "server": {
            "type": "binary",
            "entry_point": program,
            "mcp_config": {
                "command": "${__dirname}/" + program,
                "args": ["stdio", name, *ARGUMENTS.get(name, [])],
                "env": VARIABLES.get(name, {}),
            },
        },
        "tools": counter["tools"],
        "prompts_generated": True,
        "keywords": ["madoguchi", name],
        "compatibility": {"platforms": [platform.split("-")[0]]},
    }
    if LICENSE:
        fields["license"] = LICENSE
    if name in QUESTIONS:
        fields["user_config"] = QUESTIONS[name]
    return fields


if __name__ == "__main__":
    counters, platform, binary, directory = sys.argv[1:]
    for counter in json.loads(pathlib.Path(counters).read_text()):
        bundle = pathlib.Path(directory) / counter["name"]
        (bundle / "server").mkdir(parents=True)
        # A second name of the same file: a copy for each counter would be large.
        os.link(binary, bundle / "server/madoguchi")
        text = json.dumps(manifest(counter, platform), indent=2, ensure_ascii=False)
        (bundle / "manifest.json").write_text(text + "\n")
        print(counter["name"])
