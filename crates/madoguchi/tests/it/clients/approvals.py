"""An agent's client that asks its user, one whose user says no, one that cannot ask.

Over stdio the client's own prompt counts.
"""

import warnings

import anyio
from mcp import types
from mcp.shared.exceptions import MCPDeprecationWarning

from desk import client, equal, ok, refused

warnings.simplefilter("ignore", MCPDeprecationWarning)


def person(action, **content):
    """A user who always gives this answer, and the questions put to them."""
    asked = []

    async def answer(context, params):
        asked.append(params)
        equal(params.requested_schema["required"], ["decision"])
        assert "fixture_outside" in params.message, params.message
        return types.ElicitResult(action=action, content=content or None)

    return answer, asked


async def call(desk):
    return await desk.call_tool("fixture_outside", {})


async def main():
    says_yes, asked = person("accept", decision="once")
    async with client("fixture", elicitation_callback=says_yes) as desk:
        ok(await call(desk))
        ok(await call(desk))
        equal(len(asked), 2)  # this time only, each time

    async with client("fixture") as desk:
        details = refused(await call(desk), "APPROVAL_REQUIRED")
        assert details["approval_id"] in details["url"], details

    says_no, asked = person("accept", decision="deny", reason="not now")
    async with client("fixture", elicitation_callback=says_no) as desk:
        equal(refused(await call(desk), "APPROVAL_DENIED")["reason"], "not now")
        refused(await call(desk), "APPROVAL_DENIED")
        equal(len(asked), 1)  # a no is not asked for twice


anyio.run(main)
