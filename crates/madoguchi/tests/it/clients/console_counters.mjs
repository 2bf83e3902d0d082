// The console's pages of rooms and todo in a real browser (`browser.mjs` comes before this).
//
//   console_counters.mjs talking|planning|looking URL FILES


const [group, , files] = process.argv.slice(2);

/** Calls a tool as an agent without a key does. */
async function call(counter, name, args) {
  const params = {
    name,
    arguments: args,
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  };
  const response = await fetch(`${url}/mcp/${counter}`, {
    method: "POST",
    headers: {
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
  const { result } = JSON.parse(data.length ? data.at(-1).slice(5) : text);
  assert.ok(!result.isError, JSON.stringify(result));
  return result.structuredContent;
}

/** With its content there. */
async function open(page, path) {
  await page.goto(`${url}${path}`);
  await page.locator("main h1").first().waitFor();
}

const text = (file) => readFileSync(`${files}/${file}`, "utf8");
const section = (page, title) =>
  page.locator("section").filter({ has: page.getByRole("heading", { name: title, exact: true, level: 2 }) });
const column = (page, title) => page.locator(".column", { has: page.getByRole("heading", { name: title }) });
const card = (place, id) => place.locator(`#card-${id}`);

/** Presses the button that a keyboard is at. In Firefox keys reach only the window in front. */
async function pressWithKeys(button) {
  await button.page().bringToFront();
  await button.focus();
  await button.page().keyboard.press("Enter");
}

const cases = {
  talking: {
    async "a person writes beside the agents, mentions one and sees it wake"() {
      await call("rooms", "create_room", { roomName: "dev", agentName: "bob" });
      const [one, two] = [await visit(), await visit()];
      await open(one, "/console/rooms");
      await one.getByRole("link", { name: "dev", exact: true }).click();
      await one.getByLabel("Your name in this room").fill("Ann");
      await named(one, "Enter the room").click();
      await one.getByLabel("Message from Ann").waitFor();
      await open(two, "/console/rooms?room=dev");
      await two.getByLabel("Message from Ann").fill("half a sen");
      const wanted = { roomName: "dev", agentName: "bob", mentionsOnly: true, timeout: 100 };
      const waiting = call("rooms", "wait_for_messages", wanted);
      const bob = section(one, "Members").locator("li", { hasText: "bob" });
      await shows(bob, "waits for messages");
      await bob.getByRole("link", { name: "Mention" }).click();
      const field = one.getByLabel("Message from Ann");
      assert.equal(await field.inputValue(), "@bob ");
      await one.bringToFront();
      await field.focus();
      await one.keyboard.press("End");
      await one.keyboard.type("are you there?");
      await one.keyboard.press("Tab");
      await one.keyboard.press("Enter");
      const { messages } = await waiting;
      assert.equal(messages[0].message, "@bob are you there?");
      await shows(one.locator(".notice"), "Done.");
      await shows(two.locator(".messages > li").last(), "are you there?");
      assert.equal(await two.getByLabel("Message from Ann").inputValue(), "half a sen");
      await call("rooms", "send_message", { roomName: "dev", agentName: "bob", message: "Yes, I am." });
      for (const page of [one, two]) {
        const last = page.locator(".messages > li").last();
        await shows(last, "Yes, I am.");
        const [inner, outer] = [await last.boundingBox(), await page.locator(".talk").boundingBox()];
        assert.ok(inner.y + inner.height <= outer.y + outer.height + 1, "the newest is in sight");
      }
      await leave(one);
      await leave(two);
    },

    async "what somebody is typing survives a busy room"() {
      const page = await visit();
      await open(page, "/console/rooms?room=dev");
      const field = page.getByLabel("Message from Ann");
      await field.focus();
      for (let at = 0; at < 20; at += 1) {
        await call("rooms", "send_message", { roomName: "dev", agentName: "bob", message: `Number ${at}` });
        await page.keyboard.type(`${at} `);
      }
      await shows(page.locator(".messages > li").last(), "Number 19");
      const typed = Array.from({ length: 20 }, (_, at) => `${at} `).join("");
      assert.equal(await field.inputValue(), typed);
      assert.ok(await field.evaluate((it) => it === document.activeElement), "it is still focused");
      await leave(page);
    },

    async "what could not be sent stays, and nothing is sent twice"() {
      const page = await visit();
      await open(page, "/console/rooms?room=dev");
      const field = page.getByLabel("Message from Ann");
      const long = "long ".repeat(20_000);
      await field.fill(long);
      await named(page, "Send").click();
      await page.locator(".notice.bad").waitFor();
      await call("rooms", "send_message", { roomName: "dev", agentName: "bob", message: "Meanwhile." });
      await shows(page.locator(".messages > li").last(), "Meanwhile.");
      assert.ok((await field.inputValue()) === long, "it can be shortened");

      // Firefox does not tell what a request sends, so nobody can send it on and lose the answer.
      if (inFirefox) return leave(page);
      // The answer is lost, and before that somebody presses again while the page changes.
      let [sent, release] = [0, undefined];
      const held = new Promise((resolve) => { release = resolve; });
      await page.route("**/console/rooms?*", async (route) => {
        if (route.request().method() !== "POST") return route.continue();
        sent += 1;
        await route.fetch();
        await held;
        await route.abort();
      });
      await field.fill("Only once.");
      await named(page, "Send").click();
      await shows(page.locator(".messages > li").last(), "Only once.");
      await call("rooms", "send_message", { roomName: "dev", agentName: "bob", message: "I see it." });
      await shows(page.locator(".messages > li").last(), "I see it.");
      await named(page, "Send").click();
      release();
      await shows(page.locator(".notice.bad"), "may have done it");
      assert.equal(sent, 1);
      assert.equal(await field.inputValue(), "Only once.");
      await leave(page);
    },

    async "a press that was meant for another button does nothing"() {
      const page = await visit();
      await open(page, "/console/rooms?room=dev");
      const write = section(page, "Write");
      if (await named(write, "Mark all as read").count()) {
        await named(write, "Mark all as read").click();
        await named(write, "Mark all as read").waitFor({ state: "detached" });
      }
      await named(write, "Leave the room").scrollIntoViewIfNeeded();
      await named(write, "Leave the room").hover();
      const { x, y, width, height } = await named(write, "Leave the room").boundingBox();
      const middle = [x + width / 4, y + height / 2];
      await page.mouse.move(...middle);
      // Somebody presses at the moment when another button comes there.
      await page.evaluate(([left, top]) => {
        window.pressed = new Promise((resolve) => {
          new MutationObserver(() => {
            const there = document.elementFromPoint(left, top).closest("form button");
            if (!there || there.textContent === "Leave the room") return;
            const press = new MouseEvent("click", { detail: 1, bubbles: true, cancelable: true });
            resolve(there.dispatchEvent(press));
          }).observe(document.getElementById("main"), { subtree: true, childList: true });
        });
      }, middle);
      await call("rooms", "send_message", { roomName: "dev", agentName: "bob", message: "Stay!" });
      assert.equal(await page.evaluate(() => window.pressed), false, "the press does not count");
      await shows(page.locator(".notice.bad"), "has just changed");
      await shows(section(page, "Rooms").locator("li", { hasText: "dev" }).first(), "unread");
      await leave(page);
    },

    async "without scripts a person talks too"() {
      const page = await visit({ javaScriptEnabled: false });
      await open(page, "/console/rooms?room=dev");
      await page.getByLabel("Message from Ann").fill("No scripts here.");
      await named(page, "Send").click();
      await shows(page.locator(".notice"), "Done.");
      await shows(page.locator(".messages > li").last(), "No scripts here.");
      const [inner, outer] = [
        await page.locator(".messages > li").last().boundingBox(),
        await page.locator(".talk").boundingBox(),
      ];
      assert.ok(inner.y + inner.height <= outer.y + outer.height + 1, "the newest is in sight");
      await leave(page);
    },
  },

  planning: {
    async "a card moves by keyboard, others see it, and the file changes"() {
      const [one, two] = [await visit(), await visit()];
      for (const page of [one, two]) await open(page, "/console/todo");
      await card(column(two, "To do"), "T001").waitFor();
      await pressWithKeys(one.getByRole("button", { name: "In progress: T001" }));
      await card(column(one, "In progress"), "T001").waitFor();
      await shows(one.locator(".notice"), "Done.");
      const inCard = await one.evaluate(() => document.activeElement.closest("li")?.id);
      assert.equal(inCard, "card-T001", "the keyboard stays at the card");
      await card(column(two, "In progress"), "T001").waitFor();
      await shows(two.locator("pre").first(), "- [-] Write the plan #T001");
      assert.match(text("task.md"), /- \[-\] Write the plan #T001/);
      // An agent moves it on.
      await call("todo", "update_task", { task_id: "T001", status: "done" });
      for (const page of [one, two]) await card(column(page, "Done"), "T001").waitFor();
      await leave(one);
      await leave(two);
    },

    async "a task is added and changed"() {
      const page = await visit();
      await open(page, "/console/todo");
      const form = section(page, "New task");
      await form.getByLabel("Title").fill("Print the plan");
      await form.getByLabel("Due").fill("2030-01-02");
      await named(form, "Add it").click();
      const added = column(page, "To do").locator("li", { hasText: "Print the plan" });
      await shows(added, "due 2030-01-02");
      await shows(page.locator(".notice"), "Done.");
      assert.equal(await form.getByLabel("Title").inputValue(), "");
      await added.getByRole("link").click();
      await page.getByLabel("Status").selectOption("In progress");
      await named(page, "Save the changes").click();
      await shows(page.locator("pre").first(), "- [-] Print the plan");
      await leave(page);
    },

    async "what somebody changes back is saved, and what they are writing stays"() {
      const [page, other] = [await visit(), await visit()];
      await open(page, "/console/todo");
      const form = section(page, "New task");
      await form.getByLabel("Title").fill("Ask around");
      await named(form, "Add it").click();
      const added = column(page, "To do").locator("li", { hasText: "Ask around" });
      await added.getByRole("link").click();
      await page.getByLabel("Status").waitFor();
      await other.goto(page.url());
      await page.getByLabel("Title").fill("Ask everybody");
      await other.getByLabel("Status").selectOption("Done");
      await named(other, "Save the changes").click();
      await shows(other.locator("pre").first(), "- [x] Ask around");
      await page.waitForFunction(() => document.querySelector("select[name='argument/status']").value === "done");
      assert.equal(await page.getByLabel("Title").inputValue(), "Ask everybody");
      await page.getByLabel("Status").selectOption("To do");
      await named(page, "Save the changes").click();
      await shows(page.locator("pre").first(), "- [ ] Ask everybody");
      await leave(page);
      await leave(other);
    },

    async "a context and an ADR are edited with a preview"() {
      const [page, other] = [await visit(), await visit()];
      await open(page, "/console/todo?task=T001");
      await open(other, "/console/todo?task=T001");
      await page.getByRole("link", { name: "Edit" }).click();
      await page.getByLabel("Markdown").fill("# Context for T001\n\n## Steps\n\n- [ ] <b>first</b>\n");
      await named(page, "Preview").click();
      await shows(page.locator(".preview"), "☐ <b>first</b>");
      assert.doesNotMatch(text("context/T001.md"), /Steps/);
      await named(page, "Save").click();
      await shows(page.locator(".notice"), "Done.");
      assert.match(text("context/T001.md"), /## Steps\n\n- \[ \] <b>first<\/b>\n$/);
      await shows(other.locator(".document"), "first");
      await open(page, "/console/todo?adr=1&edit=1");
      const field = page.getByLabel("Markdown");
      const old = await field.inputValue();
      await field.fill(old.replace("\n\nd\n", "\n\nRust it is.\n"));
      await named(page, "Save").click();
      await shows(page.locator(".notice"), "Done.");
      assert.match(text("adr/adr-001-use-rust.md"), /\n\nRust it is\.\n/);
      await leave(page);
      await leave(other);
    },

    async "what somebody edits stays, and overwrites nothing that an agent wrote meanwhile"() {
      await call("todo", "create_task", { title: "Weigh it" });
      const { tasks } = await call("todo", "list_tasks", {});
      const { task_id: id } = tasks.find(({ title }) => title === "Weigh it");
      const page = await visit();
      await open(page, `/console/todo?task=${id}&edit=1`);
      const field = page.getByLabel("Markdown");
      const agent = async (content, status) => {
        await call("todo", "update_context", { task_id: id, content });
        await call("todo", "update_task", { task_id: id, status });
        const mark = { todo: "[ ]", in_progress: "[-]", done: "[x]" }[status];
        await shows(page.locator("pre").first(), `- ${mark} Weigh it`);
      };
      const refused = async (theirs) => {
        await named(page, "Save").click();
        await shows(page.locator(".notice"), "EDIT_CONFLICT");
        assert.match(await field.inputValue(), /^mine/);
        assert.match(text(`context/${id}.md`), theirs);
      };
      await field.fill("mine");
      await agent("first of theirs", "in_progress");
      await refused(/first of theirs/);
      // Neither a second press nor a preview is a reason to overwrite it.
      await refused(/first of theirs/);
      await page.getByRole("link", { name: "Start again" }).click();
      await field.filter({ hasText: "first of theirs" }).waitFor();
      await field.fill("mine, with the first of theirs");
      await named(page, "Preview").click();
      await shows(page.locator(".preview"), "mine, with");
      await agent("second of theirs", "done");
      await shows(page.locator(".preview"), "mine, with");
      assert.match(await field.inputValue(), /^mine, with/);
      await refused(/second of theirs/);
      await page.getByRole("link", { name: "Start again" }).click();
      await field.filter({ hasText: "second of theirs" }).waitFor();
      await field.fill("all of it");
      await named(page, "Save").click();
      await shows(page.locator(".notice"), "Done.");
      await field.fill("all of it, and more");
      await named(page, "Save").click();
      await page.waitForFunction(() => document.querySelector(".notice")?.textContent.includes("Done."));
      await leave(page);
    },

    async "without scripts the board works too"() {
      const page = await visit({ javaScriptEnabled: false });
      await open(page, "/console/todo");
      await page.getByRole("button", { name: "In progress: T002" }).click();
      await card(column(page, "In progress"), "T002").waitFor();
      await open(page, "/console/todo?task=T002&edit=1");
      await page.getByLabel("Markdown").fill("Plain *words*.");
      await named(page, "Preview").click();
      await shows(page.locator(".preview em"), "words");
      await named(page, "Save").click();
      await shows(page.locator(".notice"), "Done.");
      assert.equal(text("context/T002.md"), "Plain *words*.\n");
      await leave(page);
    },
  },

  looking: {
    async "rooms and boards with odd texts, narrow and wide, light and dark, in both languages"() {
      const paths = [
        "/console/rooms", "/console/rooms?room=odd", "/console/rooms?room=nothing", "/console/todo",
        "/console/todo?task=T001", "/console/todo?task=T002", "/console/todo?task=T002&edit=1",
        "/console/todo?adr=1", "/console/todo?adr=1&edit=1",
      ];
      const all = [
        [360, "light", "en-US"], [1280, "dark", "ja-JP"], [360, "dark", "ja-JP"], [1280, "light", "en-US"],
      ];
      const { PICTURES_OF_PAGES: pictures } = process.env;
      for (const [width, colorScheme, locale] of all.slice(0, pictures ? 4 : 2)) {
        const page = await visit({ viewport: { width, height: 800 }, colorScheme, locale });
        for (const path of paths) {
          await open(page, path);
          const how = `${path} at ${width}, ${colorScheme}, ${locale}`;
          if (path.endsWith("edit=1")) {
            await page.locator("button[name=preview]").click();
            await page.locator(".preview").waitFor();
          }
          assert.deepEqual(await findings(page), [], how);
          const wide = await page.evaluate(() => document.documentElement.scrollWidth);
          assert.ok(wide <= width, `${how}: ${wide} wide`);
          const name = path.replace(/\W+/g, "-");
          if (pictures) {
            await page.screenshot({ path: `${pictures}/${name}-${width}-${colorScheme}-${locale}.png`, fullPage: true });
          }
        }
        await leave(page);
      }
    },
  },
};

await finish(cases[group]);
