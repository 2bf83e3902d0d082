"""Two agents in rooms: every tool, the errors, waiting, and news of what changed.
Over stdio each has a process of its own, on one directory."""

import json
import os
import warnings

import anyio
from mcp import MCPError
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import ResourceTemplateReference

from desk import client, equal, has, is_modern, ok, refused

DATA = os.path.join(os.environ["MADOGUCHI_DATA"], "rooms")
ROOM = "dev-team"
MESSAGES = f"rooms://{ROOM}/messages"

# Of the specification: parameters, and which of them are required.
SEED = {
    "list_rooms": ({"agentName"}, []),
    "create_room": ({"roomName", "description"}, ["roomName"]),
    "enter_room": ({"agentName", "roomName", "profile"}, ["agentName", "roomName"]),
    "leave_room": ({"agentName", "roomName"}, ["agentName", "roomName"]),
    "list_room_users": ({"roomName"}, ["roomName"]),
    "send_message": (
        {"agentName", "roomName", "message", "metadata"},
        ["agentName", "roomName", "message"],
    ),
    "get_messages": (
        {"roomName", "agentName", "limit", "offset", "mentionsOnly"},
        ["roomName"],
    ),
    "get_status": ({"roomName"}, []),
    "clear_room_messages": ({"roomName", "confirm"}, ["roomName", "confirm"]),
}
BEYOND = {"wait_for_messages", "mark_read", "search_messages", "delete_room"}
PROFILE = {
    "role": "coordinator",
    "description": "Task coordination",
    "capabilities": ["task_planning"],
    "metadata": {"team": "automation"},
}

# The ways of the handshake era are what is tested here.
warnings.simplefilter("ignore", MCPDeprecationWarning)


class Agent:
    """Somebody with a name, on a connection."""

    def __init__(self, desk, name):
        self.desk, self.name = desk, name

    async def call(self, tool, room=ROOM, progress=None, **arguments):
        arguments = {"agentName": self.name, "roomName": room} | arguments
        return await self.desk.call_tool(tool, arguments, progress_callback=progress)

    async def does(self, tool, **arguments):
        return ok(await self.call(tool, **arguments))

    async def says(self, message, **more):
        return await self.does("send_message", message=message, **more)


async def definitions(desk):
    equal(desk.protocol_version, "2026-07-28" if is_modern() else "2025-11-25")
    tools = {tool.name: tool for tool in (await desk.list_tools()).tools}
    names = {name.removeprefix("agent_communication_"): name for name in tools}
    equal(set(names), set(SEED) | BEYOND)
    for name, (fields, required) in SEED.items():
        tool = tools[names[name]]
        assert fields <= set(tool.input_schema["properties"]), name
        equal(tool.input_schema.get("required", []), required)
        assert tool.title and tool.description and tool.output_schema["type"] == "object"


async def coming_in(alice, bob):
    made = ok(
        await alice.desk.call_tool(
            "agent_communication/create_room",
            {"roomName": ROOM, "description": "Development"},
        )
    )
    equal((made["success"], made["roomName"]), (True, ROOM))
    entered = await alice.does("enter_room", profile=PROFILE)
    equal((entered["success"], entered["roomName"]), (True, ROOM))
    await bob.does("enter_room")
    users = ok(await bob.desk.call_tool("list_room_users", {"roomName": ROOM}))
    equal((users["roomName"], users["onlineCount"]), (ROOM, 2))
    equal([user["name"] for user in users["users"]], ["alice", "花子"])
    equal(users["users"][0]["profile"], PROFILE)
    equal({user["status"] for user in users["users"]}, {"online"})


