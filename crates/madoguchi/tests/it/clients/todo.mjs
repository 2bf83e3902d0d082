// An agent that plans in `.todo/` of its home, where a person edits the same
// files, with the current TypeScript client.
// Arguments: auto, legacy or pin.

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

// The modules are where the script was started.
process.chdir(process.env.HOME);
const [era] = process.argv.slice(2);
const modern = era !== "legacy";
const mode = era === "pin" ? { pin: "2026-07-28" } : era;
const file = ".todo/task.md";
const text = () => readFileSync(file, "utf8");

const client = new Client({ name: "tests", version: "1" }, { versionNegotiation: { mode } });
await client.connect(
  new StdioClientTransport({
    command: process.env.MADOGUCHI_BIN,
    args: ["stdio", "todo"],
    env: { MADOGUCHI_DATA: process.env.MADOGUCHI_DATA, LOG_LEVEL: "error" },
  }),
);
assert.equal(client.getNegotiatedProtocolVersion(), modern ? "2026-07-28" : "2025-11-25");

// Which tools were called and which codes were seen, so that none is forgotten.
const called = new Set();
const codes = new Set();

async function does(name, args = {}) {
  called.add(name);
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, JSON.stringify(result));
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  return result.structuredContent;
}

async function fails(code, name, args = {}) {
  codes.add(code);
  const result = await client.callTool({ name, arguments: args });
  assert.equal(result.isError, true, JSON.stringify(result));
  const { error } = result.structuredContent;
  assert.equal(error.code, code);
  assert.ok(result.content[0].text.startsWith(`${code}: ${error.message}`));
  return error.details;
}

async function until(condition) {
  for (let tries = 0; tries < 200; tries += 1) {
    if (condition()) return;
    await sleep(100);
  }
  assert.fail(`never came true: ${condition}`);
}

// As an editor saves: beside the file, then over it.
function save(path, content) {
  writeFileSync(`${path}.editor`, content);
  renameSync(`${path}.editor`, path);
}

const words = { context: "c", decision: "d", rationale: "r" };
await fails("NOTHING_TO_UNDO", "undo");
const made = await does("create_task", { title: "一", category: "SPEC", subtasks: ["a", "b"] });
assert.deepEqual([made.task_id, made.file_path], ["T001", ".todo/context/T001.md"]);
await does("create_task", { title: "二", category: "SPEC" });
await does("update_task", { task_id: "T001", status: "in_progress" });
const moved = await does("reorder_task", { task_id: "T002", position: "first" });
assert.deepEqual([moved.old_position, moved.new_position], [2, 1]);
const listed = await does("list_tasks", { status: "in_progress" });
assert.deepEqual(listed.tasks.map((task) => task.task_id), ["T001"]);
assert.equal((await does("search_tasks", { query: "一" })).total_matches, 1);
await does("update_context", { task_id: "T001", content: "メモ", append: true });
assert.match((await does("get_context", { task_id: "T001" })).content, /メモ/);
assert.equal((await does("search_contexts", { query: "めも" })).results[0].task_id, "T001");
assert.equal((await does("create_adr", { title: "Use Rust", ...words })).adr_id, "adr-001-use-rust");
await does("update_adr_status", { adr_number: 1, status: "Accepted", reason: "why not" });
assert.equal((await does("list_adrs", { status: "Accepted" })).total_count, 1);
assert.equal((await does("get_adr", { adr_number: 1 })).status, "Accepted");
assert.equal((await does("search", { query: "rust" })).results[0].kind, "adr");
assert.equal((await does("next_tasks")).tasks[0].task_id, "T001");
await does("link_tasks", { task_id: "T002", relation: "depends_on", target: "T001" });
assert.equal((await does("get_task", { task_id: "T002" })).title, "二");
const before = text();
await does("batch", { operations: [{ tool: "delete_task", arguments: { task_id: "T002" } }] });
await does("undo");
assert.equal(text(), before);
await does("delete_task", { task_id: "T002" });

