// The pages of the console in a real browser (`browser.mjs` comes before this).
//
//   console_pages.mjs using|looking URL SCHEDULE SEAT


const [group, , schedule, seat] = process.argv.slice(2);

const PAGES = [
  "/", "/console/", "/console/approvals", "/console/connect", "/console/agents", "/console/agents?caller=anonymous",
  "/console/tools", "/console/tools/cinema/reserve_seats", "/console/tools/merchant/build_cart_mandates",
  "/console/audit", "/console/keys", "/console/policies", "/console/settings", "/console/health",
  "/console/cinema", `/console/cinema?show=${schedule}`, "/console/rooms",
];

/** With its content there. */
async function open(page, path) {
  await page.goto(`${url}${path}`);
  await page.locator("main h1").first().waitFor();
}

/** What a tool of the cinema answers an agent. */
async function called(name, given) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const headers = {
    "content-type": "application/json", accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name,
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given, _meta } });
  const response = await fetch(`${url}/mcp/cinema`, { method: "POST", headers, body });
  return (await response.json()).result.structuredContent;
}

const cases = {
  using: {
    async "the overview says what waits and what happened"() {
      const page = await visit();
      await shows(page.locator("h1"), "Overview");
      const waiting = page.locator("section", { hasText: "Waiting for you" });
      await shows(waiting.locator("li"), "Reserve 1 seat(s)");
      await page.getByRole("img", { name: /Cinema box office: [1-9]/ }).waitFor();
      // In the reader's own zone and manner.
      const time = await waiting.locator("time").first().textContent();
      assert.match(time, /[A-Z][a-z]{2}, .*20\d\d.*\d:\d\d\s(AM|PM)/);
      await waiting.locator("a").first().click();
      await page.locator("#pending > .card").waitFor();
      await leave(page);
    },

    async "an agent is followed from its name to a record"() {
      const page = await visit();
      await page.getByRole("link", { name: "Agents" }).click();
      await page.getByRole("link", { name: "anonymous" }).click();
      await page.getByRole("link", { name: "Reserve seats" }).first().click();
      await shows(page.locator("main"), "seat_ids");
      await shows(page.locator("main"), "APPROVAL_REQUIRED");
      await leave(page);
    },

    async "a tool is called with a form, by keyboard alone"() {
      const page = await visit();
      await open(page, "/console/tools/cinema/hold_seats");
      await page.getByLabel("schedule_id").focus();
      await page.keyboard.type(schedule);
      await page.getByLabel(/^seat_ids/).focus();
      await page.keyboard.type(seat);
      await named(page, "Call").focus();
      await page.keyboard.press("Enter");
      await shows(page.locator(".answer"), "hold_id");
      await page.getByText("The same call elsewhere").click();
      await shows(page.locator("pre").nth(1), "curl -sS");
      if (!inFirefox) await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await named(page.locator(".copyable", { hasText: "Command line" }), "Copy").click();
      await shows(page.locator("main"), "Copied.");
      const field = page.getByLabel("schedule_id");
      await field.fill("");
      await page.keyboard.press("ControlOrMeta+v");
      assert.match(await field.inputValue(), /^madoguchi call cinema hold_seats '\{"schedule_id"/);
      await leave(page);
    },

    async "seats are booked by clicking, while others watch"() {
      const [one, two] = [await visit(), await visit()];
      for (const page of [one, two]) await open(page, `/console/cinema?show=${schedule}`);
      const places = one.locator("label.place.free input");
      const [mine, other] = [await places.nth(3).inputValue(), await places.nth(5).inputValue()];
      const box = (page, value) => page.locator(`label.place input[value="${value}"]`);
      await box(two, other).check();
      await box(one, mine).check();
      await named(one, "Book these seats").click();
      await shows(one.locator(".notice"), "Done.");
      await two.locator(`label.place.taken input[value="${mine}"]`).waitFor();
      assert.ok(await box(two, other).isChecked(), "what was chosen stays chosen");
      await open(one, "/console/cinema");
      await one.getByRole("button", { name: new RegExp(`^Cancel: ${mine}, `) }).click();
      await shows(one.locator(".notice"), "Done.");
      await two.locator(`label.place.free input[value="${mine}"]`).waitFor();
      await leave(one);
      await leave(two);
    },

    async "a question that arrives is shown by the browser to whoever looks elsewhere"() {
      const page = await visit();
      await page.addInitScript(() => {
        window.notified = [];
        window.Notification = class {
          static permission = "default";
          static async requestPermission() {
            return (this.permission = "granted");
          }
          constructor(title, options) {
            window.notified.push({ title, ...options });
          }
          addEventListener() {}
        };
        document.hasFocus = () => false;
      });
      await page.goto(`${url}/console/approvals`);
      await page.locator("#pending > .card").waitFor();
      await named(page, "Notify me in this browser").click();
      await shows(page.locator(".notice"), "while this page is open");
      const { available_seats: rows } = await called("get_seat_availability", { schedule_id: schedule });
      const { row, available_numbers: numbers } = rows.at(-1);
      await called("reserve_seats", { schedule_id: schedule, seat_ids: [`${row}${numbers.at(-1)}`] });
      await page.waitForFunction(() => window.notified.length > 0);
      const [{ title, body, tag }] = await page.evaluate(() => window.notified);
      assert.equal(title, "New question");
      assert.match(body, /Reserve 1 seat/);
      assert.match(tag, /^ap_/);
      assert.equal(await page.evaluate(() => window.notified.length), 1);
      assert.ok(await page.locator("#notify").isHidden());
      await leave(page);
    },

    async "the list of pages says how many questions wait, on every page"() {
      const pages = [await visit(), await visit(), await visit()];
      const [counter, keys, inbox] = pages;
      await open(counter, "/console/cinema");
      await open(keys, "/console/keys");
      await inbox.goto(`${url}/console/approvals`);
      await inbox.locator("#pending > .card").first().waitFor();
      const waiting = async (page) => Number(await page.locator("#waiting b").textContent());
      const before = await waiting(inbox);
      assert.ok(before > 0);
      for (const page of pages) {
        const link = page.getByRole("link", { name: `Approvals ${before} waiting` });
        await link.waitFor();
      }
      const { available_seats: rows } = await called("get_seat_availability", { schedule_id: schedule });
      const { row, available_numbers: numbers } = rows.at(0);
      await called("reserve_seats", { schedule_id: schedule, seat_ids: [`${row}${numbers.at(-1)}`] });
      for (const page of pages) {
        await page.getByRole("link", { name: `Approvals ${before + 1} waiting` }).waitFor();
        await leave(page);
      }
    },

    async "a key is made, seen once, and revoked"() {
      const page = await visit();
      await open(page, "/console/keys");
      await page.getByLabel("Name").fill("from the browser");
      await page.getByLabel("May only read").check();
      await named(page, "Make the key").click();
      assert.match(await page.locator("pre").first().textContent(), /^mdg_/);
      await open(page, "/console/keys");
      assert.equal(await page.locator("pre").count(), 0);
      const row = page.locator("tr", { hasText: "from the browser" });
      await row.getByText("Rotate or revoke").click();
      await named(row, "Revoke for good").click();
      await shows(page.locator(".notice"), "is revoked");
      await leave(page);
    },

    async "without scripts the pages are the same"() {
      const page = await visit({ javaScriptEnabled: false });
      for (const path of PAGES) {
        await open(page, path);
        assert.match(await page.locator("body").textContent(), /Overview/, path);
      }
      await open(page, "/console/tools/cinema/get_movie_list");
      await named(page, "Call").click();
      await shows(page.locator(".answer"), "M001");
      // Reads are recorded a moment after they are answered.
      const lines = page.locator(".lines", { hasText: "console" });
      for (let tries = 0; tries < 60 && (await lines.count()) === 0; tries += 1) {
        await open(page, "/console/audit?tool=get_movie_list");
      }
      await shows(lines, "console");
      await leave(page);
    },

    async "the language is switched on the page, and stays"() {
      const page = await visit();
      await open(page, "/console/audit?counter=cinema");
      await page.getByRole("link", { name: "日本語" }).click();
      await shows(page.locator("h1"), "監査");
      assert.equal(page.url(), `${url}/console/audit?counter=cinema`);
      await page.getByRole("link", { name: "概要" }).click();
      await shows(page.locator("h1"), "概要");
      await leave(page);
    },
  },

  looking: {
    async "every page, narrow and wide, light and dark, in both languages"() {
      const all = [
        [360, "light", "en-US"], [1280, "dark", "ja-JP"], [360, "dark", "ja-JP"], [1280, "light", "en-US"],
      ];
      const { PICTURES_OF_PAGES: pictures } = process.env;
      // The other two differ in nothing but what people see.
      for (const [width, colorScheme, locale] of all.slice(0, pictures ? 4 : 2)) {
        const page = await visit({ viewport: { width, height: 800 }, colorScheme, locale });
        for (const path of PAGES) {
          await open(page, path);
          const how = `${path} at ${width}, ${colorScheme}, ${locale}`;
          assert.deepEqual(await findings(page), [], how);
          const wide = await page.evaluate(() => document.documentElement.scrollWidth);
          assert.ok(wide <= width, `${how}: ${wide} wide`);
          const name = path.replace(/\W+/g, "-");
          if (pictures) await page.screenshot({ path: `${pictures}/${name}-${width}-${colorScheme}-${locale}.png`, fullPage: true });
        }
        await leave(page);
      }
    },
  },
};

await finish(cases[group]);
