"""What the cinema offers beside its tools: prompt, resources, completion, and
news of a seat map that changes."""

import json
import warnings

import anyio
from mcp import MCPError
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import PromptReference, ResourceTemplateReference

from desk import client, day, equal, is_modern, ok

TEMPLATE = "cinema://shows/{schedule_id}/seats"
TEMPLATES = [
    TEMPLATE,
    "cinema://waiting/{waiting_id}",
    "cinema://tickets/{reservation_id}",
    "cinema://tickets/{reservation_id}.ics",
]
DATE = day(2)

# The ways of the handshake era are what is tested here.
warnings.simplefilter("ignore", MCPDeprecationWarning)


async def about(desk):
    equal(desk.protocol_version, "2026-07-28" if is_modern() else "2025-11-25")
    if desk.server_info is not None:
        equal(desk.server_info.name, "cinema")


async def prompts(desk):
    prompt = (await desk.list_prompts()).prompts[0]
    equal(prompt.name, "box_office_clerk")
    equal([argument.name for argument in prompt.arguments], ["date", "language"])
    english = await desk.get_prompt(prompt.name, {"date": DATE, "language": "en"})
    assert f"The customer asks about {DATE}" in english.messages[0].content.text
    japanese = await desk.get_prompt(prompt.name, {"language": "ja"})
    assert "あなたは映画館の窓口係です" in japanese.messages[0].content.text
    await fails(-32602, desk.get_prompt("nobody"))


async def resources(desk):
    cursor, found = None, []
    while True:
        page = await desk.list_resources(cursor=cursor)
        found += [resource.uri for resource in page.resources]
        cursor = page.next_cursor
        if cursor is None:
            break
    equal(found[0], "cinema://films")
    equal(len(found), len(set(found)))
    templates = (await desk.list_resource_templates()).resource_templates
    equal([template.uri_template for template in templates], TEMPLATES)

    async def read(uri):
        contents = (await desk.read_resource(uri)).contents
        equal((len(contents), contents[0].mime_type), (1, "application/json"))
        return json.loads(contents[0].text)

    films = await read("cinema://films")
    equal(films, ok(await desk.call_tool("get_movie_list", {})))
    show = found[-1].removeprefix("cinema://shows/").removesuffix("/seats")
    seats = await desk.call_tool("get_seat_availability", {"schedule_id": show, "map": True})
    equal(await read(found[-1]), ok(seats))
    missing = -32602 if is_modern() else -32002
    await fails(missing, desk.read_resource("cinema://shows/S0/seats"))
    await fails(-32602, desk.list_resources(cursor="nonsense"))


async def completion(desk):
    prompt = PromptReference(name="box_office_clerk")
    answer = await desk.complete(prompt, {"name": "language", "value": "j"})
    equal(answer.completion.values, ["ja"])
    answer = await desk.complete(prompt, {"name": "date", "value": DATE[:8]})
    assert all(value.startswith(DATE[:8]) for value in answer.completion.values)
    template = ResourceTemplateReference(uri=TEMPLATE)
    typed = "S" + DATE.replace("-", "")
    answer = await desk.complete(template, {"name": "schedule_id", "value": typed})
    assert answer.completion.values, "no screenings to choose from"
    assert all(value.startswith(typed) for value in answer.completion.values)


async def subscription(desk, news):
    shows = ok(await desk.call_tool("get_show_schedule", {"movie_id": "M005", "date": DATE}))
    free = [show for show in shows["schedules"] if show["available_seats_count"] > 1]
    one, other = (show["schedule_id"] for show in free[:2])
    watched = f"cinema://shows/{one}/seats"

    async def book(show):
        seats = ok(await desk.call_tool("get_seat_availability", {"schedule_id": show}))
        row = seats["available_seats"][0]
        seat = f"{row['row']}{row['available_numbers'][0]}"
        ok(await desk.call_tool("reserve_seats", {"schedule_id": show, "seat_ids": [seat]}))

    if is_modern():
        async with desk.listen(resource_subscriptions=[watched]) as events:
            equal(events.honored.resource_subscriptions, [watched])
            await book(other)
            await book(one)
            with anyio.fail_after(10):
                equal((await anext(aiter(events))).uri, watched)
        return
    await desk.subscribe_resource(watched)
    await book(other)
    await book(one)
    with anyio.fail_after(10):
        update = await news.receive()
    equal((update.method, update.params.uri), ("notifications/resources/updated", watched))
    await desk.unsubscribe_resource(watched)
    await book(one)
    with anyio.move_on_after(1):
        raise AssertionError(f"unsubscribed, but told {await news.receive()}")


async def fails(code, request):
    try:
        answer = await request
    except MCPError as error:
        equal(error.code, code)
    else:
        raise AssertionError(f"no error: {answer}")


async def main():
    tell, news = anyio.create_memory_object_stream(100)

    async def message(message):
        if isinstance(message, Exception):
            raise message
        if getattr(message, "method", "").endswith("resources/updated"):
            await tell.send(message)

    async with client("cinema", message_handler=message) as desk:
        await about(desk)
        await prompts(desk)
        await resources(desk)
        await completion(desk)
        await subscription(desk, news)


anyio.run(main)
