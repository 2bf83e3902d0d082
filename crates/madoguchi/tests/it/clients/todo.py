"""An agent that plans in `.todo/` of the working directory, where a person edits
the same files: every tool, every code, the files as resources, and news of them."""

import os
import pathlib
import re
import warnings

import anyio
from mcp import MCPError
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import ResourceTemplateReference

from desk import client, equal, has, is_modern, ok, refused

FOLDER = pathlib.Path(".todo")
TASKS = FOLDER / "task.md"
BASE = "file://.todo/"
ADR = f"{BASE}adr/{{adr_id}}.md"
CONTEXT = f"{BASE}context/{{task_id}}.md"
WHEN = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(Z|[+-]\d{2}:\d{2})")

# The ways of the handshake era are what is tested here.
warnings.simplefilter("ignore", MCPDeprecationWarning)


def save(path, content):
    """As an editor does: beside the file, then over it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.editor")
    beside.write_bytes(content if isinstance(content, bytes) else content.encode())
    beside.replace(path)


def when(answer, field):
    assert WHEN.fullmatch(answer[field]), answer


class Agent:
    """Calls tools, and remembers which, so that none is forgotten."""

    def __init__(self, desk):
        self.desk = desk
        self.called, self.codes = set(), set()

    async def does(self, tool, **arguments):
        self.called.add(tool)
        return ok(await self.desk.call_tool(tool, arguments))

    async def fails(self, code, field, tool, **arguments):
        """The field and the value are named, as the document's shape has them."""
        self.codes.add(code)
        details = refused(await self.desk.call_tool(tool, arguments), code)
        if field is not None:
            equal(details["field"], field)
            assert "value" in details, details
        return details


async def tasks(agent):
    made = await agent.does(
        "create_task",
        title="要件定義を作成",
        category="SPEC",
        description="まず聞く",
        subtasks=["エラー処理", "レート制限"],
    )
    equal((made["task_id"], made["file_path"]), ("T001", ".todo/context/T001.md"))
    when(made, "created_at")
    text = pathlib.Path(made["file_path"]).read_text()
    assert text.startswith("# Context for T001\n\n## Task Description\n\nまず聞く\n"), text
    equal((await agent.does("create_task", title="Second", category="SPEC"))["task_id"], "T002")
    made = await agent.does("create_task", title="Elsewhere", due="2020-01-02")
    equal(made["task_id"], "T003")
    once = dict(title="Once", idempotency_key="k")
    made = await agent.does("create_task", **once)
    equal(await agent.does("create_task", **once), made)
    await agent.fails(
        "IDEMPOTENCY_KEY_REUSED", None, "create_task", title="Else", idempotency_key="k"
    )
    await agent.does("delete_task", task_id=made["task_id"])
    lines = TASKS.read_text().splitlines()
    for line in (
        "## SPEC",
        "- [ ] 要件定義を作成 #T001",
        "  - [ ] エラー処理",
        "## Default",
    ):
        assert line in lines, lines

    subtasks = [{"title": "エラー処理", "status": "done"}, {"title": "三"}]
    changed = await agent.does(
        "update_task", task_id="T001", status="in_progress", title="要件定義", subtasks=subtasks
    )
    equal(sorted(changed["updated_fields"]), ["status", "subtasks", "title"])
    when(changed, "updated_at")
    moved = await agent.does("reorder_task", task_id="T002", position="first")
    equal((moved["old_position"], moved["new_position"]), (2, 1))
    reference = dict(position="after", reference_task_id="T001")
    moved = await agent.does("reorder_task", task_id="T002", **reference)
    equal((moved["old_position"], moved["new_position"]), (1, 2))

    listed = await agent.does("list_tasks", category="SPEC", status="in_progress")
    equal(listed["total_count"], 1)
    row = listed["tasks"][0]
    has(row, dict(task_id=str, title=str, status=str, category=str, subtasks_count=int))
    equal((row["title"], row["subtasks_count"], row["priority"]), ("要件定義", 2, 1))
    equal(len((await agent.does("list_tasks", limit=1))["tasks"]), 1)
    overdue = await agent.does("list_tasks", overdue=True)
    equal([task["task_id"] for task in overdue["tasks"]], ["T003"])

    # Width and kana do not matter.
    found = await agent.does("search_tasks", query="ｴﾗｰ", search_in=["content"])
    equal([row["task_id"] for row in found["results"]], ["T001"])
    equal((await agent.does("search_tasks", query="エラー", search_in=["title"]))["results"], [])
    found = await agent.does("search_tasks", query="定義", limit=5)
    row = found["results"][0]
    equal((row["task_id"], row["status"], row["category"]), ("T001", "in_progress", "SPEC"))
    assert 0 < row["match_score"] <= 1 and "定義" in row["matched_content"], row
    found = await agent.does("search_tasks", query="聞く", search_in=["context"])
    equal(found["results"][0]["task_id"], "T001")

    await agent.does("link_tasks", task_id="T002", relation="depends_on", target="T001")
    waiting = await agent.does("list_tasks", blocked=True)
    equal([task["task_id"] for task in waiting["tasks"]], ["T002"])
    now = await agent.does("next_tasks")
    equal(now["tasks"][0]["task_id"], "T001")
    await agent.fails("TASK_HAS_DEPENDANTS", "task_id", "delete_task", task_id="T001")
    task = await agent.does("get_task", task_id="T002")
    equal((task["title"], task["status"]), ("Second", "todo"))
    await agent.fails(
        "DEPENDENCY_CYCLE", "target", "link_tasks", task_id="T001", relation="depends_on", target="T002"
    )


