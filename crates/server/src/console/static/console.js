// Keeps the inbox up to date without taking it away from whoever reads it: a
// card that waits is never touched, new ones come below it, and one that was
// decided elsewhere says so in its place.

import { listen, prepare as prepareAll, showWaiting } from "./reader.js";

const inbox = document.getElementById("inbox");
const sections = document.getElementById("sections");
const live = document.getElementById("live");
const said = document.getElementById("said");
const notices = document.getElementById("notices");
const texts = inbox.dataset;
const title = document.title;

/** The list of what waits, once it has come. */
let pending;

/** The desk's clock minus this browser's. */
let ahead = 0;

/** Keeps what was sent, to compare. */
function prepare(root) {
  for (const item of root.querySelectorAll("#decided > li, #grants > li")) {
    item.dataset.sent = item.outerHTML;
  }
  prepareAll(root);
}

// --- what the stream brings -------------------------------------------------

function show({ now, html }) {
  ahead = now - Date.now();
  const fresh = new DOMParser().parseFromString(html, "text/html");
  prepare(fresh);
  if (pending) {
    showPending(fresh);
    showList("decided", fresh);
    showList("grants", fresh);
  } else {
    sections.replaceChildren(...fresh.body.children);
    pending = document.getElementById("pending");
    moved();
    // Now it leads somewhere.
    if (location.hash) location.replace(location.hash);
  }
  count();
  tick();
}

function showPending(fresh) {
  const waiting = new Map();
  for (const card of fresh.querySelectorAll("#pending > .card")) {
    waiting.set(card.dataset.id, card);
  }
  for (const card of pending.querySelectorAll(".card:not(.settled)")) {
    const { id } = card.dataset;
    if (!waiting.delete(id) && !card.classList.contains("busy")) {
      const decided = fresh.querySelector(`#decided > [data-id="${CSS.escape(id)}"]`);
      settle(card, decided?.dataset.outcome ?? texts.gone);
    }
  }
  for (const [id, card] of waiting) {
    if (pending.querySelector(`[data-id="${CSS.escape(id)}"]`)) continue;
    card.classList.add("new");
    pending.append(card);
    moved();
    say(`${texts.arrived}: ${card.querySelector("h2").textContent}`);
    notify(id, card.querySelector("h2").textContent);
  }
}

/** Replaces what differs and leaves the rest, with whatever is focused or open in it. */
function showList(id, fresh) {
  const list = document.getElementById(id);
  const kept = new Map([...list.children].map((item) => [item.dataset.id, item]));
  const hadFocus = list.contains(document.activeElement);
  const items = [...fresh.getElementById(id).children].map((item) => {
    const known = kept.get(item.dataset.id);
    return known?.dataset.sent === item.dataset.sent ? known : item;
  });
  const wanted = new Set(items);
  for (const item of [...list.children]) {
    if (!wanted.has(item)) item.remove();
  }
  items.forEach((item, at) => {
    if (list.children[at] !== item) list.insertBefore(item, list.children[at] ?? null);
  });
  if (hadFocus && !list.contains(document.activeElement)) {
    document.getElementById(`${id}-title`).focus();
  }
}

function count() {
  const waiting = sections.querySelectorAll(".card:not(.settled)").length;
  document.title = waiting ? `(${waiting}) ${title}` : title;
  showWaiting(waiting);
}

// --- notifications of the browser ---------------------------------------------

const asks = document.getElementById("notify");

/** The button asks for the permission; browsers refuse to ask by themselves. */
function offerNotifications() {
  asks.hidden = !("Notification" in window) || Notification.permission !== "default";
}

asks.addEventListener("click", async () => {
  const permission = await Notification.requestPermission();
  offerNotifications();
  if (permission === "granted") notice(asks.dataset.done, false);
});

/** For whoever looks elsewhere. Several pages of one browser show it once. */
function notify(id, body) {
  if (!("Notification" in window) || Notification.permission !== "granted" || document.hasFocus()) return;
  const shown = new Notification(texts.arrived, { body, tag: id });
  shown.addEventListener("click", () => {
    window.focus();
    location.hash = id;
    shown.close();
  });
}

offerNotifications();

// --- a card that no longer waits ----------------------------------------------

/** How long it stays in its place. */
const STAYS = 10_000;

