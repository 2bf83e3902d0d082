// A browser at the console. What comes after this on stdin uses it; the second argument
// is the address of the desk. TEST_BROWSER says which browser: chromium or firefox.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { chromium, firefox } from "playwright-core";

const url = process.argv[3];
const port = new URL(url).port;
const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
// The machine may be busy.
const PATIENCE = 60_000;

const madoguchi = (...words) =>
  execFileSync(process.env.MADOGUCHI_BIN, words, { encoding: "utf8" }).trim();

const inFirefox = process.env.TEST_BROWSER === "firefox";

/** The program that is named, or else one that is installed. */
const program = (variable, names) =>
  process.env[variable] ?? names.map((name) => `/usr/bin/${name}`).find(existsSync);

const CHROMIUM = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const FIREFOX = ["firefox-esr", "firefox"];

// The channel says that it is driven over WebDriver BiDi, which every Firefox understands.
const browser = inFirefox
  ? await firefox.launch({
    channel: "moz-firefox",
    executablePath: program("MADOGUCHI_TEST_FIREFOX", FIREFOX),
    // It asks nobody else for anything.
    firefoxUserPrefs: { "services.settings.server": "data:," },
  })
  : await chromium.launch({ executablePath: program("MADOGUCHI_TEST_CHROMIUM", CHROMIUM), args: FLAGS });

/** A browser of its own, signed in. */
async function visit(options = {}) {
  const context = await browser.newContext({ locale: "en-US", ...options });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  page.faults = [];
  // Firefox tells nobody but the page.
  await page.addInitScript(() => document.addEventListener("securitypolicyviolation", (event) =>
    console.error(`Content Security Policy: ${event.violatedDirective} ${event.blockedURI}`)));
  page.on("pageerror", (error) => page.faults.push(String(error)));
  page.on("console", (message) => {
    const text = message.text();
    // A refusal that a test provokes is no fault of the page.
    const isError = message.type() === "error" && !text.startsWith("Failed to load resource");
    if (isError || /Content Security Policy/i.test(text)) page.faults.push(text);
  });
  page.on("dialog", (dialog) => {
    page.faults.push("a dialog");
    dialog.dismiss();
  });
  await page.goto(madoguchi("approvals", "open", "--port", port));
  await page.locator("main button").click();
  await page.waitForURL(`${url}/`);
  return page;
}

async function leave(page) {
  assert.deepEqual(page.faults, []);
  await page.context().close();
}

const named = (place, name) => place.getByRole("button", { name, exact: true });

/** Waits for it. */
async function shows(place, text) {
  await place.filter({ hasText: text }).waitFor();
}

/** Runs all cases, and ends. With its scripts turned off, Firefox can't be driven. */
async function finish(cases) {
  try {
    for (const [name, run] of Object.entries(cases)) {
      if (inFirefox && name.startsWith("without scripts")) continue;
      console.error(name);
      await run();
    }
  } finally {
    await browser.close();
  }
  // A call that was never answered would keep the program waiting.
  process.exit(process.exitCode ?? 0);
}

const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");

/** What a person who can't see, or can't use a mouse, would stumble over. */
async function findings(page, options = {}) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate((given) => window.axe.run(given), options);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
}
