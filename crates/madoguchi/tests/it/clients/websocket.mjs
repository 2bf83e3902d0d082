// The WebSocket client of the first TypeScript SDK. Argument: the desk's ws:// address.

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { WebSocketClientTransport } from "@modelcontextprotocol/sdk/client/websocket.js";

const [target] = process.argv.slice(2);

async function connect(counter) {
  const client = new Client({ name: "tests", version: "1" });
  await client.connect(new WebSocketClientTransport(new URL(`${target}/ws/${counter}`)));
  assert.equal(client.getServerVersion().name, counter);
  return client;
}

const cinema = await connect("cinema");
const { tools } = await cinema.listTools();
assert.ok(tools.some((tool) => tool.name === "reserve_seats"));
// The client checks the answer against the tool's output schema.
const films = await cinema.callTool({ name: "get_movie_list", arguments: {} });
assert.ok(films.structuredContent.movies.length >= 10);
const none = await cinema.callTool({
  name: "get_reservation_details",
  arguments: { reservation_id: "none" },
});
assert.equal(none.structuredContent.error.code, "RESERVATION_NOT_FOUND");
await assert.rejects(cinema.callTool({ name: "sell_popcorn" }), { code: -32602 });
await cinema.ping();
const { contents } = await cinema.readResource({ uri: "cinema://films" });
assert.deepEqual(JSON.parse(contents[0].text), films.structuredContent);

const fixture = await connect("fixture");
const steps = [];
await fixture.callTool({ name: "test_tool_with_progress", arguments: {} }, undefined, {
  onprogress: (step) => steps.push(step.progress),
});
assert.deepEqual(steps, [0, 50, 100]);

await cinema.close();
await fixture.close();
