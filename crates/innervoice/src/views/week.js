// The events of a week, in the zone of the calendar: their own text says the day.

const DAY = 86_400_000;
const written = (day) => day.toISOString().slice(0, 10);
const later = (day, days) => new Date(day.getTime() + days * DAY);
let first;

draw = (answer) => {
  const today = answer.today;
  const asked = /^\d{4}-\d\d-\d\d/.exec(input.from ?? "")?.[0];
  first ??= new Date(`${asked ?? answer.events[0]?.start.slice(0, 10) ?? today}T00:00:00Z`);
  const days = Array.from({ length: 7 }, (_, at) => later(first, at));
  const move = (label, by) =>
    make("button", { type: "button", onclick: () => attempt(() => week(by)) }, label);
  show(
    make("p", { class: "buttons" }, move(words("← Week before", "← 前の週"), -7), move(words("Next week →", "次の週 →"), 7)),
    make("div", { class: "week" }, days.map((day) => column(day, today, answer.events))),
    make("p", { class: "hint" }, answer.time_zone ?? ""),
    answer.has_more && make("p", { class: "hint" }, words("There are more events than are shown.", "ほかにも予定があります。")));
};

async function week(by) {
  first = later(first, by);
  const tool = host.toolInfo?.tool?.name ?? "calendar_list";
  draw(await call(tool, { from: written(first), to: written(later(first, 6)) }));
}

function column(day, today, events) {
  const date = written(day);
  const title = new Intl.DateTimeFormat(locale, { weekday: "short", month: "short", day: "numeric", timeZone: "UTC" }).format(day);
  const on = (event) => event.start.slice(0, 10) <= date && date <= lastDay(event);
  return make("section", { class: date === today && "today", "aria-label": title },
    make("h2", {}, title),
    make("ul", {}, events.filter(on).map((event) => make("li", {}, time(event), make("strong", {}, event.title), event.location && make("p", { class: "hint" }, event.location)))));
}

/** What ends at midnight does not last until the day that begins then. */
function lastDay(event) {
  const ends = event.end.slice(0, 10);
  const atMidnight = !event.all_day && event.end.slice(11, 16) === "00:00" && ends > event.start.slice(0, 10);
  return atMidnight ? written(later(new Date(`${ends}T00:00:00Z`), -1)) : ends;
}

const time = (event) =>
  event.all_day ? "" : make("span", {}, `${event.start.slice(11, 16)}–${event.end.slice(11, 16)} `);
