// A voice assistant with the current TypeScript client and a key.
// Arguments: the desk's address, then auto, legacy or pin, then the key.

import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [target, era, key] = process.argv.slice(2);
const mode = era === "pin" ? { pin: "2026-07-28" } : era;

async function connect(headers) {
  const client = new Client({ name: "tests", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${target}/mcp/innervoice`), {
      requestInit: { headers },
    }),
  );
  return client;
}

const client = await connect({ authorization: `Bearer ${key}` });
assert.equal(client.getServerVersion().name, "innervoice");
const { tools } = await client.listTools();
for (const name of ["calendar_create", "message_send", "reminder_create"]) {
  assert.ok(tools.some((tool) => tool.name === name), name);
}

// The client checks each answer against the tool's output schema.
async function call(name, args) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, JSON.stringify(result));
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  assert.equal(result.structuredContent.status, "ok");
  return result.structuredContent;
}

const event = await call("calendar_create", {
  title: "朝ラン",
  start: "2030-09-19T07:00:00+09:00",
  duration_min: 30,
});
assert.match(event.id, /^evt_/);
const found = await call("calendar_list", { from: "2030-09-19T00:00:00+09:00" });
assert.ok(found.events.some((one) => one.id === event.id));
await call("calendar_cancel", { id: event.id });

const message = await call("message_send", { to: "ann@example.com", text: "Late by ten minutes" });
assert.match(message.id, /^msg_/);
await call("message_cancel", { id: message.id });

const reminder = await call("reminder_create", {
  time: "2030-09-19T21:00:00+09:00",
  note: "薬",
  repeat: "毎日",
});
assert.match(reminder.id, /^rmd_/);
await call("reminder_cancel", { id: reminder.id });

const refused = await client.callTool({ name: "calendar_cancel", arguments: { id: "evt_none" } });
assert.equal(refused.isError, true);
assert.equal(refused.structuredContent.status, "error");
assert.equal(refused.structuredContent.code, "EVENT_NOT_FOUND");
await client.close();

await assert.rejects(connect({}).then((nobody) => nobody.listTools()));
