// Fills a page with its content, and keeps parts of it up to date.

import { listen, prepare, showWaiting, token } from "./reader.js";

let main = document.getElementById("main");

/** The page at this address as it is now; nothing when the desk could not be reached. */
async function fetched() {
  try {
    const headers = { "x-console-form": token, accept: "text/html" };
    const response = await fetch(location.href, { headers });
    return new DOMParser().parseFromString(await response.text(), "text/html");
  } catch {
    return undefined;
  }
}

/** How many questions wait, as a page says. */
const waitingOn = (page) => Number(page.querySelector("#waiting b")?.textContent ?? 0);

/** Asks how many questions wait. On pages that bring themselves up to date they say it. */
async function askWaiting() {
  try {
    const response = await fetch("/console/waiting", { headers: { "x-console-form": token } });
    if (response.ok) showWaiting(Number(await response.text()));
  } catch {
    // The desk could not be reached; it is asked again.
  }
}

/** How often that is asked, in milliseconds. */
const ASKS_EVERY = 10_000;

async function fill() {
  const unreached = main.dataset.fill;
  const page = await fetched();
  const fresh = page?.querySelector("main");
  if (!fresh) {
    main.firstElementChild?.remove();
    main.textContent = unreached;
    return;
  }
  prepare(fresh);
  main.replaceWith(fresh);
  main = fresh;
  document.title = page.title;
  showWaiting(waitingOn(page));
  arrived();
  // Now it leads somewhere.
  if (location.hash) location.replace(location.hash);
}

/** Makes the content live. */
function arrived() {
  for (const button of main.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.parentElement.querySelector("pre").textContent);
      button.textContent = button.dataset.copy;
    });
  }
  // The address of a question, of before there were several pages.
  if (location.pathname === "/" && location.hash.startsWith("#ap_")) {
    location.replace(`/console/approvals${location.hash}`);
  }
  const every = main.querySelector("[data-every]")?.dataset.every;
  const again = every ? refresh : askWaiting;
  setInterval(() => document.hidden || again(), every ? Number(every) * 1000 : ASKS_EVERY);
  const watched = main.querySelector("[data-watch]");
  if (!watched) return;
  watched.addEventListener("submit", sendHere);
  watched.addEventListener("input", ({ target }) => target.form && edited(target.form, target));
  watched.addEventListener("click", stopIfMoved, { capture: true });
  // What changed before the desk could say so is not said again.
  const connected = (isThere) => isThere && refreshSoon();
  const heard = (news) => (news.trim() === "waiting" ? askWaiting() : refreshSoon());
  listen(watched.dataset.watch, { heard, connected });
}

/** What readers change themselves: they open details, and scripts show buttons. */
const theirs = (node, name) => name === "open" || (name === "hidden" && "copy" in node.dataset);

/** Whether what became of a form stays, which a page that is asked for does not have. */
let keepsOutcomes = false;
const isKept = (node) =>
  keepsOutcomes && node?.dataset && ("outcome" in node.dataset || "preview" in node.dataset);

/** Marks a form, and those of its fields into which somebody has entered something. */
function edited(form, ...fields) {
  for (const one of [form, ...fields]) one.dataset.edited = "";
}

/**
 * Whether a field stays as it is: somebody has entered something, or it says what the rest
 * of their form, or the one field that it is about, was entered for.
 */
function isEntered(node) {
  if (!node.matches("form input:not([type=checkbox]), form textarea, form select")) return false;
  if (node.type !== "hidden") return "edited" in node.dataset;
  const [, argument] = node.name.match(/^before\/(.*)/) ?? [];
  return "edited" in (node.form.elements[`argument/${argument}`] ?? node.form).dataset;
}

/**
 * Makes one node like another. What is the same stays, and with it what is focused,
 * scrolled, opened or being entered.
 */
function become(node, fresh) {
  if (node.nodeName !== fresh.nodeName) return node.replaceWith(fresh);
  if (node.nodeType !== Node.ELEMENT_NODE) {
    if (node.data !== fresh.data) node.data = fresh.data;
    return;
  }
  if (isEntered(node) || node.isEqualNode(fresh)) return;
  for (const { name } of [...node.attributes]) {
    const isTheirs = theirs(node, name) || name === "data-edited";
    if (!fresh.hasAttribute(name) && !isTheirs) node.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (node.getAttribute(name) !== value && !theirs(node, name)) node.setAttribute(name, value);
  }
  // Nobody can choose it any more.
  if (node.disabled && node.type === "checkbox") node.checked = fresh.checked;
  becomeWithin(node, fresh);
}

