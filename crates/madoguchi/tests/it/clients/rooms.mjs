// Two agents in rooms, with the current TypeScript client; over stdio each has a
// process of its own, on one directory.
// Arguments: the desk's address or `stdio`, then auto, legacy or pin.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [target, era] = process.argv.slice(2);
const modern = era !== "legacy";
const mode = era === "pin" ? { pin: "2026-07-28" } : era;
const roomName = "dev-team";
const uri = `rooms://${roomName}/messages`;

async function connect() {
  const client = new Client(
    { name: "tests", version: "1" },
    { versionNegotiation: { mode } },
  );
  const transport =
    target === "stdio"
      ? new StdioClientTransport({
          command: process.env.MADOGUCHI_BIN,
          args: ["stdio", "rooms"],
          env: { MADOGUCHI_DATA: process.env.MADOGUCHI_DATA, LOG_LEVEL: "error" },
        })
      : new StreamableHTTPClientTransport(new URL(`${target}/mcp/rooms`));
  await client.connect(transport);
  assert.equal(
    client.getNegotiatedProtocolVersion(),
    modern ? "2026-07-28" : "2025-11-25",
  );
  return client;
}

// What an agent of that name answers to: its calls, and those that must fail.
function agent(client, agentName) {
  const ask = (name, args, options) =>
    client.callTool({ name, arguments: { agentName, roomName, ...args } }, options);
  return {
    client,
    async does(name, args, options) {
      const result = await ask(name, args, options);
      assert.ok(!result.isError, JSON.stringify(result));
      assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
      return result.structuredContent;
    },
    async refused(code, name, args) {
      const result = await ask(name, args);
      assert.equal(result.isError, true, JSON.stringify(result));
      const { error } = result.structuredContent;
      assert.equal(error.code, code);
      assert.ok(result.content[0].text.startsWith(`${code}: ${error.message}`));
    },
  };
}

async function until(condition) {
  for (let tries = 0; tries < 200; tries += 1) {
    if (condition()) return;
    await sleep(100);
  }
  assert.fail(`never came true: ${condition}`);
}

const alice = agent(await connect(), "alice");
const bob = agent(await connect(), "ボブ");
const ids = (answer) => answer.messages.map((message) => message.id);

const { tools } = await alice.client.listTools();
assert.equal(tools.length, 13);
assert.ok(tools.every((tool) => tool.name.startsWith("agent_communication_")));

const made = await alice.does("agent_communication/create_room", { agentName: undefined });
assert.deepEqual([made.success, made.roomName], [true, roomName]);
await alice.refused("ROOM_ALREADY_EXISTS", "create_room", { agentName: undefined });
await alice.refused("ROOM_NOT_FOUND", "enter_room", { roomName: "none" });
await alice.does("enter_room", { profile: { role: "coordinator", capabilities: ["plan"] } });
await bob.does("enter_room");
await bob.refused("AGENT_ALREADY_IN_ROOM", "enter_room");
const { users, onlineCount } = await bob.does("list_room_users", { agentName: undefined });
assert.deepEqual(users.map((user) => user.name), ["alice", "ボブ"]);
assert.deepEqual(users[0].profile, { role: "coordinator", capabilities: ["plan"] });
assert.equal(onlineCount, 2);

// Somebody who waits is woken by the other's message.
const waiting = bob.does("wait_for_messages", { timeout: 30, mentionsOnly: true });
await sleep(300);
const question = await alice.does("send_message", {
  message: "@ボブさん、いかがですか",
  metadata: { urgent: true },
  clientMessageId: "q1",
});
assert.deepEqual(question.mentions, ["ボブ"]);
const heard = await waiting;
assert.deepEqual(ids(heard), [question.messageId]);
assert.deepEqual(heard.messages[0].metadata, { urgent: true });
const answer = await bob.does("send_message", {
  message: "@alice fine",
  replyTo: question.messageId,
});
const page = await alice.does("get_messages", { limit: 1 });
assert.deepEqual([ids(page), page.hasMore], [[answer.messageId], true]);
const older = await alice.does("get_messages", { cursor: page.nextCursor });
assert.deepEqual([ids(older), older.hasMore], [[question.messageId], false]);
const found = await alice.does("search_messages", { agentName: undefined, query: "ＦＩＮＥ" });
assert.deepEqual(ids(found), [answer.messageId]);
const { rooms } = await alice.does("list_rooms", { roomName: undefined });
assert.equal(rooms[0].unreadCount, 1);
assert.equal((await alice.does("mark_read")).unreadCount, 0);
const status = await alice.does("get_status", { agentName: undefined });
assert.deepEqual([status.totalMessages, status.warnings], [2, undefined]);

// Who gives up leaves what comes unread.
const giveUp = new AbortController();
const given = alice.does("wait_for_messages", { timeout: 60 }, { signal: giveUp.signal });
await sleep(300);
giveUp.abort();
await assert.rejects(given);
// The client does not wait for its cancellation to arrive.
for (let tries = 0; ; tries++) {
  const { users } = await bob.does("list_room_users", { agentName: undefined });
  if (!users.some((user) => user.waiting)) break;
  assert.ok(tries < 400, "the wait goes on");
  await sleep(50);
}
const late = await bob.does("send_message", { message: "late" });
assert.deepEqual(ids(await alice.does("wait_for_messages", { timeout: 30 })), [late.messageId]);

await alice.refused("AGENT_NOT_IN_ROOM", "send_message", { agentName: "nobody", message: "x" });
await alice.refused("INVALID_MESSAGE_FORMAT", "send_message", { message: "" });
await alice.refused("INVALID_ROOM_NAME", "get_messages", { roomName: "../x" });
await alice.refused("INVALID_AGENT_NAME", "enter_room", { agentName: "system" });
await alice.refused("MESSAGE_NOT_FOUND", "send_message", { message: "x", replyTo: "none" });
await alice.refused("CLIENT_MESSAGE_ID_REUSED", "send_message", {
  message: "x",
  clientMessageId: "q1",
});
await alice.refused("CONFIRMATION_REQUIRED", "clear_room_messages", {
  agentName: undefined,
  confirm: false,
});

// News of the messages, and of the list of rooms, made by the other one.
const news = [];
bob.client.setNotificationHandler("notifications/resources/updated", (notification) => {
  news.push(notification.params.uri);
});
bob.client.setNotificationHandler("notifications/resources/list_changed", () => {
  news.push("list");
});
const watch = modern
  ? await bob.client.listen({ resourceSubscriptions: [uri], resourcesListChanged: true })
  : await bob.client.subscribeResource({ uri });
await alice.does("send_message", { message: "watched" });
await until(() => news.includes(uri));
await alice.does("create_room", { roomName: "other", agentName: undefined });
await until(() => news.includes("list"));
if (modern) await watch.close();
const { contents } = await bob.client.readResource({ uri });
assert.deepEqual(
  JSON.parse(contents[0].text),
  await bob.does("get_messages", { agentName: undefined }),
);

await alice.refused("AGENT_NOT_IN_ROOM", "send_message", { roomName: "other", message: "x" });
const deleted = await alice.does("delete_room", {
  roomName: "other",
  agentName: undefined,
  confirm: true,
});
assert.equal(deleted.deletedMessages, 0);
const cleared = await alice.does("clear_room_messages", {
  agentName: undefined,
  confirm: true,
});
assert.equal(cleared.clearedCount, 4);
assert.equal((await bob.does("leave_room")).success, true);
await bob.refused("AGENT_NOT_IN_ROOM", "leave_room");

await alice.client.close();
await bob.client.close();
