"""A voice assistant with the official client and a key: every kind of tool.

Arguments: the desk's address, the mode, the key.
"""

import sys

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from desk import equal, ok

SEED = {
    "calendar_create": ["title", "start", "duration_min"],
    "message_send": ["to", "text"],
    "reminder_create": ["time", "note"],
}


def connect(http):
    target, mode = sys.argv[1:3]
    transport = streamable_http_client(f"{target}/mcp/innervoice", http_client=http)
    return Client(transport, mode=mode, read_timeout_seconds=30)


def refused(result, code):
    assert result.is_error, result
    equal(result.structured_content["status"], "error")
    equal(result.structured_content["code"], code)
    assert result.structured_content["error"], result


async def assistant(voice):
    tools = {tool.name: tool for tool in (await voice.list_tools()).tools}
    for name, required in SEED.items():
        equal(tools[name].input_schema["required"], required)

    async def call(name, **arguments):
        return await voice.call_tool(name, arguments)

    run = {"title": "朝ラン", "start": "2030-09-19T07:00:00+09:00", "duration_min": 30}
    event = ok(await call("calendar_create", **run))
    assert event["status"] == "ok" and event["id"].startswith("evt_"), event
    # The document's own spelling, too.
    other = ok(await call("calendar.create", **(run | {"title": "会議"})))
    found = ok(await call("calendar_list", **{"from": "2030-09-19T00:00:00+09:00"}))
    assert {event["id"], other["id"]} <= {one["id"] for one in found["events"]}, found
    moved = ok(await call("calendar_update", id=event["id"], start="2030-09-20T07:00:00+09:00"))
    equal(moved["event"]["start"], "2030-09-20T07:00:00+09:00")
    calendar = await voice.read_resource("innervoice://calendar.ics")
    assert f"UID:{event['id']}@madoguchi" in calendar.contents[0].text, calendar
    ok(await call("calendar_cancel", id=event["id"]))

    message = ok(await call("message_send", to="ann@example.com", text="Late by ten minutes"))
    assert message["id"].startswith("msg_"), message
    ok(await call("message_cancel", id=message["id"]))

    reminder = ok(
        await call("reminder_create", time="2030-09-19T21:00:00+09:00", note="薬", repeat="毎日")
    )
    assert reminder["id"].startswith("rmd_"), reminder
    ok(await call("reminder_cancel", id=reminder["id"]))

    refused(await call("calendar_create", title="x", start="soon", duration_min=1), "INVALID_TIME")
    refused(await call("calendar_create", title="x"), "INVALID_ARGUMENT")
    refused(await call("calendar_cancel", id="evt_none"), "EVENT_NOT_FOUND")


async def main():
    bearer = {"Authorization": f"Bearer {sys.argv[3]}"}
    async with httpx2.AsyncClient(headers=bearer, timeout=30) as http, connect(http) as voice:
        await assistant(voice)
    # Without the key nobody comes in.
    try:
        async with httpx2.AsyncClient(timeout=30) as http, connect(http) as voice:
            await voice.list_tools()
    except* (MCPError, httpx2.HTTPError) as refusals:
        assert "Invalid API key" in repr(refusals.exceptions) or "401" in repr(refusals.exceptions)
    else:
        raise AssertionError("somebody came in without a key")


anyio.run(main)
