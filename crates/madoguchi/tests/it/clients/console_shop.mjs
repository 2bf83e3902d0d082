// The pages of the shop and of InnerVoice in a real browser (`browser.mjs` comes before
// this).
//
//   console_shop.mjs using|looking URL KEY DAY


const [group, , key, day] = process.argv.slice(2);

const SHOP = "/console/merchant";
const VOICE = "/console/innervoice";

/** With its content there. */
async function open(page, path) {
  await page.goto(`${url}${path}`);
  await page.locator("main h1").first().waitFor();
}

/** What an agent does meanwhile. */
const agent = (counter, tool, argumentsOfIt) =>
  madoguchi("call", counter, tool, JSON.stringify(argumentsOfIt), "--url", url, "--key", key);

const section = (page, title) =>
  page.locator("section").filter({ has: page.getByRole("heading", { name: title, exact: true }) });

const cases = {
  using: {
    async "the shop is searched and a product opened, by keyboard alone"() {
      const page = await visit();
      await open(page, SHOP);
      await page.getByLabel("Search the shop").focus();
      await page.keyboard.type("calendar");
      await page.keyboard.press("Enter");
      await page.waitForURL(/q=calendar/);
      const found = page.getByRole("link", { name: "Mugibo Calendar 2025", exact: true });
      await found.focus();
      await page.keyboard.press("Enter");
      const product = section(page, "Mugibo Calendar 2025");
      await shows(product, "¥2,178");
      // The search is still there.
      assert.equal(await page.getByLabel("Search the shop").inputValue(), "calendar");
      await leave(page);
    },

    async "stock is changed while another watches"() {
      const [one, two] = [await visit(), await visit()];
      for (const page of [one, two]) await open(page, `${SHOP}?product=2`);
      await two.getByLabel("Reason (optional)").fill("mine");
      // In Firefox, `fill` adds to a number instead of replacing it.
      await one.getByLabel("Stock as counted").press("ControlOrMeta+a");
      await one.getByLabel("Stock as counted").pressSequentially("28");
      await one.getByLabel("Reason (optional)").fill("two were broken");
      await named(one, "Set the stock").click();
      await shows(one.locator(".notice"), "Done.");
      await shows(two.locator("tr"), "30 → 28");
      await shows(two.locator("tr", { hasText: "30 → 28" }), "two were broken");
      assert.equal(await two.getByLabel("Stock as counted").inputValue(), "28");
      assert.equal(await two.getByLabel("Reason (optional)").inputValue(), "mine");
      await leave(one);
      await leave(two);
    },

    async "a cart of an agent appears and is read as a receipt"() {
      const page = await visit();
      await open(page, SHOP);
      const items = [{ product_id: 1, quantity: 2 }, { product_id: 5, quantity: 1 }];
      agent("merchant", "build_cart_mandates", { cart_plan: { items }, products: [], reserve: true });
      const carts = section(page, "Cart mandates");
      await shows(carts.locator("tr"), "¥8,206");
      await carts.getByRole("link").first().click();
      const receipt = page.locator(".receipt");
      await shows(receipt, "Demo Merchant");
      for (const text of ["2 × ¥1,980", "¥746", "no signing key"]) await shows(receipt, text);
      await shows(receipt.locator(".total"), "¥8,206");
      // As the reader writes it.
      const expires = await receipt.locator("time").last().textContent();
      assert.match(expires, /[A-Z][a-z]{2}, .*20\d\d.*\d:\d\d\s(AM|PM)/);
      await leave(page);
    },

    async "the calendar is in the reader's zone, by week and by month"() {
      const page = await visit({ timezoneId: "America/New_York" });
      await open(page, `${VOICE}?on=${day}`);
      const event = page.locator(".calendar li li", { hasText: "review" });
      // Fifteen o'clock in Tokyo is early in the morning, and in summer an hour later.
      assert.match(await event.locator(".at").textContent(), /^0[12]:00–0[23]:00$/);
      assert.match(await event.locator(".there").textContent(), /^15:00 Tokyo$/);
      await page.getByRole("link", { name: "Month", exact: true }).click();
      await page.waitForURL(/view=month/);
      await page.locator(".calendar").waitFor();
      assert.ok((await page.locator(".calendar > li").count()) >= 28);
      await page.getByRole("link", { name: "review", exact: true }).click();
      await shows(section(page, "review"), "Starts");
      await shows(section(page, "review").locator(".there").first(), "15:00 Tokyo");
      await leave(page);
    },

    async "what an agent plans and writes appears, and a message is taken back"() {
      const [one, two] = [await visit(), await visit()];
      for (const page of [one, two]) await open(page, `${VOICE}?on=${day}`);
      agent("innervoice", "calendar_create", { title: "dentist", start: `${day}T09:00+09:00`, duration_min: 30 });
      agent("innervoice", "message_send", { to: "d@example.com", text: "on my way" });
      await shows(one.locator(".calendar li li"), "dentist");
      const row = (page) => section(page, "Outbox").locator("tr", { hasText: "on my way" });
      await one.bringToFront();
      await one.getByRole("button", { name: "Take back: d@example.com", exact: true }).focus();
      // Whatever comes above it, the keyboard stays at this message.
      agent("innervoice", "message_send", { to: "e@example.com", text: "and I too" });
      await shows(section(one, "Outbox").locator("tr"), "and I too");
      await one.keyboard.press("Enter");
      await shows(one.locator(".notice"), "Done.");
      for (const page of [one, two]) await shows(row(page), "Taken back");
      const other = section(one, "Outbox").locator("tr", { hasText: "and I too" });
      assert.doesNotMatch(await other.textContent(), /Taken back/);
      await leave(one);
      await leave(two);
    },

    async "what a person is writing stays when a reminder fires above it"() {
      const page = await visit();
      await open(page, VOICE);
      const reminders = section(page, "Reminders");
      await reminders.getByLabel("New reminder").fill("Water the plants");
      const soon = new Date(Date.now() + 3_000).toISOString();
      agent("innervoice", "reminder_create", { time: soon, note: "Look up" });
      await shows(reminders.locator("table").first(), "Fired lately");
      assert.equal(await reminders.getByLabel("New reminder").inputValue(), "Water the plants");
      await reminders.getByLabel("When").fill("tomorrow at 9am");
      await named(reminders, "Add the reminder").click();
      await shows(page.locator(".notice"), "Done.");
      await named(page, "Cancel: Water the plants").click();
      await named(page, "Cancel: Water the plants").waitFor({ state: "detached" });
      await leave(page);
    },

    async "without scripts the same can be done"() {
      const page = await visit({ javaScriptEnabled: false });
      await open(page, SHOP);
      await page.getByLabel("Search the shop").fill("tote");
      await named(section(page, "Products"), "Search").click();
      await page.getByRole("link", { name: "Mugibo Canvas Tote Bag" }).click();
      await page.getByLabel("Stock as counted").fill("20");
      await named(page, "Set the stock").click();
      await shows(page.locator(".notice"), "Done.");
      await shows(page.locator("tr"), "24 → 20");
      await open(page, `${VOICE}?messages=queued`);
      await page.getByRole("button", { name: /^Take back all 2: b@example.com, c@example.com/ }).click();
      await shows(page.locator(".notice"), "Done.");
      await page.getByRole("link", { name: "Taken back", exact: true }).click();
      await shows(section(page, "Outbox").locator("tr"), "c@example.com");
      await leave(page);
    },
  },

  looking: {
    async "every view, narrow and wide, light and dark, in both languages"() {
      const views = [
        SHOP, `${SHOP}?q=mugibo`, `${SHOP}?product=900`, `${SHOP}?q=nothing-at-all`,
        `${VOICE}?on=${day}`, `${VOICE}?view=month&on=${day}`, `${VOICE}?messages=queued&reminders=all`,
      ];
      const items = [{ product_id: 900, quantity: 1 }, { product_id: 1, quantity: 3 }];
      const built = agent("merchant", "build_cart_mandates", { cart_plan: { items }, products: [] });
      views.push(`${SHOP}?cart=${built.match(/cart_[a-z0-9]{26}/)[0]}`);
      const all = [
        [360, "light", "en-US"], [1280, "dark", "ja-JP"], [360, "dark", "ja-JP"], [1280, "light", "en-US"],
      ];
      const { PICTURES_OF_PAGES: pictures } = process.env;
      for (const [width, colorScheme, locale] of all.slice(0, pictures ? 4 : 2)) {
        const page = await visit({ viewport: { width, height: 800 }, colorScheme, locale });
        const look = async (path) => {
          const how = `${path} at ${width}, ${colorScheme}, ${locale}`;
          assert.deepEqual(await findings(page), [], how);
          const wide = await page.evaluate(() => document.documentElement.scrollWidth);
          assert.ok(wide <= width, `${how}: ${wide} wide`);
          const name = path.replace(/\W+/g, "-");
          if (pictures) await page.screenshot({ path: `${pictures}/${name}-${width}-${colorScheme}-${locale}.png`, fullPage: true });
        };
        for (const path of views) {
          await open(page, path);
          await look(path);
        }
        await open(page, `${VOICE}?on=${day}`);
        for (const kind of ["event", "message"]) {
          await page.locator(`a[href*="${kind}="]`).last().click();
          await page.waitForURL(new RegExp(`${kind}=`));
          await page.locator("main h1").first().waitFor();
          await look(`${VOICE}-${kind}`);
        }
        await leave(page);
      }
    },
  },
};

await finish(cases[group]);
