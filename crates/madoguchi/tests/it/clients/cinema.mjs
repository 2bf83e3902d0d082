// A customer at the box office, with the current TypeScript client.
// Arguments: the desk's address or `stdio`, then auto, legacy or pin.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [target, era] = process.argv.slice(2);
const modern = era !== "legacy";
const mode = era === "pin" ? { pin: "2026-07-28" } : era;

async function connect(counter) {
  const client = new Client(
    { name: "tests", version: "1" },
    { versionNegotiation: { mode } },
  );
  const transport =
    target === "stdio"
      ? new StdioClientTransport({
          command: process.env.MADOGUCHI_BIN,
          args: ["stdio", counter, "--fixture"],
          env: { MADOGUCHI_DATA: process.env.MADOGUCHI_DATA, LOG_LEVEL: "error" },
        })
      : new StreamableHTTPClientTransport(new URL(`${target}/mcp/${counter}`));
  await client.connect(transport);
  assert.equal(
    client.getNegotiatedProtocolVersion(),
    modern ? "2026-07-28" : "2025-11-25",
  );
  return client;
}

async function call(client, name, args = {}) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, JSON.stringify(result));
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  return result.structuredContent;
}

async function refused(client, code, name, args) {
  const result = await client.callTool({ name, arguments: args });
  assert.equal(result.isError, true, JSON.stringify(result));
  assert.equal(result.structuredContent.error.code, code);
  return result.structuredContent.error.details;
}

async function until(condition) {
  for (let tries = 0; tries < 100; tries += 1) {
    if (condition()) return;
    await sleep(100);
  }
  assert.fail(`never came true: ${condition}`);
}

async function atTheBoxOffice() {
  const client = await connect("cinema");
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map((tool) => tool.name).filter((name) => name.startsWith("get_")).sort(),
    [
      "get_movie_list",
      "get_reservation_details",
      "get_seat_availability",
      "get_show_schedule",
      "get_ticket",
    ],
  );

  const { movies } = await call(client, "get_movie_list", { search_query: "ホームズ" });
  assert.equal(movies.length, 1);
  const date = new Date(Date.now() + (2 * 24 + 9) * 3_600_000).toISOString().slice(0, 10);
  const { schedules } = await call(client, "get_show_schedule", {
    movie_id: movies[0].movie_id,
    date,
  });
  const { schedule_id } = schedules.find((show) => show.available_seats_count >= 2);
  const seats = await call(client, "get_seat_availability", { schedule_id });
  const row = seats.available_seats.find((row) => row.available_numbers.length > 1);
  const seat_ids = row.available_numbers.slice(0, 2).map((number) => row.row + number);

  // News of the seat map arrive while somebody watches it.
  const uri = `cinema://shows/${schedule_id}/seats`;
  const news = [];
  client.setNotificationHandler("notifications/resources/updated", (notification) => {
    news.push(notification.params.uri);
  });
  const watch = modern
    ? await client.listen({ resourceSubscriptions: [uri] })
    : await client.subscribeResource({ uri });
  const booked = await call(client, "reserve_seats", { schedule_id, seat_ids });
  assert.deepEqual(booked.reservation.seat_ids, seat_ids);
  await until(() => news.includes(uri));
  if (modern) {
    await watch.close();
    assert.equal(await watch.closed, "local");
  }

  const { reservation_id } = booked.reservation;
  const found = await call(client, "get_reservation_details", { reservation_id });
  assert.deepEqual(found.reservation, booked.reservation);
  const details = await refused(client, "SEATS_TAKEN", "reserve_seats", {
    schedule_id,
    seat_ids,
  });
  assert.deepEqual(details.taken, seat_ids);
  await refused(client, "INVALID_DATE", "get_movie_list", { date: "soon" });

  const { contents } = await client.readResource({ uri });
  const now = await call(client, "get_seat_availability", { schedule_id, map: true });
  assert.deepEqual(JSON.parse(contents[0].text), now);
  const { completion } = await client.complete({
    ref: { type: "ref/prompt", name: "box_office_clerk" },
    argument: { name: "language", value: "e" },
  });
  assert.deepEqual(completion.values, ["en"]);
  const prompt = await client.getPrompt({ name: "box_office_clerk", arguments: { date } });
  assert.match(prompt.messages[0].content.text, new RegExp(date));
  await assert.rejects(client.callTool({ name: "sell_popcorn" }), { code: -32602 });
  await client.close();
}

async function takingTime() {
  const client = await connect("fixture");
  const steps = [];
  await client.callTool(
    { name: "test_tool_with_progress", arguments: {} },
    { onprogress: (step) => steps.push(step.progress) },
  );
  assert.deepEqual(steps, [0, 50, 100]);
  const giveUp = new AbortController();
  const slow = client.callTool(
    { name: "fixture_sleep", arguments: { milliseconds: 30_000 } },
    { signal: giveUp.signal },
  );
  // A busy desk takes its time to read a request.
  await sleep(3000);
  giveUp.abort();
  await assert.rejects(slow);
  assert.deepEqual(await call(client, "fixture_sum", { a: 1, b: 2 }), { sum: 3 });
  await client.close();
}

await atTheBoxOffice();
await takingTime();
