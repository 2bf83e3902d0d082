// What all pages share: the token, and times as their reader writes them, in the
// reader's own zone.

/** What the cookie alone does not know. */
const STORED = "madoguchi_console";
export const token = localStorage.getItem(STORED) ?? "";

const language = document.documentElement.lang;
const region = navigator.languages.find((tag) => tag.startsWith(language)) ?? language;
const parts = {
  year: "numeric", month: "short", day: "numeric", weekday: "short",
  hour: "numeric", minute: "2-digit", timeZoneName: "short",
};
const moment = new Intl.DateTimeFormat(region, parts);
const exactMoment = new Intl.DateTimeFormat(region, { ...parts, second: "2-digit" });

// The pages of counters are laid out by days, so the desk has to know the zone.
const { timeZone } = moment.resolvedOptions();
document.cookie = `madoguchi_zone=${timeZone}; path=/; max-age=31536000; samesite=strict`;

/** Fills in the token, and times in the reader's own zone. */
export function prepare(root) {
  for (const field of root.querySelectorAll("input[name=form]")) field.value ||= token;
  for (const time of root.querySelectorAll("time[datetime]")) {
    time.title = time.textContent;
    const format = "exact" in time.dataset ? exactMoment : moment;
    time.textContent = format.format(new Date(time.dateTime));
  }
}

/** Shows how many questions wait, beside the link to them in the list of pages. */
export function showWaiting(count) {
  const place = document.getElementById("waiting");
  place.querySelector("b").textContent = count;
  place.hidden = count === 0;
}

/** The desk says something every 15 seconds; who is silent for three times that has gone. */
const SILENCE = 45_000;
const AGAIN = 2000;

/**
 * Hears what the desk sends: each message, whether the desk is there, and that the
 * visitor is signed out. Not an EventSource, which could not send the token.
 */
export async function listen(address, { heard, connected = () => {}, signedOut = () => {} }) {
  const gone = new AbortController();
  let silence = setTimeout(() => gone.abort(), SILENCE);
  try {
    const headers = { "x-console-form": token };
    const response = await fetch(address, { headers, signal: gone.signal });
    if (response.status === 401) return signedOut();
    if (!response.ok) throw new Error(response.statusText);
    connected(true);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let unread = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      clearTimeout(silence);
      silence = setTimeout(() => gone.abort(), SILENCE);
      const messages = (unread + value).split("\n\n");
      unread = messages.pop();
      for (const message of messages) {
        if (message.startsWith("data:")) heard(message.slice("data:".length));
      }
    }
  } catch {
    // Whatever it was, it is tried again.
  } finally {
    clearTimeout(silence);
  }
  connected(false);
  setTimeout(() => listen(address, { heard, connected, signedOut }), AGAIN);
}

prepare(document);
// On a phone the list of pages is wider than the screen.
document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
document.getElementById("sign-out")?.addEventListener("submit", () => localStorage.removeItem(STORED));
