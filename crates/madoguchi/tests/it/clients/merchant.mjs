// A shop agent with the current TypeScript client.
// Arguments: the desk's address or `stdio`, then auto, legacy or pin.

import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [target, era] = process.argv.slice(2);
const mode = era === "pin" ? { pin: "2026-07-28" } : era;

const client = new Client(
  { name: "tests", version: "1" },
  { versionNegotiation: { mode } },
);
await client.connect(
  target === "stdio"
    ? new StdioClientTransport({
        command: process.env.MADOGUCHI_BIN,
        args: ["stdio", "merchant"],
        env: { MADOGUCHI_DATA: process.env.MADOGUCHI_DATA, LOG_LEVEL: "error" },
      })
    : new StreamableHTTPClientTransport(new URL(`${target}/mcp/merchant`)),
);

async function call(name, args) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, JSON.stringify(result));
  return result.structuredContent;
}

assert.deepEqual(client.getServerVersion().name, "merchant_agent_mcp");
assert.deepEqual(client.getServerVersion().version, "1.0.0");
await client.listTools();

const found = await call("search_products", { keywords: ["カレンダー"], fields: ["name", "price_jpy"] });
assert.ok(found.products.some((product) => product.id === 1 && product.price_jpy === 1980));

const stock = await call("check_inventory", { product_ids: ["1", 404] });
assert.deepEqual(stock.inventory, { 1: 50, 404: 0 });

const built = await call("build_cart_mandates", {
  cart_plan: { items: [{ product_id: 1, quantity: 1 }] },
  products: [{ id: 1, price_jpy: 1 }],
  format: "ap2-0.1",
});
assert.equal(built.cart_mandate.contents.payment_request.details.total.amount.value, 2728);
assert.equal(built.warnings[0].code, "PRICE_CHANGED");

const again = await call("get_cart_mandate", { cart_id: built.cart_mandate.contents.id });
assert.deepEqual(again.cart_mandate.contents, built.cart_mandate.contents);

const refused = await client.callTool({ name: "get_product", arguments: { product_id: 404 } });
assert.equal(refused.isError, true);
assert.equal(refused.structuredContent.error.code, "PRODUCT_NOT_FOUND");

await client.close();
