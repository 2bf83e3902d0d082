// An agent's client that asks its user, one whose user says no, one that cannot
// ask. Over stdio the client's own prompt counts. Argument: auto, legacy or pin.

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [era] = process.argv.slice(2);
const mode = era === "pin" ? { pin: "2026-07-28" } : era;

async function connect(answer) {
  const client = new Client(
    { name: "tests", version: "1" },
    {
      versionNegotiation: { mode },
      capabilities: answer ? { elicitation: { form: {} } } : {},
    },
  );
  if (answer) client.setRequestHandler("elicitation/create", answer);
  await client.connect(
    new StdioClientTransport({
      command: process.env.MADOGUCHI_BIN,
      args: ["stdio", "fixture", "--fixture"],
      env: {
        MADOGUCHI_DATA: process.env.MADOGUCHI_DATA,
        MADOGUCHI_APPROVAL__HOLD_SECONDS: "0",
        LOG_LEVEL: "error",
      },
    }),
  );
  return client;
}

const call = (client) => client.callTool({ name: "fixture_outside", arguments: {} });

function refused(result, code) {
  assert.equal(result.isError, true, JSON.stringify(result));
  assert.equal(result.structuredContent.error.code, code);
  return result.structuredContent.error.details;
}

let asked = 0;
const yes = await connect(async ({ params }) => {
  asked += 1;
  assert.match(params.message, /fixture_outside/);
  return { action: "accept", content: { decision: "once" } };
});
for (const time of [1, 2]) {
  const result = await call(yes);
  assert.ok(!result.isError, JSON.stringify(result));
  assert.equal(asked, time);
}
await yes.close();

const mute = await connect();
const pending = refused(await call(mute), "APPROVAL_REQUIRED");
assert.ok(pending.url.includes(pending.approval_id));
await mute.close();

const no = await connect(async () => {
  asked += 1;
  return { action: "decline" };
});
refused(await call(no), "APPROVAL_DENIED");
refused(await call(no), "APPROVAL_DENIED");
assert.equal(asked, 3);
await no.close();