async def contexts(agent):
    written = await agent.does("update_context", task_id="T001", content="追記", append=True)
    equal(written["file_path"], ".todo/context/T001.md")
    when(written, "updated_at")
    await agent.does("update_context", task_id="T001", content="Ｒｕｓｔ", section="Notes")
    read = await agent.does("get_context", task_id="T001")
    equal(read["content"], (FOLDER / "context/T001.md").read_text())
    assert "追記" in read["content"] and "## Notes\n\nＲｕｓｔ\n" in read["content"], read
    equal(read["file_path"], ".todo/context/T001.md")
    when(read, "updated_at")
    save(FOLDER / "notes/by-hand.md", "# Rust by hand\n")
    found = await agent.does("search_contexts", query="rust")
    equal(found["total_matches"], 2)
    by_file = {row["file_path"]: row for row in found["results"]}
    equal(by_file[".todo/context/T001.md"]["task_id"], "T001")
    assert "task_id" not in by_file[".todo/notes/by-hand.md"], by_file
    assert all(0 < row["match_score"] <= 1 for row in found["results"]), found


async def decisions(agent):
    words = dict(context="遅い", decision="速くする", rationale="速いから")
    made = await agent.does("create_adr", title="Use Rust", **words)
    equal((made["adr_id"], made["file_path"]), ("adr-001-use-rust", ".todo/adr/adr-001-use-rust.md"))
    when(made, "created_at")
    await agent.does("create_adr", title="認証方式", status="Accepted", consequences="無し", **words)
    changed = await agent.does(
        "update_adr_status", adr_number=1, status="Deprecated", superseded_by=2, reason="やめた"
    )
    equal((changed["old_status"], changed["new_status"]), ("Proposed", "Deprecated"))
    when(changed, "updated_at")
    listed = await agent.does("list_adrs", status="Accepted")
    equal((listed["total_count"], listed["adrs"][0]["title"]), (1, "認証方式"))
    row = (await agent.does("list_adrs", limit=1))["adrs"][0]
    has(row, dict(adr_number=int, title=str, status=str, created_at=str, updated_at=str))
    adr = await agent.does("get_adr", adr_number=1)
    equal((adr["status"], adr["superseded_by"]), ("Deprecated", 2))
    found = await agent.does("search", query="速くする")
    equal(found["total_matches"], 2)
    assert all(row["kind"] == "adr" for row in found["results"]), found


