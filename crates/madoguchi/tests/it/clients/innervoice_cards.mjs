// A person decides about calls of the secretary (`browser.mjs` comes before this).

const card = (page, text) => page.locator("#pending > .card", { hasText: text });

/** Presses, and again when the list moved in that moment. */
async function press(page, question, name) {
  const justChanged = await page.locator("#inbox").getAttribute("data-just-changed");
  do {
    await page.locator("#inbox:not([data-moved])").waitFor();
    await named(question, name).click();
  } while ((await page.locator("#notices").textContent()) === justChanged);
}

await finish({
  async "cards show recipient, text and time, and are decided"() {
    const page = await visit();
    await page.goto(`${url}/console/approvals`);
    await page.locator("#live.on").waitFor();
    const message = card(page, "今から帰ります");
    await shows(message, "田中 太郎 <taro@example.com>");
    await shows(message, "phone-");
    await press(page, message, "Allow this time");
    await shows(message, "Allowed, this time only.");
    const event = card(page, "朝ラン");
    await shows(event, "2030");
    await press(page, event, "Allow this time");
    await shows(event, "Allowed, this time only.");
    const leak = card(page, "the password");
    await shows(leak, "mallory@example.com");
    await press(page, leak, "Deny");
    await shows(leak, "Denied.");
    await leave(page);
  },
});
