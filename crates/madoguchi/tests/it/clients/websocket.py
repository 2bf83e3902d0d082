"""The WebSocket client of the first Python SDK. Argument: the desk's ws:// address."""

import json
import sys

import anyio
from mcp import ClientSession
from mcp.client.websocket import websocket_client
from mcp.shared.exceptions import McpError
from mcp.types import TextContent


async def main():
    async with (
        websocket_client(f"{sys.argv[1]}/ws/cinema") as (read, write),
        ClientSession(read, write) as session,
    ):
        about = await session.initialize()
        assert about.serverInfo.name == "cinema", about
        tools = [tool.name for tool in (await session.list_tools()).tools]
        assert "reserve_seats" in tools, tools
        films = await session.call_tool("get_movie_list", {"search_query": "羅生門"})
        assert films.structuredContent["movies"][0]["title"] == "羅生門の雨", films
        assert isinstance(films.content[0], TextContent)
        assert json.loads(films.content[0].text) == films.structuredContent
        wrong = await session.call_tool("get_movie_list", {"date": "soon"})
        assert wrong.isError, wrong
        assert wrong.structuredContent["error"]["code"] == "INVALID_DATE", wrong
        clerk = await session.get_prompt("box_office_clerk", {"language": "en"})
        assert "box office" in clerk.messages[0].content.text, clerk
        await session.send_ping()
        try:
            await session.call_tool("sell_popcorn", {})
        except McpError as error:
            assert error.error.code == -32602, error
        else:
            raise AssertionError("an unknown tool was called")

        async def one_of_many():
            answer = await session.call_tool("get_movie_list", {"limit": 1})
            assert len(answer.structuredContent["movies"]) == 1

        async with anyio.create_task_group() as group:
            for _ in range(50):
                group.start_soon(one_of_many)


anyio.run(main)
