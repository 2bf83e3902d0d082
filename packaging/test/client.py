"""Calls one tool with the official Python client, and prints its answer.

    client.py TOOL ARGUMENTS -- COMMAND...      a server on stdio
    client.py TOOL ARGUMENTS URL [KEY]          a server over HTTP
    client.py TOOL ARGUMENTS --bundle DIR [NAME=VALUE...]
                                                an unpacked MCP bundle, as its manifest says,
                                                with answers to its questions

Fails unless the tool is listed and its answer is good.
"""

import json
import os
import pathlib
import sys

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


def stdio(command, arguments, variables):
    environment = os.environ | {"LOG_LEVEL": "error"} | variables
    return StdioServerParameters(command=command, args=arguments, env=environment)


def bundle(directory, answers):
    """What a client makes of a manifest."""
    manifest = json.loads((pathlib.Path(directory) / "manifest.json").read_text())
    known = {"__dirname": str(pathlib.Path(directory).resolve()), "HOME": os.environ["HOME"]}
    for name, question in manifest.get("user_config", {}).items():
        answer = answers.get(name, question.get("default"))
        assert answer is not None or not question.get("required"), f"{name} has no answer"
        known[f"user_config.{name}"] = fill(answer, known)
    config = manifest["server"]["mcp_config"]
    variables = {name: fill(value, known) for name, value in config["env"].items()}
    arguments = [fill(argument, known) for argument in config["args"]]
    return stdio(fill(config["command"], known), arguments, variables)


def fill(text, known):
    for name, value in known.items():
        text = text.replace("${" + name + "}", value)
    assert "${" not in text, text
    return text


async def call(target, tool, arguments):
    async with Client(target, read_timeout_seconds=60) as server:
        listed = {one.name for one in (await server.list_tools()).tools}
        assert tool in listed, f"{tool} is not among {sorted(listed)}"
        answer = await server.call_tool(tool, arguments)
    assert not answer.is_error, answer
    print(json.dumps(answer.structured_content, ensure_ascii=False)[:300])


async def main():
    tool, arguments, how, *rest = sys.argv[1:]
    arguments = json.loads(arguments)
    if how == "--":
        await call(stdio(rest[0], rest[1:], {}), tool, arguments)
    elif how == "--bundle":
        answers = dict(answer.split("=", 1) for answer in rest[1:])
        await call(bundle(rest[0], answers), tool, arguments)
    else:
        headers = {"Authorization": f"Bearer {rest[0]}"} if rest else {}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            await call(streamable_http_client(how, http_client=http), tool, arguments)


anyio.run(main)
