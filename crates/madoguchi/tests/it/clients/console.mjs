// A person who decides, in a real browser (`browser.mjs` comes before this).
//
//   console.mjs deciding|meeting|reading URL SCHEDULE SEAT…
//
// Questions come from real calls where what becomes of the call matters, and
// from rows where the card does.

import { DatabaseSync } from "node:sqlite";

const [group, , schedule, ...seats] = process.argv.slice(2);

// --- the desk -----------------------------------------------------------------

const key = JSON.parse(madoguchi("keys", "create", "box-office", "--json")).key;

/** Books a seat, as an agent with a key does. Resolves when the desk answers. */
async function book(seat) {
  const name = "reserve_seats";
  const params = {
    name,
    arguments: { schedule_id: schedule, seat_ids: [seat] },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  };
  const response = await fetch(`${url}/mcp/cinema`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  const text = await response.text();
  const data = text.split("\n").filter((line) => line.startsWith("data:") && line.length > 6);
  const last = data.length ? data.at(-1).slice(5) : text;
  return JSON.parse(last).result;
}

const rows = new DatabaseSync(`${process.env.MADOGUCHI_DATA}/madoguchi.db`);
rows.exec("PRAGMA busy_timeout = 30000");

function touch() {
  rows.exec(`INSERT INTO desk_versions (name, version) VALUES ('approvals', 1)
    ON CONFLICT (name) DO UPDATE SET version = desk_versions.version + 1`);
}

let asked = 0;

/** A question as a row, with whatever card. */
function ask(card) {
  const id = `ap_test${++asked}`;
  const now = Date.now();
  const insert = rows.prepare(`INSERT INTO desk_approvals (id, counter, tool, caller, caller_name,
      arguments, digest, card, recipient, status, created_at, expires_at)
    VALUES (?, 'cinema', 'reserve_seats', 'k', ?, '{}', ?, ?, ?, 'pending', ?, ?)`);
  const { caller = "somebody", recipient, summary, lines = [] } = card;
  const kept = JSON.stringify({ summary, recipient, lines });
  insert.run(id, caller, id, kept, recipient ?? "", now, now + 600_000);
  touch();
  return id;
}

function lapse(id, inMs) {
  const update = rows.prepare("UPDATE desk_approvals SET expires_at = ? WHERE id = ?");
  update.run(Date.now() + inMs, id);
}

const kept = (id) =>
  rows.prepare("SELECT status, reason FROM desk_approvals WHERE id = ?").get(id);

// --- the browser ----------------------------------------------------------------

/** At the page of approvals. */
async function inbox(options) {
  const page = await visit(options);
  await page.goto(`${url}/console/approvals`);
  return page;
}

/** With its stream open. */
async function watching(options) {
  const page = await inbox(options);
  await page.locator("#live.on").waitFor();
  return page;
}

/** Comes back with a stream that breaks off after its first message: what others do
 * from here on goes unnoticed. */
async function unaware(page) {
  await page.addInitScript(() => {
    const real = window.fetch;
    let streams = 0;
    window.fetch = async (address, options) => {
      if (address !== "/console/events") return real(address, options);
      if (++streams > 1) return new Promise(() => {});
      const response = await real(address, options);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      while (!text.includes("\n\n")) text += (await reader.read()).value;
      reader.cancel();
      return new Response(text);
    };
  });
  await page.reload();
}

const card = (page, summary) => page.locator("#pending > .card", { hasText: summary });

/** Presses with the pointer, and again when the list moved in that moment. */
async function press(page, button) {
  const justChanged = await page.locator("#inbox").getAttribute("data-just-changed");
  do {
    await button.waitFor();
    await page.locator("#inbox:not([data-moved])").waitFor();
    await button.click();
  } while ((await page.locator("#notices").textContent()) === justChanged);
}

const cases = {
  deciding: {
    async "a call is allowed this time, and goes on"() {
      const page = await watching();
      const call = book(seats[0]);
      // It arrives by itself, and says who asks for what.
      const question = card(page, "Reserve 1 seat(s)");
      await shows(question, "box-office");
      await shows(question, "Cinema box office · Reserve seats");
      assert.match(await page.title(), /^\(1\) /);
      for (const time of await question.locator("time").allTextContents()) {
        assert.match(time, /[A-Z][a-z]{2}, .*20\d\d.*\d:\d\d\s(AM|PM) .*(UTC|GMT|[A-Z]{2,4})/);
      }
      await press(page, named(question, "Allow this time"));
      await shows(question, "Allowed, this time only.");
      const result = await call;
      assert.notEqual(result.isError, true, JSON.stringify(result));
      await shows(page.locator("#decided > li").first(), "Allowed and done");
      await leave(page);
    },

    async "a denial carries its reason to the agent"() {
      const page = await watching();
      const call = book(seats[1]);
      const question = card(page, "Reserve 1 seat(s)");
      await question.getByLabel(/Reason/).fill("Not in <row> A, please");
      await press(page, named(question, "Deny"));
      await shows(question, "Denied.");
      const { error } = (await call).structuredContent;
      assert.equal(error.code, "APPROVAL_DENIED");
      assert.match(error.message, /Not in <row> A, please/);
      await shows(page.locator("#decided > li").first(), "Not in <row> A, please");
      await leave(page);
    },

    async "always is a standing grant, until it is revoked"() {
      const page = await watching();
      const first = book(seats[2]);
      const question = card(page, "Reserve 1 seat(s)");
      await shows(question, "Always: Reserve seats, whenever box-office asks");
      await press(page, named(question, "Always allow"));
      await shows(question, "Allowed, now and always.");
      assert.notEqual((await first).isError, true);
      const grant = page.locator("#grants > li");
      await shows(grant, "box-office");
      // Nobody is asked.
      assert.notEqual((await book(seats[3])).isError, true);
      await press(page, named(grant, "Revoke"));
      await page.getByText("There are no standing permissions. Tools that ask first ask every time.").waitFor();
      await shows(page.locator("#notices"), "Revoked.");
      const again = book(seats[4]);
      const asksAgain = page.locator("#pending > .card:not(.settled)");
      await press(page, named(asksAgain, "Deny"));
      assert.equal((await again).structuredContent.error.code, "APPROVAL_DENIED");
      await leave(page);
    },

  },

  meeting: {
    async "a question lapses where it stands"() {
      const page = await watching();
      const id = ask({ summary: "Lapses soon" });
      const question = card(page, "Lapses soon");
      await question.waitFor();
      lapse(id, 2000);
      touch();
      await shows(question.locator(".result"), "Lapsed");
      assert.equal(await named(question, "Allow this time").isVisible(), false);
      await leave(page);
    },

    async "who decides too late is told"() {
      const page = await inbox();
      const late = ask({ summary: "Lapsed unseen" });
      const taken = ask({ summary: "Taken by another" });
      await unaware(page);
      await card(page, "Lapsed unseen").waitFor();
      lapse(late, -1);
      await press(page, named(card(page, "Lapsed unseen"), "Allow this time"));
      await shows(card(page, "Lapsed unseen"), "This question has lapsed");
      madoguchi("approvals", "deny", taken, "--reason", "no");
      await press(page, named(card(page, "Taken by another"), "Always allow"));
      await shows(card(page, "Taken by another"), "This was decided already.");
      assert.equal(kept(taken).status, "denied");
      assert.equal(rows.prepare("SELECT count(*) AS n FROM desk_grants WHERE revoked_at IS NULL").get().n, 0);
      await leave(page);
    },

    async "of two browsers at once one wins, and the other is told"() {
      const pages = [await inbox(), await inbox()];
      const id = ask({ summary: "Only one of us" });
      for (const page of pages) {
        await unaware(page);
        await card(page, "Only one of us").waitFor();
      }
      const choices = ["Allow this time", "Deny"];
      await Promise.all(pages.map((page, at) =>
        named(card(page, "Only one of us"), choices[at]).evaluate((button) => button.click())));
      const results = await Promise.all(pages.map((page) =>
        card(page, "Only one of us").locator(".result p").textContent()));
      const told = results.filter((text) => text.startsWith("This was decided already."));
      assert.equal(told.length, 1, results.join(" | "));
      const won = results.findIndex((text) => !text.startsWith("This was decided already."));
      assert.equal(kept(id).status, ["approved", "denied"][won]);
      for (const page of pages) await leave(page);
    },

    async "what was decided elsewhere says so in its place"() {
      const page = await watching();
      const id = ask({ summary: "Decided at a shell" });
      const question = card(page, "Decided at a shell");
      await question.waitFor();
      madoguchi("approvals", "approve", id);
      await shows(question.locator(".result"), "Allowed");
      await named(question, "Put away").click();
      await question.waitFor({ state: "detached" });
      await leave(page);
    },

    async "a press meant for what stood there before does not count"() {
      const page = await watching();
      const id = ask({ summary: "Just arrived" });
      const question = card(page, "Just arrived");
      await question.waitFor();
      // In the same moment in which the list moves.
      await page.evaluate(() => {
        document.querySelector("#inbox").dataset.moved = "";
        const button = document.querySelector("#pending button.primary");
        button.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, detail: 1 }));
      });
      await shows(page.locator("#notices"), "The list has just changed.");
      assert.equal(kept(id).status, "pending");
      await page.evaluate(() => delete document.querySelector("#inbox").dataset.moved);
      await press(page, named(question, "Deny"));
      await shows(question, "Denied.");
      await leave(page);
    },

    async "without scripts forms do the same"() {
      const page = await inbox({ javaScriptEnabled: false });
      const id = ask({ summary: "Plain forms" });
      await page.reload();
      assert.equal(await page.locator("script").count(), 0);
      const question = card(page, "Plain forms");
      await question.getByLabel(/Reason/).fill("plainly not");
      await named(question, "Deny").click();
      await shows(page.locator(".notice").first(), "Denied.");
      assert.deepEqual({ ...kept(id) }, { status: "denied", reason: "plainly not" });
      await page.getByRole("button", { name: "Sign out" }).click();
      await shows(page.locator("main"), "The console is closed");
      await leave(page);
    },

    async "signing out ends every tab"() {
      const page = await watching();
      const other = await page.context().newPage();
      await other.goto(url);
      await other.getByRole("button", { name: "Sign out" }).click();
      await shows(page.locator("#notices"), "You are signed out.");
      assert.equal(await page.locator("#sections").textContent(), "");
      await leave(page);
    },
  },

  reading: {
    async "hostile text is text"() {
      const page = await watching();
      const evil = `<img src=x onerror="alert(1)"><script>alert(2)</script></li></ul>&lt;b&gt;`;
      ask({
        caller: "<i>key</i>\u202E",
        summary: `Pay 1\u202E000\u202C ${evil}`,
        recipient: `"><script>alert(3)</script>\u200B`,
        lines: [
          { label: `<b>Text</b>\u0007`, text: `${evil}\r\nsecond line\u0000 end {recipient}` },
          { label: "Long", text: "x".repeat(5000) },
          { label: "Bidi", text: "\u2066\u2069\u200F abc" },
        ],
      });
      const question = page.locator("#pending > .card");
      await question.waitFor();
      const text = await question.textContent();
      for (const part of [evil, "U+202E", "U+202C", "U+200B", "U+0007", "U+000D", "U+0000",
        "U+2066", "U+2069", "U+200F", "second line", "x".repeat(5000), "<i>key</i>"]) {
        assert.ok(text.includes(part), part);
      }
      assert.doesNotMatch(text, /[\u0000-\u0008\r\u200B\u200F\u202A-\u202E\u2066-\u2069]/);
      assert.equal(await question.locator("img, script, i").count(), 0);
      // The same after a reload, and once it is decided.
      await page.reload();
      await page.locator("#live.on").waitFor();
      assert.equal(await question.locator("img, script, i").count(), 0);
      await press(page, named(question, "Always allow"));
      await question.locator(".result").waitFor();
      const decided = page.locator("#decided > li").first();
      await shows(decided, "U+202E");
      await shows(page.locator("#grants > li"), "U+200B");
      assert.equal(await page.locator("main :is(img, script, i)").count(), 0);
      const width = await page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth);
      assert.ok(width <= 0, "nothing sticks out");
      await press(page, named(page.locator("#grants > li"), "Revoke"));
      await page.getByText("There are no standing permissions. Tools that ask first ask every time.").waitFor();
      await leave(page);
    },

    async "in Japanese, and in the language that was chosen"() {
      const page = await watching({ locale: "ja-JP", timezoneId: "Asia/Tokyo" });
      ask({ summary: "「千と千尋の神隠し」を2席予約する", recipient: "葵" });
      const question = card(page, "2席予約する");
      await question.waitFor();
      assert.equal(await page.locator("html").getAttribute("lang"), "ja");
      for (const name of ["今回だけ許可", "常に許可", "拒否"]) await named(question, name).waitFor();
      await shows(question, "相手：葵");
      await shows(question.locator("time").first(), "日(");
      await page.getByRole("link", { name: "English" }).click();
      await named(question, "Allow this time").waitFor();
      await page.reload();
      await named(question, "Allow this time").waitFor();
      await page.getByRole("link", { name: "日本語" }).click();
      await press(page, named(question, "拒否"));
      await shows(question, "拒否しました。");
      await leave(page);
    },

    async "on a phone"() {
      const phone = { viewport: { width: 320, height: 640 } };
      // Nothing else can be asked of Firefox.
      if (!inFirefox) Object.assign(phone, { isMobile: true, hasTouch: true });
      for (const locale of ["en-US", "ja-JP"]) {
        const page = await watching({ ...phone, locale });
        const summary = `On a phone ${locale}`;
        ask({ summary, recipient: "a-name-without-any-space-".repeat(10), lines: [{ label: "Text", text: "long ".repeat(400) }] });
        const question = card(page, summary);
        await question.waitFor();
        const { width, small } = await page.evaluate(() => ({
          width: document.scrollingElement.scrollWidth,
          small: [...document.querySelectorAll("button, a, summary, input:not([type=hidden])")]
            .filter((element) => element.checkVisibility())
            .map((element) => [element.outerHTML, element.getBoundingClientRect()])
            .filter(([, { width, height }]) => width < 44 || height < 44)
            .map(([html]) => html),
        }));
        // Firefox leaves room for its scroll bar.
        assert.ok(width <= 320, `${width}`);
        assert.deepEqual(small, []);
        await press(page, question.locator("button.primary"));
        await question.locator(".result").waitFor();
        await leave(page);
      }
    },

    async "by keyboard alone, and nothing takes the focus away"() {
      const page = await watching();
      const first = ask({ summary: "First by keyboard" });
      await card(page, "First by keyboard").waitFor();
      const focused = () => page.evaluate(() => {
        const { activeElement: element } = document;
        return {
          text: element.textContent.trim(),
          name: element.name ?? "",
          value: element.value ?? "",
          outline: getComputedStyle(element).outlineStyle,
          card: element.closest(".card")?.dataset.id,
        };
      });
      const tabTo = async (wanted) => {
        for (let presses = 0; presses < 40; presses += 1) {
          await page.keyboard.press("Tab");
          const now = await focused();
          assert.notEqual(now.outline, "none", `no focus to be seen on ${now.text}`);
          if (wanted(now)) return now;
        }
        assert.fail("never reached");
      };
      // While somebody writes, another question comes.
      await tabTo((now) => now.name === "reason");
      await page.keyboard.type("half a rea");
      const second = ask({ summary: "Second by keyboard" });
      await card(page, "Second by keyboard").waitFor();
      assert.deepEqual([(await focused()).card, (await focused()).value], [first, "half a rea"]);
      await shows(page.locator("#said"), "Second by keyboard");
      await page.keyboard.type("son");
      await page.keyboard.press("Enter");
      await shows(card(page, "First by keyboard"), "Denied.");
      assert.equal(kept(first).reason, "half a reason");
      assert.equal((await focused()).card, first, "the focus stays where it was");
      await tabTo((now) => now.card === second && now.value === "once");
      await page.keyboard.press("Space");
      await shows(card(page, "Second by keyboard"), "Allowed, this time only.");
      assert.equal(kept(second).status, "approved");
      await leave(page);
    },

    async "an address of one question leads to it"() {
      const page = await watching();
      const id = ask({ summary: "Straight to me" });
      await page.goto("about:blank");
      // As agents were told before there were several pages.
      await page.goto(`${url}/#${id}`);
      await card(page, "Straight to me").waitFor();
      const target = await page.evaluate(() => document.querySelector(":target")?.dataset.id);
      assert.equal(target, id);
      await leave(page);
    },
  },
};

await finish(cases[group]);
