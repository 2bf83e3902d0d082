// A plain WebSocket client on InnerVoice's own port, with the document's frames.
// Arguments: the port's ws:// address, and two keys.

import assert from "node:assert/strict";
import { once } from "node:events";
import WebSocket from "ws";

const [url, byHeader, byProtocol] = process.argv.slice(2);
const FRAME = `{
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
}`;

const withHeader = (key) => new WebSocket(url, { headers: { Authorization: `Bearer ${key}` } });
const withProtocol = (key) => new WebSocket(url, ["mcp", `mcp.auth.${key}`]);

async function open(socket) {
  await once(socket, "open");
  return socket;
}

async function ask(socket, frame) {
  const answered = once(socket, "message");
  socket.send(frame);
  const [data] = await answered;
  return JSON.parse(data.toString());
}

async function create(socket) {
  const answer = await ask(socket, FRAME);
  assert.equal(answer.id, "req_123");
  assert.equal(answer.result.status, "ok", JSON.stringify(answer));
  assert.match(answer.result.id, /^evt_/);
}

let socket = await open(withHeader(byHeader));
await create(socket);
for (let id = 1; id < 100; id += 1) {
  const answer = await ask(socket, JSON.stringify({ jsonrpc: "2.0", id, method: "ping" }));
  assert.equal(answer.error, undefined, `${id}: ${JSON.stringify(answer)}`);
}
const over = await ask(socket, FRAME);
assert.equal(over.id, "req_123");
assert.equal(over.error.code, 429);
assert.equal(over.error.message, "Rate limit exceeded");
socket.terminate();

socket = await open(withProtocol(byProtocol));
assert.equal(socket.protocol, "mcp");
await create(socket);
socket.terminate();

for (const way of [withHeader, withProtocol]) {
  socket = await open(way("YOUR_API_KEY"));
  const closed = once(socket, "close");
  assert.deepEqual(await ask(socket, FRAME), {
    jsonrpc: "2.0",
    id: "req_123",
    error: { code: 401, message: "Invalid API key" },
  });
  const [code] = await closed;
  assert.equal(code, 1008);
}
