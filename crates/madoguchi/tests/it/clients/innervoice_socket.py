"""A plain WebSocket client on InnerVoice's own port, with the document's frames.

Arguments: the port's ws:// address, and two keys.
"""

import asyncio
import json
import sys

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

URL, BY_HEADER, BY_PROTOCOL = sys.argv[1:]
FRAME = """{
  "jsonrpc": "2.0",
  "id": "req_123",
  "method": "tools/call",
  "params": {
    "name": "calendar.create",
    "arguments": {
      "title": "朝ラン",
      "start": "2025-09-19T07:00:00+09:00",
      "duration_min": 30
    }
  }
}"""


def with_header(key):
    return connect(URL, additional_headers={"Authorization": f"Bearer {key}"})


def with_protocol(key):
    return connect(URL, subprotocols=["mcp", f"mcp.auth.{key}"])


async def said(socket):
    return json.loads(await asyncio.wait_for(socket.recv(), 20))


async def create(socket):
    await socket.send(FRAME)
    answer = await said(socket)
    assert answer["id"] == "req_123", answer
    assert answer["result"]["status"] == "ok", answer
    assert answer["result"]["id"].startswith("evt_"), answer


async def wrong(socket):
    await socket.send(FRAME)
    error = {"code": 401, "message": "Invalid API key"}
    answer = await said(socket)
    assert answer == {"jsonrpc": "2.0", "id": "req_123", "error": error}, answer
    try:
        await said(socket)
    except ConnectionClosed as closed:
        assert closed.rcvd.code == 1008, closed
    else:
        raise AssertionError("the socket stayed open")


async def limit(socket):
    """One request was made already with this key."""
    for number in range(99):
        await socket.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}))
        answer = await said(socket)
        assert "error" not in answer, (number, answer)
    await socket.send(FRAME)
    answer = await said(socket)
    assert answer["id"] == "req_123", answer
    assert answer["error"]["code"] == 429, answer
    assert answer["error"]["message"] == "Rate limit exceeded", answer


async def main():
    async with with_header(BY_HEADER) as socket:
        assert socket.subprotocol is None
        await create(socket)
        await limit(socket)
    async with with_protocol(BY_PROTOCOL) as socket:
        assert socket.subprotocol == "mcp"
        await create(socket)
    for way in (with_header, with_protocol):
        async with way("YOUR_API_KEY") as socket:
            await wrong(socket)


asyncio.run(main())