/** Children with an id are found by it, others by their order. */
function becomeWithin(node, fresh) {
  const wanted = new Set([...fresh.children].map(({ id }) => id));
  const known = new Map();
  for (const child of [...node.children]) {
    if (!child.id) continue;
    if (wanted.has(child.id)) known.set(child.id, child);
    else if (!isKept(child)) child.remove();
  }
  const passKept = (child) => {
    let next = child;
    while (isKept(next)) next = next.nextSibling;
    return next;
  };
  let at = passKept(node.firstChild);
  for (const next of [...fresh.childNodes]) {
    const same = next.id ? known.get(next.id) : at && !at.id ? at : undefined;
    if (!same) {
      node.insertBefore(next, at);
      continue;
    }
    if (same === at) at = passKept(at.nextSibling);
    else node.insertBefore(same, at);
    become(same, next);
  }
  while (at) {
    const gone = at;
    at = passKept(at.nextSibling);
    gone.remove();
  }
}

/** Brings the live parts up to date. Who was in a thing that moved stays in it. */
function show(page, { isAnswer }) {
  prepare(page);
  showWaiting(waitingOn(page));
  keepsOutcomes = !isAnswer;
  const focused = document.activeElement;
  const within = focused?.closest("[id]")?.id;
  for (const part of main.querySelectorAll("[data-live][id]")) {
    const fresh = page.getElementById(part.id);
    if (fresh) become(part, fresh);
  }
  if (focused?.isConnected || !within) return focused?.focus({ preventScroll: true });
  document.getElementById(within)?.querySelector("a, button")?.focus();
}

async function refresh() {
  const page = await fetched();
  if (!page) return;
  const before = pressable();
  show(page, { isAnswer: false });
  if (pressable() !== before) movedAt = Date.now();
}

/** A press that was meant for what stood there before does not count. */
const SETTLES = 600;
let movedAt = -Infinity;
let pointer;
addEventListener("pointermove", ({ clientX, clientY }) => { pointer = [clientX, clientY]; });

/** What a press at this moment would do. */
function pressable() {
  const button = pointer && document.elementFromPoint(...pointer)?.closest("form button:not([type])");
  if (!button) return "";
  const form = new FormData(button.form, button);
  return ["tool", "place", "fixed"].map((name) => form.getAll(name)).join();
}

function stopIfMoved(event) {
  // Keys press what is focused, wherever it moved.
  const byPointer = event.detail > 0;
  const button = event.target.closest("form button");
  if (!byPointer || !button || Date.now() - movedAt > SETTLES) return;
  event.preventDefault();
  tellAt(button.form, event.currentTarget.dataset.justChanged);
}

/** Whoever changes much is not asked more often than this. */
const BETWEEN = 1000;
let last = 0;
let soon;

function refreshSoon() {
  soon ??= setTimeout(() => {
    soon = undefined;
    last = Date.now();
    refresh();
  }, Math.max(0, last + BETWEEN - Date.now()));
}

/** The forms that are being sent. */
const busy = new WeakSet();

/** Sends a form of the page without leaving it. */
async function sendHere(event) {
  const { target: form, submitter, currentTarget } = event;
  if ("plain" in form.dataset) return;
  event.preventDefault();
  if (busy.has(form)) return;
  busy.add(form);
  const entered = () => String(new URLSearchParams(new FormData(form, submitter)));
  const body = new URLSearchParams(entered());
  let page;
  try {
    const headers = { accept: "text/html" };
    const response = await fetch(form.action, { method: "POST", headers, body });
    page = new DOMParser().parseFromString(await response.text(), "text/html");
  } catch {
    page = undefined;
  }
  busy.delete(form);
  if (!page?.querySelector("[data-watch]")) {
    // It is not sent again by itself: it may have been done.
    const said = (page?.querySelector("main h1") ?? page?.body)?.textContent.trim();
    return tellAt(form, said || currentTarget.dataset.unanswered);
  }
  answered(form, page, entered() !== String(body));
}

/** Shows what became of a form. `hasMore`: something was entered after it was sent. */
function answered(form, page, hasMore) {
  // A form that still holds what was entered is marked in the answer.
  const isDone = !page.querySelector("form[data-edited]");
  if (!isDone) {
    edited(form, ...form.elements);
  } else {
    delete form.dataset.edited;
    if (!hasMore) {
      for (const field of form.elements) delete field.dataset.edited;
      form.reset();
    }
  }
  show(page, { isAnswer: true });
  document.getElementById("outcome")?.scrollIntoView({ block: "nearest" });
  if (hasMore) edited(form);
}

/** Says beside a form what is wrong. */
function tellAt(form, text) {
  document.getElementById("outcome")?.remove();
  const outcome = document.createElement("div");
  outcome.id = "outcome";
  outcome.dataset.outcome = "";
  const notice = document.createElement("p");
  notice.className = "notice bad";
  notice.setAttribute("role", "alert");
  notice.textContent = text;
  outcome.append(notice);
  form.before(outcome);
}

if ("fill" in main.dataset) fill();
else arrived();
