// A person looks at what agents did and ask for (`scene.mjs` comes before this). See
// scripts/pictures.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { chromium } from "playwright-core";

const { MADOGUCHI_BIN, MADOGUCHI_CONFIG, BROWSER_PATH, PICTURES, ALL_PICTURES } = process.env;
const tag = process.env.PICTURES_LANGUAGE;
const scene = scenes[tag];
const port = /port = (\d+)/.exec(readFileSync(MADOGUCHI_CONFIG, "utf8"))[1];
const url = `http://127.0.0.1:${port}`;

// --- the desk -------------------------------------------------------------------

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
async function ask(key, counter, name, given) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const response = await fetch(`${url}/mcp/${counter}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      accept: "application/json, text/event-stream",
      "accept-language": tag,
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

/** The same where nothing is to go wrong; its answer. */
async function call(key, counter, name, given) {
  const result = await ask(key, counter, name, given);
  if (!result || result.isError) throw new Error(`${counter} ${name}: ${JSON.stringify(result)}`);
  return result.structuredContent;
}

const pending = () => JSON.parse(madoguchi("approvals", "list", "--pending", "--json"));

/** Until so many questions wait. */
async function waits(count) {
  for (let tries = 0; pending().length < count; tries++) {
    if (tries > 100) throw new Error(`not ${count} questions`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Two seats side by side, held; what books them. */
async function seats(key) {
  const wanted = { movie_title: scene.film, date: "tomorrow", party_size: 2, hold: true };
  const found = await call(key, "cinema", "find_best_seats", wanted);
  return { hold_id: found.hold.hold_id, seat_ids: ["*"] };
}

// --- the browser ------------------------------------------------------------------

const browser = await chromium.launch({
  executablePath: BROWSER_PATH,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars"],
});

async function signedIn(options) {
  const { locale, timezoneId } = scene;
  const context = await browser.newContext({ colorScheme: "light", locale, timezoneId, ...options });
  const page = await context.newPage();
  await page.goto(madoguchi("approvals", "open", "--port", port));
  await page.locator("main button").click();
  await page.locator("main h1").first().waitFor();
  return page;
}

/** With its content there. */
async function open(page, path) {
  await page.goto(`${url}${path}`);
  await page.locator("main h1, #pending").first().waitFor();
  if (path === "/console/approvals") await page.locator("#live.on").waitFor();
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

/** The top of the page, for the documentation. */
async function take(page, name, height) {
  const { width } = page.viewportSize();
  const whole = await page.evaluate(() => document.documentElement.scrollHeight);
  const clip = { x: 0, y: 0, width, height: Math.min(height, whole) };
  const png = await page.screenshot({ clip, fullPage: true });
  const bytes = await webp(png.toString("base64"));
  writeFileSync(`${PICTURES}/${name}-${tag}.webp`, bytes);
  console.log(`${name}-${tag}.webp  ${bytes.length} bytes`);
}

/** The page down to the end of its first card. */
async function takeCard(name, options) {
  if (ALL_PICTURES) return;
  const page = await signedIn(options);
  await open(page, "/console/approvals");
  await page.locator("#pending > .card").waitFor();
  const card = await page.locator("#pending > .card").boundingBox();
  await take(page, name, Math.ceil(card.y + card.height + 16));
  await page.context().close();
}

/** What the documentation shows: a page, its picture's name, and how far down. */
const shown = (paths) => [
  ["/", "overview", 620],
  [paths.hall, "hall", 760],
  ["/console/todo", "board", 640],
  [paths.room, "room", 548],
  [paths.cart, "receipt", 760],
  ["/console/innervoice", "calendar", 700],
  ["/console/audit", "audit", 760],
  ["/console/tools/cinema/find_best_seats", "tool", 760],
];

async function takeShown(paths) {
  const page = await signedIn({ viewport: { width: 1000, height: 700 } });
  for (const [path, name, height] of shown(paths)) {
    await open(page, path);
    await take(page, name, height);
  }
  await page.context().close();
  const phone = await signedIn({ viewport: { width: 390, height: 720 }, colorScheme: "dark" });
  await open(phone, "/console/todo");
  await take(phone, "phone-board", 760);
  await phone.context().close();
}

/** Every page in every manner. */
async function takeAll(paths) {
  const pages = {
    overview: "/", approvals: "/console/approvals", connect: "/console/connect", agents: "/console/agents",
    tools: "/console/tools", tool: "/console/tools/cinema/reserve_seats",
    cart_tool: "/console/tools/merchant/build_cart_mandates", audit: "/console/audit",
    audit_none: "/console/audit?tool=nothing", keys: "/console/keys", policies: "/console/policies",
    settings: "/console/settings", health: "/console/health", cinema: "/console/cinema", hall: paths.hall,
    rooms: "/console/rooms", room: paths.room, todo: "/console/todo", task: "/console/todo?task=T003",
    adr: "/console/todo?adr=1", edit: "/console/todo?task=T003&edit=1", merchant: "/console/merchant",
    product: "/console/merchant?product=1", cart: paths.cart, innervoice: "/console/innervoice",
    month: "/console/innervoice?view=month",
  };
  for (const width of [360, 1280]) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await signedIn({ viewport: { width, height: 800 }, colorScheme });
      for (const [name, path] of Object.entries(pages)) {
        await open(page, path);
        await page.screenshot({ path: `${ALL_PICTURES}/${name}-${width}-${colorScheme}-${tag}.png`, fullPage: true });
      }
      await page.context().close();
    }
  }
}

// --- what happens -------------------------------------------------------------------

await ready();
const keys = {
  boxOffice: created("box-office", "--counters", "cinema"),
  assistant: created("assistant", "--counters", "innervoice"),
  team: created("team", "--counters", "rooms,todo"),
  shopper: created("shopper", "--counters", "merchant"),
};
const cart = await play(scene, call, keys);
const booking = await seats(keys.boxOffice);
const person = await signedIn({ viewport: { width: 1000, height: 700 } });
const room = `/console/rooms?room=${encodeURIComponent(scene.room)}`;
await open(person, room);
await person.locator('input[name="argument/agentName"], input[name*="gentName"]').first().fill(scene.person);
await person.locator("#own form button").first().click();
await person.locator("textarea").first().waitFor();
await converse(scene, call, keys, async (message) => {
  await person.locator("textarea").first().fill(message);
  await person.locator("form:has(textarea) button").first().click();
  await person.locator(".messages > li", { hasText: message.slice(-12) }).waitFor();
});
await person.context().close();

// Each question is looked at alone, and then denied; one stays.
const asksToBook = ask(keys.boxOffice, "cinema", "reserve_seats", booking);
await waits(1);
await takeCard("approval", { viewport: { width: 800, height: 600 } });
madoguchi("approvals", "approve", pending()[0].id);
const booked = (await asksToBook).structuredContent;
const asksToSend = ask(keys.assistant, "innervoice", "message_send", scene.message);
await waits(1);
await takeCard("phone", { viewport: { width: 390, height: 720 } });
madoguchi("approvals", "deny", pending()[0].id, "--reason", scene.reason);
await asksToSend;
const more = ask(keys.boxOffice, "cinema", "reserve_seats", await seats(keys.boxOffice));
await waits(1);
const paths = {
  room, cart: `/console/merchant?cart=${cart}`,
  hall: `/console/cinema?show=${booked.schedule_id ?? booked.reservation?.schedule_id}`,
};
await (ALL_PICTURES ? takeAll(paths) : takeShown(paths));
for (const { id } of pending()) madoguchi("approvals", "deny", id);
await more;
await browser.close();
