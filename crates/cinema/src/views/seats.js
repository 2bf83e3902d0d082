// The hall of one screening. A click holds a seat at once, and a clock shows for how long.

let screening;
let hold;
let ticking;

const mine = () => hold?.seats ?? [];
const tellHold = () =>
  tell(hold
    ? `The user holds seats ${mine().join(", ")} of screening ${screening} until ${hold.until}, hold_id ${hold.id}.`
    : `The user holds no seats of screening ${screening} any more.`);

draw = async (answer) => {
  screening = answer.schedule_info.schedule_id;
  if (answer.hold_id) {
    keep(answer);
    return refresh();
  }
  hall(answer);
};

function keep(answer) {
  hold = { id: answer.hold_id, seats: answer.reservation.seat_ids, until: answer.expires_at };
}

async function refresh() {
  hall(await call("get_seat_availability", { schedule_id: screening }));
}

/** All seats of a hold are held together, so a seat more is a new hold. */
async function choose(seat) {
  const before = hold;
  const leaves = mine().includes(seat);
  const wanted = leaves ? mine().filter((one) => one !== seat) : [...mine(), seat];
  try {
    if (before && leaves && wanted.length) {
      await call("cancel_reservation", { reservation_id: before.id, seat_ids: [seat] });
      hold = { ...before, seats: wanted };
    } else {
      if (before) await call("cancel_reservation", { reservation_id: before.id });
      hold = undefined;
      if (wanted.length) keep(await call("hold_seats", { schedule_id: screening, seat_ids: wanted }));
    }
    say("");
  } catch (failure) {
    // Somebody else was faster: the seats of before, if they are still there.
    if (before && !hold) await call("hold_seats", { schedule_id: screening, seat_ids: before.seats }).then(keep, () => {});
    throw failure;
  } finally {
    await refresh();
    tellHold();
  }
}

async function book() {
  const given = { schedule_id: screening, seat_ids: mine(), hold_id: hold.id };
  const answer = await call("reserve_seats", given);
  hold = undefined;
  await refresh();
  const id = answer.reservation.reservation_id;
  say(`${answer.message} ${words(`Reservation ${id}`, `予約番号 ${id}`)}`);
  tell(`The user booked: ${JSON.stringify(answer.reservation)}`);
}

function hall(answer) {
  const { movie_title: film, date, start_time: start, theater_name: theater } = answer.schedule_info;
  const rows = new Map();
  const add = (row, numbers, state) => {
    const seats = rows.get(row) ?? rows.set(row, new Map()).get(row);
    for (const number of numbers) seats.set(number, state);
  };
  for (const { row, available_numbers: numbers } of answer.available_seats) add(row, numbers, "free");
  for (const { row, occupied_numbers: numbers } of answer.occupied_seats) add(row, numbers, "taken");
  const kinds = new Map();
  for (const { seat_type: kind, seat_ids: seats } of answer.special_seats ?? []) {
    for (const seat of seats) kinds.set(seat, kind);
  }
  const focused = document.activeElement?.value;
  const ordered = [...rows].sort(([one], [other]) => one.length - other.length || one.localeCompare(other));
  const label = words("Seats", "座席");
  show(
    make("h2", {}, film),
    make("p", { class: "hint" }, `${date} ${start} · ${theater} · ${words(`${answer.available_seats_count} free`, `空席${answer.available_seats_count}`)}`),
    make("div", { class: "hall", role: "group", tabindex: "0", "aria-label": label },
      make("p", { class: "front" }, words("Screen", "スクリーン")),
      ordered.map(([row, seats]) => line(row, seats, kinds))),
    make("p", { id: "hold", class: "hint" }),
    make("p", { class: "buttons" },
      make("button", { type: "button", class: "primary", disabled: !hold, onclick: () => attempt(book) }, words("Book these seats", "この座席を予約")),
      make("button", { type: "button", onclick: () => attempt(refresh) }, words("Look again", "更新"))));
  if (focused) place.querySelector(`input[value="${CSS.escape(focused)}"]`)?.focus();
  count();
}

function line(row, seats, kinds) {
  const last = Math.max(...seats.keys());
  const places = Array.from({ length: last }, (_, at) => seat(row, at + 1, seats.get(at + 1), kinds));
  return make("div", { class: "row", role: "group", "aria-label": row },
    make("span", { class: "label", "aria-hidden": "true" }, row), places);
}

function seat(row, number, state, kinds) {
  if (!state) return make("span", { class: "gap" });
  const id = `${row}${number}`;
  const own = mine().includes(id);
  const said = { free: words("free", "空き"), taken: words("taken", "予約済み") };
  const name = [id, kinds.get(id), own ? words("held for you", "仮押さえ中") : said[state]].filter(Boolean).join(", ");
  const box = make("input", {
    type: "checkbox", value: id, "aria-label": name, checked: own, disabled: state === "taken" && !own,
    onchange: () => attempt(() => choose(id)),
  });
  return make("label", { class: `place ${own ? "free" : state}`, title: name }, box,
    make("span", { "aria-hidden": "true" }, number));
}

/** For how long the seats are held. */
function count() {
  clearInterval(ticking);
  if (!hold) return;
  const tick = () => {
    // While seats change hands, nothing is held.
    if (!hold) return;
    const left = Math.ceil((new Date(hold.until) - Date.now()) / 1000);
    if (left <= 0) {
      clearInterval(ticking);
      hold = undefined;
      say(words("The hold has expired.", "仮押さえの期限が切れました。"));
      attempt(refresh, false);
      return;
    }
    const time = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    document.getElementById("hold").textContent =
      words(`Held for you: ${mine().join(", ")} · ${time} left`, `仮押さえ中: ${mine().join("、")} · 残り${time}`);
  };
  ticking = setInterval(tick, 1000);
  tick();
}