// The files are resources, and a person's save is told.
const uri = "file://.todo/task.md";
const news = [];
client.setNotificationHandler("notifications/resources/updated", (notification) => {
  news.push(notification.params.uri);
});
const watch = modern
  ? await client.listen({ resourceSubscriptions: [uri] })
  : await client.subscribeResource({ uri });
save(file, `${text()}\nby hand\n`);
await until(() => news.includes(uri));
if (modern) {
  await watch.close();
  assert.equal(await watch.closed, "local");
} else {
  await client.unsubscribeResource({ uri });
}
const { contents } = await client.readResource({ uri });
assert.equal(contents[0].text, text());
const { resources } = await client.listResources();
assert.ok(resources.some((resource) => resource.uri === "file://.todo/adr/adr-001-use-rust.md"));
const { completion } = await client.complete({
  ref: { type: "ref/resource", uri: "file://.todo/context/{task_id}.md" },
  argument: { name: "task_id", value: "T0" },
});
assert.deepEqual(completion.values, ["T001"]);

const details = await fails("INVALID_TASK_ID", "get_context", { task_id: "one" });
assert.deepEqual(details, { ...details, field: "task_id", value: "one" });
await fails("INVALID_ADR_NUMBER", "update_adr_status", { adr_number: 0, status: "Accepted" });
await fails("INVALID_STATUS", "update_task", { task_id: "T001", status: "maybe" });
await fails("INVALID_CATEGORY", "create_task", { title: "x", category: "a\nb" });
await fails("CONTENT_TOO_LONG", "update_context", { task_id: "T001", content: "x".repeat(10_001) });
await fails("TASK_NOT_FOUND", "delete_task", { task_id: "T999" });
await fails("ADR_NOT_FOUND", "update_adr_status", { adr_number: 9, status: "Accepted" });
const reorder = { task_id: "T001", position: "before" };
await fails("REFERENCE_TASK_NOT_FOUND", "reorder_task", { ...reorder, reference_task_id: "T555" });
await fails("INVALID_POSITION", "reorder_task", reorder);
await fails("INVALID_DATE", "create_task", { title: "x", due: "soon" });
const itself = { task_id: "T001", relation: "depends_on", target: "T001" };
await fails("DEPENDENCY_CYCLE", "link_tasks", itself);

const good = text();
unlinkSync(".todo/context/T001.md");
await fails("FILE_NOT_FOUND", "get_context", { task_id: "T001" });
save(file, Buffer.from([0xff, 0xfe]));
await fails("FILE_READ_ERROR", "list_tasks");
save(file, "```\n");
await fails("FILE_WRITE_ERROR", "create_task", { title: "x" });
save(file, good);
chmodSync(file, 0o444);
await fails("PERMISSION_DENIED", "update_task", { task_id: "T001", status: "done" });
chmodSync(file, 0o644);
await does("update_task", { task_id: "T001", title: "mine" });
save(file, text().replace("mine", "theirs"));
await fails("EDIT_CONFLICT", "undo");
save(file, `${good}- [ ] again #T001\n`);
await fails("DUPLICATE_TASK_ID", "update_task", { task_id: "T001", title: "x" });
save(".todo/adr/adr-001-again.md", "# Again\n");
await fails("DUPLICATE_ADR_NUMBER", "get_adr", { adr_number: 1 });
const numbers = Array.from({ length: 999 }, (_, index) => `${index + 1}`.padStart(3, "0"));
save(file, numbers.map((number) => `- [ ] n #T${number}\n`).join(""));
await fails("TASK_LIMIT_EXCEEDED", "create_task", { title: "x" });
mkdirSync(".todo/adr", { recursive: true });
for (const number of numbers) writeFileSync(`.todo/adr/adr-${number}-n.md`, "# n\n");
await fails("ADR_LIMIT_EXCEEDED", "create_adr", { title: "x", ...words });

const { tools } = await client.listTools();
assert.deepEqual([...called].sort(), tools.map((tool) => tool.name).sort());
assert.equal(codes.size, 15 + 6, [...codes].join());
await client.close();