function settle(card, message) {
  card.classList.remove("busy", "new");
  const hadFocus = card.contains(document.activeElement);
  card.classList.add("settled");
  // Its address now leads to the list of what was decided.
  card.removeAttribute("id");
  card.querySelector(".trouble")?.remove();
  let result = card.querySelector(".result");
  if (!result) {
    result = document.createElement("div");
    result.className = "result";
    const text = document.createElement("p");
    const away = document.createElement("button");
    away.type = "button";
    away.className = "quiet";
    away.textContent = texts.dismiss;
    away.addEventListener("click", () => putAway(card, true));
    result.append(text, away);
    card.querySelector("article").append(result);
    setTimeout(() => leave(card), STAYS);
  }
  result.querySelector("p").textContent = message;
  if (hadFocus) card.querySelector("h2").focus();
  say(`${message} ${card.querySelector("h2").textContent}`);
  moved();
  count();
}

/** Goes by itself once nobody is in it. */
function leave(card) {
  if (card.contains(document.activeElement)) {
    card.addEventListener("focusout", () => setTimeout(() => leave(card), STAYS), { once: true });
  } else {
    putAway(card, false);
  }
}

function putAway(card, byHand) {
  const next = card.nextElementSibling ?? card.previousElementSibling;
  card.remove();
  moved();
  if (byHand) (next?.querySelector("h2") ?? document.getElementById("pending-title")).focus();
}

function say(text) {
  said.textContent = text;
}

// --- deciding -----------------------------------------------------------------

/** A press that was meant for what stood there before does not count. */
const SETTLES = 600;
let settling;

function moved() {
  inbox.dataset.moved = "";
  clearTimeout(settling);
  settling = setTimeout(() => delete inbox.dataset.moved, SETTLES);
}

inbox.addEventListener("click", (event) => {
  // Keys press what is focused, wherever it moved.
  const byPointer = event.detail > 0;
  if (byPointer && "moved" in texts && event.target.closest("form button")) {
    event.preventDefault();
    notice(texts.justChanged, false);
  }
});

inbox.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const place = form.closest("li");
  if (place.classList.contains("busy")) return;
  place.classList.add("busy");
  place.querySelector(".trouble")?.remove();
  notices.replaceChildren();
  const answer = await send(form, event.submitter);
  if (!answer) return trouble(place, texts.notReached);
  if (answer.outcome === "signed-out") return signedOut();
  if (answer.outcome === "too-long") return trouble(place, answer.message);
  if (place.matches(".card")) {
    settle(place, answer.message);
  } else {
    place.classList.remove("busy");
    notice(answer.message, false);
  }
});

/** The answer; nothing when the desk could not be reached. */
async function send(form, submitter) {
  try {
    const response = await fetch(form.action, {
      method: "POST",
      headers: { accept: "application/json" },
      body: new URLSearchParams(new FormData(form, submitter)),
    });
    if (response.status === 401 || response.status === 403) return { outcome: "signed-out" };
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    return isJson ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}

function trouble(place, message) {
  place.classList.remove("busy");
  const text = document.createElement("p");
  text.className = "trouble";
  text.setAttribute("role", "alert");
  text.textContent = message;
  (place.querySelector(".choices") ?? place).append(text);
}

function notice(message, bad) {
  const text = document.createElement("p");
  text.className = bad ? "notice bad" : "notice";
  text.setAttribute("role", "status");
  text.textContent = message;
  notices.replaceChildren(text);
}

// --- the clock and the stream ---------------------------------------------------

function tick() {
  const now = Date.now() + ahead;
  for (const card of sections.querySelectorAll(".card:not(.settled)")) {
    const seconds = Math.max(0, Math.ceil((Number(card.dataset.lapses) - now) / 1000));
    const left = card.querySelector(".left");
    left.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    left.classList.toggle("soon", seconds <= 60);
  }
}

function connected(is) {
  live.textContent = is ? live.dataset.live : live.dataset.connecting;
  live.classList.toggle("on", is);
}

/** What was shown is no longer this visitor's to see. */
function signedOut() {
  sections.replaceChildren();
  pending = undefined;
  document.title = title;
  live.textContent = "";
  live.classList.remove("on");
  notice(texts.signedOut, true);
}

/** A mistake in showing is not taken for a lost connection. */
function shown(data) {
  try {
    show(JSON.parse(data));
  } catch (error) {
    reportError(error);
  }
}

connected(false);
setInterval(tick, 1000);
listen("/console/events", { heard: shown, connected, signedOut });