async def several(agent):
    before = TASKS.read_bytes()
    operations = [
        {"tool": "create_task", "arguments": {"title": "In a batch"}},
        {"tool": "update_task", "arguments": {"task_id": "$1", "status": "done"}},
    ]
    made = (await agent.does("batch", operations=operations))["results"]
    equal(made[0]["task_id"], made[1]["task_id"])
    await agent.does("undo")
    equal(TASKS.read_bytes(), before)
    operations[1]["arguments"]["task_id"] = "T777"
    await agent.fails("TASK_NOT_FOUND", "task_id", "batch", operations=operations)
    equal(TASKS.read_bytes(), before)
    gone = await agent.does("delete_task", task_id="T003")
    equal(gone["deleted_files"], [".todo/context/T003.md"])
    when(gone, "deleted_at")
    assert not (FOLDER / "context/T003.md").exists()


async def refusals(agent):
    fails, lots = agent.fails, "x" * 10_001
    await fails("INVALID_TASK_ID", "task_id", "get_context", task_id="one")
    await fails("INVALID_TASK_ID", "task_id", "delete_task", task_id="T0001")
    await fails("INVALID_ADR_NUMBER", "adr_number", "update_adr_status", adr_number=1000, status="Accepted")
    await fails("INVALID_STATUS", "status", "update_task", task_id="T001", status="maybe")
    await fails("INVALID_STATUS", "status", "update_adr_status", adr_number=1, status="Maybe")
    await fails("INVALID_CATEGORY", "category", "create_task", title="x", category="a\nb")
    await fails("INVALID_CATEGORY", "category", "create_task", title="x", category="c" * 51)
    await fails("CONTENT_TOO_LONG", "content", "update_context", task_id="T001", content=lots)
    await fails("CONTENT_TOO_LONG", "title", "create_task", title="x" * 101)
    await fails("TASK_NOT_FOUND", "task_id", "update_task", task_id="T999", title="x")
    await fails("ADR_NOT_FOUND", "adr_number", "update_adr_status", adr_number=9, status="Accepted")
    before = dict(task_id="T001", position="before")
    await fails("REFERENCE_TASK_NOT_FOUND", "reference_task_id", "reorder_task", **before, reference_task_id="T555")
    await fails("INVALID_POSITION", None, "reorder_task", **before)
    await fails("INVALID_POSITION", "position", "reorder_task", task_id="T001", position="up")
    await fails("INVALID_ARGUMENT", "limit", "list_tasks", limit=101)
    await fails("INVALID_DATE", "due", "create_task", title="x", due="soon")
    details = await fails("TASK_NOT_FOUND", "task_id", "get_task", task_id="T888")
    equal(details["value"], "T888")


async def trouble(agent):
    """What is wrong with the files is said, and the files stay as they are."""
    fails, good = agent.fails, TASKS.read_bytes()

    (FOLDER / "context/T002.md").unlink()
    await fails("FILE_NOT_FOUND", "task_id", "get_context", task_id="T002")

    for broken, code in ((b"# Task\n\xff\xfe\n", "FILE_READ_ERROR"), (b"```\n", "FILE_WRITE_ERROR")):
        save(TASKS, broken)
        await fails(code, "file", "create_task", title="x")
        equal(TASKS.read_bytes(), broken)
    save(TASKS, good)
    os.chmod(TASKS, 0o444)
    await fails("PERMISSION_DENIED", "file", "update_task", task_id="T001", status="done")
    os.chmod(TASKS, 0o644)
    equal(TASKS.read_bytes(), good)

    await agent.does("update_task", task_id="T001", title="Mine")
    save(TASKS, TASKS.read_text().replace("Mine", "Theirs"))
    await fails("EDIT_CONFLICT", "file", "undo")
    save(TASKS, good + b"- [ ] again #T001\n")
    await fails("DUPLICATE_TASK_ID", "task_id", "update_task", task_id="T001", title="x")
    save(FOLDER / "adr/adr-001-again.md", "# Again\n\n## Status\n\nAccepted\n")
    await fails("DUPLICATE_ADR_NUMBER", "adr_number", "get_adr", adr_number=1)

    save(TASKS, "".join(f"- [ ] n #T{number:03}\n" for number in range(1, 1000)))
    await fails("TASK_LIMIT_EXCEEDED", None, "create_task", title="one too many")
    for number in range(3, 1000):
        (FOLDER / f"adr/adr-{number:03}-n.md").write_text(f"# {number}. n\n")
    words = dict(title="x", context="c", decision="d", rationale="r")
    await fails("ADR_LIMIT_EXCEEDED", None, "create_adr", **words)


