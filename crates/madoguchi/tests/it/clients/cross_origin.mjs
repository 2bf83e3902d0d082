// A page of one origin that calls desks of another, in a real browser (`browser.mjs` comes
// before this).
//
//   cross_origin.mjs all URL OPEN CLOSED
//
// URL is where the page is from, OPEN a desk that allows it, CLOSED one that does not.

const [open, closed] = process.argv.slice(4);

/** One call by the page's own script, with the headers that make a browser ask first. */
const call = (page, desk) => page.evaluate(async (desk) => {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "page", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { name: "get_movie_list", arguments: {}, _meta };
  const headers = {
    "content-type": "application/json", accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": params.name,
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  try {
    const answer = await fetch(`${desk}/mcp/cinema`, { method: "POST", headers, body });
    return await answer.text();
  } catch (error) {
    return `stopped: ${error.name}`;
  }
}, desk);

await finish({
  async "a page calls the desk that allows its origin, and no other"() {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${url}/livez`);
    assert.match(await call(page, open), /"movies"/);
    assert.equal(await call(page, closed), "stopped: TypeError");
  },
});
