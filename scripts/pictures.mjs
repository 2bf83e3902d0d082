// Agents ask for something; a person sees it in the console. See scripts/pictures.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { chromium } from "playwright-core";

const { MADOGUCHI_BIN, MADOGUCHI_CONFIG, BROWSER_PATH, PICTURES } = process.env;
const port = /port = (\d+)/.exec(readFileSync(MADOGUCHI_CONFIG, "utf8"))[1];
const url = `http://127.0.0.1:${port}`;

const madoguchi = (...words) =>
  execFileSync(MADOGUCHI_BIN, ["--config", MADOGUCHI_CONFIG, ...words], { encoding: "utf8" }).trim();

const created = (...words) => JSON.parse(madoguchi("keys", "create", ...words, "--json")).key;

async function ready() {
  for (let tries = 0; tries < 600; tries++) {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the desk did not start");
}

/** A call by an agent whose user speaks this language. */
async function call(key, language, counter, name, given) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const response = await fetch(`${url}/mcp/${counter}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      accept: "application/json, text/event-stream",
      "accept-language": language,
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
    body: JSON.stringify({
      jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given, _meta },
    }),
  });
  const text = await response.text();
  const data = text.split("\n").filter((line) => line.startsWith("data:") && line.length > 6);
  return JSON.parse(data.length ? data.at(-1).slice(5) : text).result;
}

const languages = {
  en: {
    locale: "en-US",
    timezoneId: "Europe/London",
    film: "Midnight Kitchen",
    message: { to: "Ann Smith", subject: "Friday", text: "I have two seats for Friday evening. Will you come along?" },
  },
  ja: {
    locale: "ja-JP",
    timezoneId: "Asia/Tokyo",
    film: "ミッドナイト・キッチン",
    message: { to: "田中 太郎", subject: "金曜日の件", text: "金曜の夜の席が二つ取れました。一緒に行きませんか。" },
  },
};

await ready();
const boxOffice = created("box-office", "--counters", "cinema");
const assistant = created("assistant", "--counters", "innervoice");
const browser = await chromium.launch({
  executablePath: BROWSER_PATH,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars"],
});

async function signedIn(options) {
  const context = await browser.newContext({ colorScheme: "light", ...options });
  const page = await context.newPage();
  await page.goto(madoguchi("approvals", "open", "--port", port));
  await page.locator("main button").click();
  await page.locator("#live.on").waitFor();
  return page;
}

/** The page down to the end of its card. */
async function take(page, name) {
  const card = await page.locator("#pending > .card").boundingBox();
  const { width } = page.viewportSize();
  const clip = { x: 0, y: 0, width, height: card.y + card.height + 16 };
  const png = await page.screenshot({ clip, fullPage: true });
  await page.context().close();
  const bytes = await webp(png.toString("base64"));
  writeFileSync(`${PICTURES}/${name}.webp`, bytes);
  console.log(`${name}.webp  ${bytes.length} bytes`);
}

/** The same picture in less than half of the bytes. The browser knows how. */
async function webp(png) {
  const page = await browser.newPage();
  const url = await page.evaluate(async (png) => {
    const image = new Image();
    image.src = `data:image/png;base64,${png}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 0.85);
  }, png);
  await page.close();
  return Buffer.from(url.split(",")[1], "base64");
}

/** What a call that waits looks like in a browser. */
async function picture(name, waiting, options) {
  const page = await signedIn(options);
  await page.locator("#pending > .card").waitFor();
  await take(page, name);
  for (const { id } of JSON.parse(madoguchi("approvals", "list", "--pending", "--json"))) {
    madoguchi("approvals", "deny", id);
  }
  await waiting;
}

for (const [tag, { locale, timezoneId, film, message }] of Object.entries(languages)) {
  const wanted = { movie_title: film, date: "tomorrow", party_size: 2, hold: true };
  const found = await call(boxOffice, tag, "cinema", "find_best_seats", wanted);
  const seats = { hold_id: found.structuredContent.hold.hold_id, seat_ids: ["*"] };
  const booking = call(boxOffice, tag, "cinema", "reserve_seats", seats);
  const screen = { locale, timezoneId, viewport: { width: 800, height: 600 } };
  await picture(`approval-${tag}`, booking, screen);
  const sending = call(assistant, tag, "innervoice", "message_send", message);
  const phone = { locale, timezoneId, viewport: { width: 390, height: 720 } };
  await picture(`phone-${tag}`, sending, phone);
}
await browser.close();
