// What all views share. A view talks to the client that shows it with the messages of
// MCP Apps (2026-01-26), and through it to the desk: what it calls, the agent calls. So
// it can't decide an approval. It shows that one is needed, and where to give it.
//
// A view's script sets `draw`, which gets the structured answer of a tool, and uses:
//   make(tag, properties, ...children)  an element; texts become nothing but text
//   show(...elements)                   replaces what is shown
//   say(text)                           the line below it, which is read out
//   call(tool, arguments)               the structured answer of a tool, or a Failure
//   attempt(action)                     does what a person pressed, and shows what went wrong
//   tell(text)                          tells the model what the person did
//   words(english, japanese), clock(date), input (the arguments of the shown call)

const REVISION = "2026-01-26";
const place = document.getElementById("view");
const status = document.getElementById("status");
const answers = new Map();
let host = {};
let input = {};
let locale = navigator.language;
let lastId = 0;

let draw = (answer) => show(make("p", {}, answer.message ?? words("Done.", "完了しました。")));

/** The answer of a tool that refused. */
class Failure extends Error {
  constructor({ code, message, details }, tool, given) {
    super(message);
    Object.assign(this, { code, details: details ?? {}, tool, given });
  }
}

const words = (english, japanese) => (locale.startsWith("ja") ? japanese : english);
const clock = (date) => new Intl.DateTimeFormat(locale, { hour: "numeric", minute: "2-digit" }).format(date);

/** Characters that can hide or reorder what a person reads. */
const HIDDEN = new RegExp(
  "[\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f" +
  "\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb\\u{e0000}-\\u{e00ff}]", "gu");
const visible = (text) =>
  String(text).replace(HIDDEN, (it) => `[U+${it.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, visible(value));
  }
  const made = children.flat().filter((child) => child != null && child !== false);
  element.append(...made.map((child) => (child instanceof Node ? child : visible(child))));
  return element;
}

function show(...elements) {
  place.replaceChildren(...elements.filter(Boolean));
}

function say(text) {
  status.textContent = visible(text ?? "");
}

const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");

function request(method, params) {
  const id = ++lastId;
  send({ id, method, params });
  return new Promise((resolve, reject) => answers.set(id, { resolve, reject }));
}

/** The structured answer, whatever shape the counter gives its refusals. */
function opened(result, tool, given) {
  const answer = result.structuredContent ?? {};
  if (!result.isError) return answer;
  const { error } = answer;
  const text = result.content?.find(({ type }) => type === "text")?.text;
  const fault = typeof error === "string" ? { ...answer, message: error } : (error ?? { message: text });
  throw new Failure(fault, tool, given);
}

async function call(tool, given) {
  return opened(await request("tools/call", { name: tool, arguments: given }), tool, given);
}

/** One press at a time: another one, until the first is answered, would do it twice. */
async function attempt(action, isPressed = true) {
  if (isPressed && place.hasAttribute("aria-busy")) return;
  place.setAttribute("aria-busy", "true");
  try {
    await action();
  } catch (failure) {
    if (failure.code === "APPROVAL_REQUIRED") place.prepend(approval(failure, action));
    else say(failure.message);
  } finally {
    place.removeAttribute("aria-busy");
  }
}

function tell(text) {
  // A client may have no use for it.
  request("ui/update-model-context", { content: [{ type: "text", text }] }).catch(() => {});
}

/** What waits for the person, and the way to where they decide. */
function approval(failure, again) {
  place.querySelector(".approval")?.remove();
  const { url, expires_at: until } = failure.details;
  const shown = Object.entries(failure.given ?? {}).map(([name, value]) => [
    make("dt", {}, name),
    make("dd", {}, typeof value === "string" ? value : JSON.stringify(value)),
  ]);
  const open = () =>
    request("ui/open-link", { url }).catch(() => say(words(`Open ${url} in your browser.`, `ブラウザで ${url} を開いてください。`)));
  const repeat = () => attempt(async () => {
    say("");
    await again();
    place.querySelector(".approval")?.remove();
  });
  const hint = words(
    "Nothing was done yet. Decide in the console, then continue here.",
    "まだ何も行っていません。コンソールで決めてから、ここで続けてください。",
  );
  return make("section", { class: "approval", "aria-label": words("Approval", "承認") },
    make("h2", {}, words("This needs your approval", "承認が必要です")),
    make("p", { class: "tool" }, host.toolInfo?.tool?.title ?? failure.tool ?? ""),
    make("dl", {}, ...shown),
    make("p", { class: "hint" }, hint, until && ` ${words(`Until ${clock(new Date(until))}.`, `${clock(new Date(until))}まで。`)}`),
    make("p", { class: "buttons" },
      url && make("button", { type: "button", class: "primary", onclick: open }, words("Open the console", "コンソールを開く")),
      make("button", { type: "button", onclick: repeat }, words("Continue", "続ける"))));
}

function changed(context) {
  host = { ...host, ...context };
  if (host.theme) document.documentElement.style.colorScheme = host.theme;
  if (host.locale) locale = host.locale;
  document.documentElement.lang = words("en", "ja");
}

/** The answer of the call that the view is shown for. */
function arrived(result) {
  const { error, details } = result.structuredContent ?? {};
  const tool = host.toolInfo?.tool?.name ?? (error?.details ?? details)?.tool;
  attempt(async () => {
    // Repeated after an approval, it is another call; the first has its answer.
    const first = result;
    result = undefined;
    const answer = first ? opened(first, tool, input) : await call(tool, input);
    say("");
    await draw(answer);
    if (!first) tell(`The user approved ${tool}. Its answer: ${JSON.stringify(answer)}`);
  }, false);
}

const heard = {
  "ui/notifications/tool-input": (params) => { input = params.arguments ?? {}; },
  "ui/notifications/tool-result": arrived,
  "ui/notifications/tool-cancelled": () => say(words("This was cancelled.", "取り消されました。")),
  "ui/notifications/host-context-changed": changed,
};

function receive(event) {
  const { source, data } = event;
  if (source !== parent || data?.jsonrpc !== "2.0") return;
  if (data.method === undefined) {
    const waiting = answers.get(data.id);
    answers.delete(data.id);
    if (data.error) waiting?.reject(new Failure(data.error));
    else waiting?.resolve(data.result);
  } else if (data.id === undefined) {
    heard[data.method]?.(data.params ?? {});
  } else if (["ping", "ui/resource-teardown"].includes(data.method)) {
    send({ id: data.id, result: {} });
  } else {
    send({ id: data.id, error: { code: -32601, message: "Method not found" } });
  }
}

async function start() {
  addEventListener("message", receive);
  const appInfo = { name: document.title, version: "1" };
  const appCapabilities = { availableDisplayModes: ["inline", "fullscreen"] };
  const agreed = await request("ui/initialize", { appInfo, appCapabilities, protocolVersion: REVISION });
  changed(agreed.hostContext ?? {});
  send({ method: "ui/notifications/initialized", params: {} });
  const measure = () => {
    const { scrollWidth: width, scrollHeight: height } = document.documentElement;
    send({ method: "ui/notifications/size-changed", params: { width, height } });
  };
  new ResizeObserver(measure).observe(document.body);
}
