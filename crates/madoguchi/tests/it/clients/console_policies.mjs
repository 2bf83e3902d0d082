// A person who tightens policies, in a real browser (`browser.mjs` comes before this).
//
//   console_policies.mjs all URL

const row = (page, tool) => page.locator("tr", { has: page.locator(`code:text-is("${tool}")`) });

async function open(page) {
  await page.goto(`${url}/console/policies`);
  await page.locator("main h1").first().waitFor();
}

/** Denies a tool and takes it back. */
async function tighten(page, texts) {
  await open(page);
  await shows(row(page, "get_movie_list"), texts.allowed);
  await named(page, `${texts.deny}: ${texts.title}`).click();
  await shows(page.locator(".notice"), "cinema.get_movie_list");
  await shows(row(page, "get_movie_list"), texts.denied);
  await page.goto(`${url}/console/tools/cinema/get_movie_list`);
  await shows(page.locator("main"), texts.why);
  assert.equal(await page.locator("main form").count(), 0);
  await page.locator('main a[href="/console/policies"]').click();
  await named(page, `${texts.back}: ${texts.title}`).click();
  await shows(row(page, "get_movie_list"), texts.allowed);
}

const ENGLISH = { title: "Movies now showing", allowed: "allowed", denied: "denied", deny: "Deny", back: "As configured", why: "The policy denies this tool" };
const JAPANESE = { title: "上映中の映画", allowed: "許可", denied: "禁止", deny: "禁止", back: "設定どおりに", why: "このツールを使えません" };

await finish({
  async "a policy is tightened and taken back, in two languages, with scripts and without"() {
    for (const [locale, texts] of [["en-US", ENGLISH], ["ja-JP", JAPANESE]]) {
      for (const javaScriptEnabled of [true, false]) {
        const page = await visit({ locale, javaScriptEnabled });
        await tighten(page, texts);
        await leave(page);
      }
    }
  },

  async "a page that has been open for a while changes nothing that it did not show"() {
    const [one, two] = [await visit(), await visit()];
    for (const page of [one, two]) await open(page);
    await named(one, "Deny: Movies now showing").click();
    await shows(row(one, "get_movie_list"), "denied");
    await named(two, "Ask first: Movies now showing").click();
    await shows(two.locator(".notice.bad"), "it is now deny");
    await shows(row(two, "get_movie_list"), "denied");
    await named(two, "As configured: Movies now showing").click();
    await shows(row(two, "get_movie_list"), "allowed");
    await leave(one);
    await leave(two);
  },

  async "the configuration is the limit"() {
    const page = await visit();
    await open(page);
    const booking = row(page, "reserve_seats");
    await shows(booking, "the configuration");
    assert.equal(await booking.getByRole("button").count(), 1);
    await leave(page);
  },
});