async def talking(alice, bob):
    sent = await alice.says("@花子 お願いします", metadata={"n": 1}, clientMessageId="k1")
    has(sent, dict(messageId=str, timestamp=str, mentions=list))
    equal(sent["mentions"], ["花子"])
    again = await alice.says("@花子 お願いします", metadata={"n": 1}, clientMessageId="k1")
    equal((again["messageId"], again["duplicate"]), (sent["messageId"], True))
    reply = await bob.says("@alice done", replyTo=sent["messageId"])

    page = ok(await bob.desk.call_tool("get_messages", {"roomName": ROOM, "limit": 1}))
    equal((page["count"], page["hasMore"]), (1, True))
    equal(page["messages"][0]["id"], reply["messageId"])
    equal(page["messages"][0]["replyTo"], sent["messageId"])
    for older in ({"cursor": page["nextCursor"]}, {"offset": 1}):
        page = ok(await bob.desk.call_tool("get_messages", {"roomName": ROOM} | older))
        equal([message["id"] for message in page["messages"]], [sent["messageId"]])
        equal(page["messages"][0]["metadata"], {"n": 1})
        equal(page["hasMore"], False)
    mine = await bob.does("get_messages", mentionsOnly=True)
    equal([message["id"] for message in mine["messages"]], [sent["messageId"]])

    found = ok(await bob.desk.call_tool("search_messages", {"query": "ｼﾏｽ", "agentName": "alice"}))
    equal([message["id"] for message in found["messages"]], [sent["messageId"]])
    rooms = ok(await bob.desk.call_tool("list_rooms", {"agentName": "花子"}))["rooms"]
    equal(rooms[0] | {"unreadCount": 1, "isJoined": True}, rooms[0])
    equal((rooms[0]["userCount"], rooms[0]["messageCount"]), (2, 2))
    equal((await bob.does("mark_read"))["unreadCount"], 0)
    status = ok(await bob.desk.call_tool("get_status", {}))
    equal((status["totalRooms"], status["totalOnlineUsers"], status["totalMessages"]), (1, 2, 2))
    has(status["rooms"][0], dict(name=str, storageSize=int))


async def until_nobody_waits(agent):
    """The client does not wait for its cancellation to arrive."""
    with anyio.fail_after(20):
        while True:
            users = ok(await agent.desk.call_tool("list_room_users", {"roomName": ROOM}))["users"]
            if not any(user.get("waiting") for user in users):
                return
            await anyio.sleep(0.05)


async def waiting(alice, bob):
    await alice.does("mark_read")
    heard = []

    async def report(done, total, message):
        heard.append(message)

    answers = {}

    async def wait(agent):
        answers[agent.name] = await agent.does("wait_for_messages", timeout=10, progress=report)

    # Both wait: nobody will speak, and whoever began last is told so at once.
    async with anyio.create_task_group() as group:
        group.start_soon(wait, alice)
        group.start_soon(wait, bob)
    equal({answer["count"] for answer in answers.values()}, {0})
    equal({answer["timedOut"] for answer in answers.values()}, {True, False})
    told = next(answer for answer in answers.values() if not answer["timedOut"])
    equal(told["warnings"][0]["code"], "EVERYBODY_WAITS")
    equal(sorted(told["warnings"][0]["waitingAgents"]), ["alice", "花子"])
    assert any("Everybody" in message for message in heard), heard

    # Who gives up has read nothing.
    with anyio.move_on_after(0.5):
        await bob.does("wait_for_messages", timeout=60)
        raise AssertionError("nothing was sent")
    await until_nobody_waits(alice)
    sent = await alice.says("after all")
    got = await bob.does("wait_for_messages", timeout=30)
    equal([message["id"] for message in got["messages"]], [sent["messageId"]])

    # Woken by the other one.
    async with anyio.create_task_group() as group:
        group.start_soon(wait, bob)
        await anyio.sleep(0.3)
        await alice.says("wake up @花子")
    equal(answers["花子"]["messages"][0]["message"], "wake up @花子")
    equal((answers["花子"]["timedOut"], answers["花子"]["unreadCount"]), (False, 0))