async def resources(desk):
    templates = (await desk.list_resource_templates()).resource_templates
    equal({template.uri_template for template in templates}, {ADR, CONTEXT})
    listed = {resource.uri for resource in (await desk.list_resources()).resources}
    files = {"index.md", "task.md", "adr/adr-001-use-rust.md", "context/T001.md"}
    assert {BASE + name for name in files} <= listed, listed
    for uri in sorted(listed):
        contents = (await desk.read_resource(uri)).contents
        equal((len(contents), contents[0].mime_type), (1, "text/markdown"))
    for name in files:
        contents = (await desk.read_resource(BASE + name)).contents
        equal(contents[0].text, (FOLDER / name).read_text())
    # As the document writes them: no escapes.
    plain = (await desk.read_resource(f"{BASE}adr/adr-002-認証方式.md")).contents[0].text
    assert "認証方式" in plain
    missing = -32602 if is_modern() else -32002
    for name in ("context/T777.md", "../secret.md", "notes/by-hand.md"):
        try:
            answer = await desk.read_resource(BASE + name)
        except MCPError as error:
            equal(error.code, missing)
        else:
            raise AssertionError(answer)
    template = ResourceTemplateReference(uri=ADR)
    answer = await desk.complete(template, {"name": "adr_id", "value": "adr-001"})
    equal(answer.completion.values, ["adr-001-use-rust"])
    template = ResourceTemplateReference(uri=CONTEXT)
    answer = await desk.complete(template, {"name": "task_id", "value": "T"})
    equal(answer.completion.values, ["T001", "T002"])


async def news(desk, told):
    """A person saves, in each of the ways editors do."""
    uri, other = f"{BASE}task.md", f"{BASE}context/T001.md"

    async def edits(heard):
        for number, write in enumerate((save, lambda path, text: path.write_text(text))):
            save(FOLDER / "context/T001.md", f"# Context for T001\n\n{number}\n")
            write(TASKS, f"{TASKS.read_text()}\nedit {number}\n")
            with anyio.fail_after(20):
                equal(await heard(), uri)

    if is_modern():
        async with desk.listen(resource_subscriptions=[uri]) as events:
            equal(events.honored.resource_subscriptions, [uri])
            stream = aiter(events)

            async def heard():
                return (await anext(stream)).uri

            await edits(heard)
        return
    await desk.subscribe_resource(uri)

    async def heard():
        return (await told.receive()).params.uri

    await edits(heard)
    await desk.unsubscribe_resource(uri)
    await desk.subscribe_resource(other)
    save(TASKS, f"{TASKS.read_text()}\nnobody listens\n")
    save(FOLDER / "context/T001.md", "# Context for T001\n\nnew\n")
    with anyio.fail_after(20):
        while (uri_told := await heard()) == uri:
            pass
    equal(uri_told, other)
    await desk.unsubscribe_resource(other)


async def main():
    tell, told = anyio.create_memory_object_stream(100)

    async def message(message):
        if isinstance(message, Exception):
            raise message
        if getattr(message, "method", "").endswith("resources/updated"):
            await tell.send(message)

    async with client("todo", message_handler=message) as desk:
        equal(desk.protocol_version, "2026-07-28" if is_modern() else "2025-11-25")
        if desk.server_info is not None:
            equal((desk.server_info.name, desk.server_info.version), ("agentic-todo-mcp", "0.0.1"))
        agent = Agent(desk)
        await agent.fails("NOTHING_TO_UNDO", None, "undo")
        for part in (tasks, contexts, decisions, several, refusals):
            await part(agent)
        await resources(desk)
        await news(desk, told)
        await trouble(agent)
        equal(agent.called, {tool.name for tool in (await desk.list_tools()).tools})
        # The document's fifteen, six of our own, and two that all counters have.
        equal(len(agent.codes), 15 + 6 + 3)


anyio.run(main)
