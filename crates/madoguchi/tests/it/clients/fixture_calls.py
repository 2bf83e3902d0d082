"""Calls that take their time: progress on the way, and giving up."""

import time

import anyio

from desk import client, equal, ok


async def progress(desk):
    heard = []

    async def report(done, total, message):
        heard.append((done, total, message))

    result = await desk.call_tool("test_tool_with_progress", {}, progress_callback=report)
    assert not result.is_error, result
    equal(
        heard,
        [(0.0, 100.0, "Starting"), (50.0, 100.0, "Halfway"), (100.0, 100.0, "Complete")],
    )


async def cancel(desk):
    """Giving up ends the call, and nothing else on the connection."""
    began = time.monotonic()
    # A busy desk takes its time to read a request.
    with anyio.move_on_after(3):
        await desk.call_tool("fixture_sleep", {"milliseconds": 30_000})
        raise AssertionError("it was not cancelled")
    equal(ok(await desk.call_tool("fixture_echo", {"text": "still here"})), {"text": "still here"})
    assert time.monotonic() - began < 25


async def together(desk):
    """Slow calls do not hold up quick ones."""

    async def sleep():
        await desk.call_tool("fixture_sleep", {"milliseconds": 60_000})
        raise AssertionError("a quick call had to wait for it")

    async with anyio.create_task_group() as group:
        group.start_soon(sleep)
        await anyio.sleep(0.3)
        for text in ("one", "two"):
            equal(ok(await desk.call_tool("fixture_echo", {"text": text})), {"text": text})
        group.cancel_scope.cancel()


async def main():
    async with client("fixture") as desk:
        await progress(desk)
        await cancel(desk)
        await together(desk)


anyio.run(main)