async def errors(alice, bob):
    async def no(code, tool, **arguments):
        return refused(await alice.call(tool, **arguments), code)

    await no("ROOM_NOT_FOUND", "enter_room", room="none")
    await no("INVALID_ROOM_NAME", "enter_room", room="../x")
    await no("INVALID_AGENT_NAME", "enter_room", agentName="ＳＹＳＴＥＭ")
    await no("AGENT_ALREADY_IN_ROOM", "enter_room")
    await no("AGENT_NOT_IN_ROOM", "send_message", agentName="nobody", message="x")
    await no("INVALID_MESSAGE_FORMAT", "send_message", message=" ")
    await no("INVALID_MESSAGE_FORMAT", "send_message", message="x" * 10_001)
    await no("MESSAGE_NOT_FOUND", "send_message", message="x", replyTo="msg_none")
    await no("CLIENT_MESSAGE_ID_REUSED", "send_message", message="other", clientMessageId="k1")
    await no("INVALID_CURSOR", "get_messages", cursor="nonsense")
    await no("INVALID_ARGUMENT", "get_messages", limit=1001)
    desk = alice.desk
    refused(await desk.call_tool("create_room", {"roomName": ROOM}), "ROOM_ALREADY_EXISTS")
    ok(await desk.call_tool("create_room", {"roomName": "other"}))
    await no("AGENT_NOT_IN_ROOM", "send_message", room="other", message="x")
    for tool in ("clear_room_messages", "delete_room"):
        arguments = {"roomName": "other", "confirm": False}
        refused(await desk.call_tool(tool, arguments), "CONFIRMATION_REQUIRED")
    log = os.path.join(DATA, "rooms", "other", "messages.jsonl")
    os.remove(log)
    os.symlink("/etc/passwd", log)
    refused(await desk.call_tool("get_messages", {"roomName": "other"}), "STORAGE_ERROR")
    warned = ok(await desk.call_tool("search_messages", {"query": "root"}))
    equal((warned["count"], len(warned["warnings"])), (0, 1))
    deleted = ok(await desk.call_tool("delete_room", {"roomName": "other", "confirm": True}))
    equal((deleted["success"], deleted["roomName"]), (True, "other"))


async def resources(desk):
    listed = [resource.uri for resource in (await desk.list_resources()).resources]
    equal(listed, [f"rooms://{ROOM}", MESSAGES])
    contents = (await desk.read_resource(MESSAGES)).contents
    equal(contents[0].mime_type, "application/json")
    equal(json.loads(contents[0].text), ok(await desk.call_tool("get_messages", {"roomName": ROOM})))
    template = ResourceTemplateReference(uri="rooms://{roomName}/messages")
    answer = await desk.complete(template, {"name": "roomName", "value": "dev"})
    equal(answer.completion.values, [ROOM])
    try:
        raise AssertionError(await desk.read_resource("rooms://none/messages"))
    except MCPError as error:
        equal(error.code, -32602 if is_modern() else -32002)


async def watching(alice, bob, news):
    """Bob's watch hears of what alice does, in whichever process."""
    if is_modern():
        async with bob.desk.listen(resource_subscriptions=[MESSAGES]) as events:
            equal(events.honored.resource_subscriptions, [MESSAGES])
            await alice.says("watched")
            with anyio.fail_after(20):
                equal((await anext(aiter(events))).uri, MESSAGES)
        return
    await bob.desk.subscribe_resource(MESSAGES)
    await alice.says("watched")
    with anyio.fail_after(20):
        equal((await news.receive()).params.uri, MESSAGES)
    await bob.desk.unsubscribe_resource(MESSAGES)


async def going(alice, bob):
    cleared = {"roomName": ROOM, "confirm": True}
    count = ok(await bob.desk.call_tool("get_status", {"roomName": ROOM}))["totalMessages"]
    equal(ok(await bob.desk.call_tool("clear_room_messages", cleared))["clearedCount"], count)
    left = await bob.does("leave_room")
    equal((left["success"], left["roomName"]), (True, ROOM))
    refused(await bob.call("leave_room"), "AGENT_NOT_IN_ROOM")
    refused(await bob.call("send_message", message="still here?"), "AGENT_NOT_IN_ROOM")


async def main():
    tell, news = anyio.create_memory_object_stream(100)

    async def message(message):
        if isinstance(message, Exception):
            raise message
        if getattr(message, "method", "").endswith("resources/updated"):
            await tell.send(message)

    async with client("rooms") as one, client("rooms", message_handler=message) as other:
        alice, bob = Agent(one, "alice"), Agent(other, "花子")
        await definitions(one)
        await coming_in(alice, bob)
        await talking(alice, bob)
        await waiting(alice, bob)
        await errors(alice, bob)
        await resources(bob.desk)
        await watching(alice, bob, news)
        await going(alice, bob)


anyio.run(main)
