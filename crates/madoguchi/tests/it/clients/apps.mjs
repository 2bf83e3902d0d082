// Views in a real browser (`browser.mjs` comes before this). Writes the last booking or hold
// to stdout.
//
//   apps.mjs views|inspector URL SCHEDULE SEAT SEAT KEY

import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [group, , schedule, seat, other, key] = process.argv.slice(2);
const EXTENSIONS = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };

async function connect(counter) {
  const client = new Client({ name: "tests", version: "1" }, { capabilities: { extensions: EXTENSIONS } });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp/${counter}`), { requestInit }));
  return client;
}

/** The least that a client does to show a view: a frame, and the messages of MCP Apps. */
function host({ html, hostContext, given, result }) {
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts";
  frame.srcdoc = html;
  frame.style.width = "100%";
  frame.style.height = "1000px";
  window.heard = [];
  addEventListener("message", async ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    const send = (message) => source.postMessage({ jsonrpc: "2.0", ...message }, "*");
    const { id, method, params } = data;
    window.heard.push(data);
    if (method === "ui/initialize") {
      send({ id, result: { protocolVersion: "2026-01-26", hostCapabilities: { serverTools: {} }, hostContext } });
    } else if (method === "ui/notifications/initialized") {
      send({ method: "ui/notifications/tool-input", params: { arguments: given } });
      send({ method: "ui/notifications/tool-result", params: result });
    } else if (method === "tools/call") {
      send({ id, result: await window.callTool(params) });
    } else if (id !== undefined) {
      send({ id, result: {} });
    }
  });
  document.body.append(frame);
}

/** Calls a tool, and shows its view. `hostContext` of the client. */
async function shown(counter, name, given, context = {}) {
  const client = await connect(counter);
  const { tools } = await client.listTools();
  const tool = tools.find((one) => one.name === name);
  const { contents } = await client.readResource({ uri: tool._meta.ui.resourceUri });
  const result = await client.callTool({ name, arguments: given });
  const browserContext = await browser.newContext({ locale: "en-US" });
  browserContext.setDefaultTimeout(PATIENCE);
  const page = await browserContext.newPage();
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.faults.push(message.text()));
  page.on("request", (request) => request.url().startsWith("http") && page.faults.push(request.url()));
  await page.exposeFunction("callTool", (params) => client.callTool(params));
  await page.setContent("<!DOCTYPE html><html lang=en><title>host</title><main></main>");
  const hostContext = { toolInfo: { tool }, theme: "light", locale: "en-US", ...context };
  await page.evaluate(host, { html: contents[0].text, hostContext, given, result });
  const view = page.frameLocator("iframe");
  return { page, view, client };
}

/** No fault, and nothing over which a person would stumble. */
async function done({ page, client }) {
  const frame = page.frames().at(-1);
  const rules = { region: { enabled: false }, "page-has-heading-one": { enabled: false } };
  assert.deepEqual(await findings(frame, { rules }), []);
  await leave(page);
  await client.close();
}

/** What the model is told. */
const told = (page) => page.evaluate(() =>
  window.heard.filter(({ method }) => method === "ui/update-model-context").map(({ params }) => params.content[0].text));

/** A seat by its name: A1 is not A10. */
const exactly = (id) => new RegExp(`\\b${id}\\b`);

/** Waits until a click is dealt with and the model is told; meanwhile the view ignores others. */
const settles = (view) => view.locator("#view:not([aria-busy])").waitFor();

async function pick(view, id) {
  await view.locator(`input[value="${id}"]`).check({ force: true });
  await shows(view.locator("#hold"), exactly(id));
  await settles(view);
}

const cases = {
  views: {
    async "seats are held by clicking, given back, and booked"() {
      const it = await shown("cinema", "get_seat_availability", { schedule_id: schedule });
      const { view, page } = it;
      await pick(view, other);
      await pick(view, seat);
      await shows(view.locator("#hold"), exactly(other));
      assert.match(await view.locator("#hold").textContent(), /\d+:\d\d left/);
      await view.locator(`input[value="${other}"]`).uncheck({ force: true });
      await view.locator("#hold").filter({ hasNotText: exactly(other) }).waitFor();
      await settles(view);
      assert.match((await told(page)).at(-1), new RegExp(`holds seats ${seat} of`));
      await named(view, "Book these seats").click();
      await shows(view.locator("#status"), seat);
      const booked = (await told(page)).at(-1).replace("The user booked: ", "");
      assert.ok(await view.locator(`input[value="${seat}"]`).isDisabled());
      await done(it);
      console.log(booked);
    },

    async "a seat that somebody else took is said, and what was held stays"() {
      const it = await shown("cinema", "get_seat_availability", { schedule_id: schedule }, { theme: "dark" });
      const { view, client } = it;
      const free = await view.locator("label.free input").evaluateAll((all) => all.map((one) => one.value));
      const [mine, theirs] = free.slice(-2);
      await pick(view, mine);
      await client.callTool({ name: "reserve_seats", arguments: { schedule_id: schedule, seat_ids: [theirs] } });
      await view.locator(`input[value="${theirs}"]`).click({ force: true });
      await shows(view.locator("#status"), theirs);
      await shows(view.locator("#hold"), exactly(mine));
      await done(it);
    },

    async "an approval is shown with the way to the console, and given only there"() {
      const given = { search_query: "\u202ethe\u3164\u{e0041} <b>film</b>" };
      const it = await shown("cinema", "get_movie_list", given);
      const { page, view } = it;
      await shows(view.locator(".approval"), "This needs your approval");
      await shows(view.locator("dd"), "[U+202E]the[U+3164][U+E0041] <b>film</b>");
      await named(view, "Continue").click();
      // Nobody has approved it, so it is still asked.
      await shows(view.locator(".approval"), "This needs your approval");
      await named(view, "Open the console").click();
      const link = await page.evaluate(() => window.heard.find(({ method }) => method === "ui/open-link").params.url);
      assert.match(link, new RegExp(`^${url}/.*ap_`));
      await view.locator("#view:not([aria-busy])").waitFor();
      const waiting = JSON.parse(madoguchi("approvals", "list", "--json"));
      madoguchi("approvals", "approve", waiting.find(({ status }) => status === "pending").id);
      const calls = () => page.evaluate(() => window.heard.filter(({ method }) => method === "tools/call").length);
      const before = await calls();
      // A second press does not call it a second time.
      await named(view, "Continue").evaluate((button) => { button.click(); button.click(); });
      await view.locator(".approval").waitFor({ state: "detached" });
      assert.equal(await calls(), before + 1);
      assert.match((await told(page)).at(-1), /The user approved get_movie_list/);
      await done(it);
    },

    async "a cart is shown with its amounts, and a quantity is changed"() {
      const client = await connect("merchant");
      const found = await client.callTool({ name: "search_products", arguments: { keywords: ["むぎぼー"] } });
      const [product] = found.structuredContent.products;
      await client.close();
      const cart_plan = { items: [{ product_id: product.id, quantity: 1 }] };
      const it = await shown("merchant", "build_cart_mandates", { cart_plan }, { locale: "ja-JP" });
      const { view } = it;
      await shows(view.locator("table"), "合計");
      await view.getByRole("button", { name: /1つ増やす/ }).click();
      await shows(view.locator("td.amount").first(), "2");
      await done(it);
    },

    async "a task is moved on the board"() {
      const client = await connect("todo");
      const made = await client.callTool({ name: "create_task", arguments: { title: "<img src=x onerror=alert(1)>\u202e Write it" } });
      assert.ok(!made.isError, JSON.stringify(made));
      await client.close();
      const it = await shown("todo", "list_tasks", {});
      const { view } = it;
      await shows(view.locator("section").first(), "<img src=x onerror=alert(1)>");
      await view.getByRole("button", { name: /: Done$/ }).click();
      await shows(view.locator("section", { hasText: "Done (1)" }), "Write it");
      const { structuredContent } = await it.client.callTool({ name: "list_tasks", arguments: {} });
      assert.equal(structuredContent.tasks[0].status, "done");
      await done(it);
    },

    async "a week is shown, and the next one"() {
      const it = await shown("innervoice", "calendar_list", {});
      const { view } = it;
      await view.locator(".week section").nth(6).waitFor();
      const before = await view.locator(".week h2").first().textContent();
      await named(view, "Next week →").click();
      await view.locator(".week h2").first().filter({ hasNotText: before }).waitFor();
      await done(it);
    },
  },

  inspector: {
    async "a seat is picked in the Inspector's web client"() {
      const [port, sandbox] = [await freePort(), await freePort()];
      const token = "a-token-for-this-test-alone-000000000000";
      const program = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
      const env = {
        ...process.env, HOST: "127.0.0.1", CLIENT_PORT: String(port), MCP_SANDBOX_PORT: String(sandbox),
        MCP_AUTO_OPEN_ENABLED: "false", MCP_INSPECTOR_API_TOKEN: token,
      };
      const inspector = spawn(process.execPath, [program, "--web"], { env, stdio: ["ignore", "pipe", "pipe"] });
      let said = "";
      for (const stream of [inspector.stdout, inspector.stderr]) stream.on("data", (data) => { said += data; });
      try {
        const context = await browser.newContext({ locale: "en-US", viewport: { width: 1280, height: 1000 } });
        context.setDefaultTimeout(PATIENCE);
        const page = await context.newPage();
        const appArgs = Buffer.from(JSON.stringify({ schedule_id: schedule })).toString("base64url");
        const query = new URLSearchParams({
          serverUrl: `${url}/mcp/cinema`, transport: "http", autoConnect: token, openApp: "get_seat_availability", appArgs,
        });
        for (let tries = 0; ; tries += 1) {
          try {
            await page.goto(`http://127.0.0.1:${port}/?${query}`);
            break;
          } catch (error) {
            assert.ok(tries < 60, `${error}\n${said}`);
            await new Promise((resolve) => setTimeout(resolve, 500));
          }
        }
        await page.getByRole("button", { name: "Open App" }).click();
        const view = page.frameLocator("iframe").frameLocator("iframe");
        await pick(view, seat);
        assert.match(await view.locator("#hold").textContent(), /\d+:\d\d left/);
        const { PICTURES_OF_PAGES: pictures } = process.env;
        if (pictures) await page.screenshot({ path: `${pictures}/inspector.png` });
        await named(view, "Book these seats").click();
        await shows(view.locator("#status"), seat);
        const [, id] = /Reservation (\S+)/.exec(await view.locator("#status").textContent());
        console.log(JSON.stringify({ reservation_id: id, status: "confirmed" }));
        await context.close();
      } catch (error) {
        console.error(said);
        throw error;
      } finally {
        inspector.kill("SIGTERM");
      }
    },
  },
};

/** A port that nobody listens on now. */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

await finish(cases[group]);
