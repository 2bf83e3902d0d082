"""What callers do, and what they must find again. Each worker does one thing after the other and
notes what it asked for and what it was told. After a crash, everything that it was told before the
crash must be there; what it had only asked for may be there or not, but not half of it."""

import json
import random
import time
from dataclasses import dataclass, field

from desk import Nothing, Refused


@dataclass(slots=True)
class Entry:
    kind: str
    arguments: dict
    sent: float
    done: float = 0.0
    answer: dict = field(default_factory=dict)
    refused: str = ""
    # Whether it was answered before the crash.
    sure: bool = False


class Worker:
    """`entries` are in the order of asking; the next request waits for the last answer."""

    counter = ""
    # Whether a call is answered only when its record is on disk. Other counters have a row about
    # it in the database.
    waits_for_record = False

    def __init__(self, name, seed):
        self.name, self.dice = name, random.Random(f"{seed}/{name}")
        self.entries, self.count = [], 0

    def prepare(self, desk):
        """Before the work begins, in each run."""

    def act(self, desk):
        """One request."""

    def rest(self):
        """After the work, when the processes are gone."""

    def check(self, desk, entries):
        """What is wrong."""
        return []

    def new(self, what):
        self.count += 1
        return f"{what} {self.name} {self.count}"

    def ask(self, kind, arguments, do):
        entry = Entry(kind, arguments, time.time())
        self.entries.append(entry)
        try:
            entry.answer = do() or {}
        except Refused as refusal:
            entry.refused = refusal.code
        entry.done = time.time()
        return None if entry.refused else entry.answer

    def call(self, desk, kind, tool, arguments, key=None):
        return self.ask(kind, arguments, lambda: desk.call(self.counter, tool, arguments, key))

    def until(self, moment):
        """What was asked before this moment, each marked whether it was answered too."""
        found = []
        for entry in self.entries:
            if entry.sent > moment:
                break
            entry.sure = 0 < entry.done <= moment
            if not (entry.sure and entry.refused):
                found.append(entry)
        return found

    def forget_after(self, moment):
        """Goes on from a crash: nothing that was asked later has ever happened, and what was open
        will never be answered."""
        self.entries = [one for one in self.entries if one.sent <= moment]
        for one in self.entries:
            if one.done > moment:
                one.done, one.answer = 0.0, {}


def newest(dice, entries, count=8, older=4):
    """The newest and some older ones: a crash costs the newest first."""
    rest = entries[:-count]
    return [*dice.sample(rest, min(older, len(rest))), *entries[-count:]]


def last_ones(entries):
    """The last that was answered and all that came after it: any of them may be the last that
    happened."""
    last = max((at for at, one in enumerate(entries) if one.sure), default=0)
    return entries[last:]


class Customer(Worker):
    """Books one to three seats, cancels, exchanges nothing."""

    counter = "cinema"
    shows = None

    def prepare(self, desk):
        if Customer.shows is None:
            movies = desk.call("cinema", "get_movie_list", {})["movies"]
            day = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 2 * 86400))
            shows = []
            for movie in movies[:4]:
                asked = {"movie_id": movie["movie_id"], "date": day}
                found = desk.call("cinema", "get_show_schedule", asked)["schedules"]
                shows += [one["schedule_id"] for one in found]
            Customer.shows = shows
        assert self.shows, "the sample cinema has no screenings"

    def act(self, desk):
        booked = [one for one in self.entries if one.kind == "reserve" and one.answer]
        gone = {one.arguments["reservation_id"] for one in self.entries if one.kind == "cancel"}
        live = [id_of(one) for one in booked if id_of(one) not in gone]
        if live and self.dice.random() < 0.3:
            asked = {"reservation_id": self.dice.choice(live)}
            return self.call(desk, "cancel", "cancel_reservation", asked)
        row, first = self.dice.choice("CDE"), self.dice.randrange(1, 7)
        seats = [f"{row}{first + more}" for more in range(self.dice.choice((1, 2, 3)))]
        key = self.new("booking")
        asked = {"schedule_id": self.dice.choice(self.shows), "seat_ids": seats,
                 "idempotency_key": key}  # fmt: skip
        return self.call(desk, "reserve", "reserve_seats", asked)

    def check(self, desk, entries):
        wrong = []
        cancels = {one.arguments["reservation_id"]: one for one in entries if one.kind == "cancel"}
        sure = [one for one in entries if one.kind == "reserve" and one.sure]
        for one in newest(self.dice, sure):
            id = id_of(one)
            try:
                found = desk.call("cinema", "get_reservation_details", {"reservation_id": id})
            except Refused as refusal:
                wrong.append(f"booking {id}: {refusal}")
                continue
            now, cancel = found["reservation"], cancels.get(id)
            wanted = {"confirmed"} if cancel is None else {"cancelled"}
            if cancel and not cancel.sure:
                wanted = {"confirmed", "cancelled"}
            if now["status"] not in wanted:
                wrong.append(f"booking {id} is {now['status']}, not {wanted}")
            if now["seat_ids"] != one.answer["reservation"]["seat_ids"]:
                wrong.append(f"booking {id} has the seats {now['seat_ids']}")
        for one in sure[-2:]:
            # The answer was kept, so the same request books nothing new.
            again = desk.call("cinema", "reserve_seats", one.arguments)
            if id_of(again) != id_of(one):
                wrong.append(f"{one.arguments['idempotency_key']} was booked twice")
        for one in (one for one in entries if one.kind == "reserve" and not one.sure):
            # Nobody knows whether it was made. Asked again it is made once, or refused as a whole.
            try:
                again = desk.call("cinema", "reserve_seats", one.arguments)
            except Refused as refusal:
                if refusal.code not in ("SEATS_TAKEN", "SEAT_NOT_AVAILABLE"):
                    wrong.append(f"asked again: {refusal}")
                continue
            if len(again["reservation"]["seat_ids"]) != len(one.arguments["seat_ids"]):
                wrong.append(f"half a booking: {again}")
        return wrong


def finish(desk, *arguments, data=None):
    """A command without an answer."""
    desk.succeed(*arguments, data=data)


def id_of(booking):
    answer = booking.answer if isinstance(booking, Entry) else booking
    return answer["reservation"]["reservation_id"]


class Storekeeper(Worker):
    """Counts the stock of one product, and makes carts of others."""

    counter = "merchant"

    def __init__(self, name, seed, product):
        super().__init__(name, seed)
        self.product, self.key = product, None

    def prepare(self, desk):
        if self.key is None:
            tools = "update_inventory,build_cart_mandates"
            made = desk.json("keys", "create", self.name, "--counters", "merchant", "--tools", tools)
            self.key = made["key"]

    def act(self, desk):
        if self.dice.random() < 0.3:
            plan = {"items": [{"product_id": 1, "quantity": 1}]}
            asked = {"cart_plan": plan, "products": [{"id": 1}], "reserve": False,
                     "idempotency_key": self.new("cart")}  # fmt: skip
            return self.call(desk, "cart", "build_cart_mandates", asked)
        asked = {"product_id": self.product, "inventory_count": self.dice.randrange(1, 1000),
                 "reason": self.new("count"), "idempotency_key": self.new("stock")}  # fmt: skip
        return self.call(desk, "stock", "update_inventory", asked, self.key)

    def check(self, desk, entries):
        wrong = []
        allowed = last_ones([one for one in entries if one.kind == "stock"])
        allowed = {one.arguments["inventory_count"] for one in allowed}
        if allowed and any(one.kind == "stock" and one.sure for one in entries):
            asked = {"product_ids": [self.product]}
            count = desk.call("merchant", "check_inventory", asked)["inventory"][str(self.product)]
            if count not in allowed:
                wrong.append(f"product {self.product} has {count} in stock, not {allowed}")
        carts = [one for one in entries if one.kind == "cart" and one.sure]
        for one in newest(self.dice, carts, 3, 1):
            id = cart_id(one.answer["cart_mandate"])
            try:
                found = desk.call("merchant", "get_cart_mandate", {"cart_id": id})
                if cart_id(found["cart_mandate"]) != id:
                    wrong.append(f"cart {id} is another")
            except Refused as refusal:
                wrong.append(f"cart {id}: {refusal}")
        return wrong


def cart_id(mandate):
    return mandate.get("contents", mandate)["id"]


class Secretary(Worker):
    """Sets reminders and writes events; sends messages that a person approves with a command."""

    counter = "innervoice"

    def __init__(self, name, seed, approves):
        super().__init__(name, seed)
        self.approves, self.key = approves, None

    def prepare(self, desk):
        if self.key is None:
            self.key = desk.json("keys", "create", self.name, "--counters", "innervoice")["key"]

    def act(self, desk):
        if self.approves:
            return self.send(desk)
        day = self.dice.randrange(1, 28)
        if self.dice.random() < 0.5:
            asked = {"time": f"2031-03-{day:02}T09:00:00+09:00", "note": self.new("note"),
                     "idempotency_key": self.new("reminder")}  # fmt: skip
            return self.call(desk, "reminder", "reminder_create", asked, self.key)
        asked = {"title": self.new("event"), "start": f"2031-04-{day:02}T10:00:00+09:00",
                 "duration_min": 5, "idempotency_key": self.new("calendar")}  # fmt: skip
        return self.call(desk, "event", "calendar_create", asked, self.key)

    def send(self, desk):
        """Asks, lets a person approve, and asks once more."""
        import threading

        asked = {"to": "guest@example.com", "text": self.new("letter"), "subject": "x",
                 "idempotency_key": self.new("message")}  # fmt: skip

        def person():
            for _ in range(100):
                time.sleep(0.2)
                waiting = desk.json("approvals", "list")
                for one in waiting:
                    if one["status"] == "pending" and one["arguments"]["text"] == asked["text"]:
                        desk.run("approvals", "approve", one["id"])
                        return

        def guarded():
            try:
                person()
            except (Nothing, Refused, TimeoutError, OSError, ValueError):
                pass  # The desk was killed meanwhile.

        approver = threading.Thread(target=guarded, daemon=True)
        approver.start()
        answer = self.call(desk, "message", "message_send", asked, self.key)
        approver.join()
        return answer

    def check(self, desk, entries):
        lists = {
            "reminder": ("reminder_list", "reminders", "note", {"limit": 1000}),
            "event": ("calendar_list", "events", "title",
                      {"from": "2031-04-01T00:00:00Z", "to": "2031-05-01T00:00:00Z", "limit": 1000}),
            "message": ("message_list", "messages", "text", {"limit": 1000}),
        }  # fmt: skip
        wrong = []
        for kind, (tool, field_name, name, asked) in lists.items():
            mine = [one for one in entries if one.kind == kind]
            if not mine:
                continue
            try:
                limit = {**asked, "limit": 200}
                found = desk.call("innervoice", tool, limit, self.key)
            except (Refused, Nothing) as problem:
                wrong.append(f"{tool}: {problem}")
                continue
            texts = [one[name] for one in found[field_name]]
            for one in mine if not found.get("has_more") else []:
                argument = one.arguments.get("note") or one.arguments.get("title")
                times = texts.count(argument or one.arguments["text"])
                if times != 1 and (one.sure or times > 1):
                    wrong.append(f"{kind} {one.arguments} is there {times} times")
        return wrong


class Locksmith(Worker):
    """Creates and revokes keys with commands."""

    def act(self, desk):
        made = [one for one in self.entries if one.kind == "create" and one.answer]
        gone = {one.arguments["id"] for one in self.entries if one.kind == "revoke"}
        live = [one.answer["id"] for one in made if one.answer["id"] not in gone]
        if len(live) > 1 and self.dice.random() < 0.4:
            asked = {"id": self.dice.choice(live)}
            return self.ask("revoke", asked, lambda: desk.json("keys", "revoke", asked["id"]))
        name = self.new("key").replace(" ", "-")
        return self.ask("create", {"name": name}, lambda: desk.json("keys", "create", name))

    def check(self, desk, entries):
        revokes = {one.arguments["id"]: one for one in entries if one.kind == "revoke"}
        wrong = []
        made = [one for one in entries if one.kind == "create" and one.sure]
        for one in newest(self.dice, made, 4, 2):
            revoke = revokes.get(one.answer["id"])
            if revoke and not revoke.sure:
                continue
            try:
                desk.call("innervoice", "contacts_search", {"query": "x"}, one.answer["key"])
                works = True
            except Nothing as problem:
                works = False
                if "401" not in str(problem):
                    wrong.append(f"key {one.arguments['name']}: {problem}")
            if works == bool(revoke):
                state = "works again" if works else "does not work"
                wrong.append(f"key {one.arguments['name']} {state}")
        return wrong


class Owner(Worker):
    """Has the first key, exports the audit trail, and adds counters to a client's configuration."""

    counters = ("cinema", "rooms", "todo", "merchant", "innervoice")

    def prepare(self, desk):
        if not self.entries:
            file = desk.data / "first-key.txt"
            self.ask("first key", {}, lambda: {"key": file.read_text().strip()})

    def act(self, desk):
        time.sleep(0.5)
        done = sum(one.kind == "install" for one in self.entries)
        if done < len(self.counters) and self.dice.random() < 0.5:
            asked = {"counter": self.counters[done]}
            add = lambda: desk.json("install", "cursor", asked["counter"], "--root", str(desk.project))
            return self.ask("install", asked, add)
        asked = {"file": self.new("export").replace(" ", "-")}
        path = str(desk.disk / "home" / asked["file"])
        return self.ask("export", asked, lambda: finish(desk, "audit", "export", "--output", path))

    def check(self, desk, entries):
        wrong = []
        sure = [one for one in entries if one.sure]
        home = desk.disk / "home"
        for one in sure:
            if one.kind == "first key":
                file = desk.data / "first-key.txt"
                if not file.exists() or file.read_text().strip() != one.answer["key"]:
                    wrong.append("the file with the first key is lost")
                desk.call("innervoice", "contacts_search", {"query": "x"}, one.answer["key"])
            elif one.kind == "export":
                file = home / one.arguments["file"]
                if not file.exists() or not file.read_text().endswith("}\n"):
                    wrong.append(f"the exported file {file.name} is lost")
            elif one.kind == "install":
                file = home / ".cursor" / "mcp.json"
                text = file.read_text() if file.exists() else ""
                if one.arguments["counter"] not in text:
                    wrong.append(f"{one.arguments['counter']} is missing in {text[:200]!r}")
        return wrong


class Auditor(Worker):
    """Erases what was recorded of some calls. Checks the trail for the calls of all others."""

    def __init__(self, name, seed, others):
        super().__init__(name, seed)
        self.others = others
        # Spans of time before crashes that the work went on from: of calls in them, arguments
        # may be gone.
        self.unsafe = []

    def forget_after(self, moment):
        self.unsafe.append((self.safe_before(moment), moment))
        super().forget_after(moment)

    def act(self, desk):
        time.sleep(0.5)
        calls = [id for id, _, _ in self.answered(time.time() - 1)]
        if not calls:
            return None
        asked = {"call": self.dice.choice(calls[-30:])}
        return self.ask("erase", asked, lambda: desk.json("audit", "erase", "--call", asked["call"]))

    def answered(self, moment, workers=None):
        """The calls that changed something and were answered: their ids and times."""
        found = []
        for worker in self.others if workers is None else workers:
            for one in worker.until(moment):
                if one.sure and (call := one.answer.get("call")):
                    found.append((call, one.sent, one.done))
        return sorted(found, key=lambda one: one[2])

    def safe_before(self, moment):
        """The arguments of all calls that were answered before this are on disk. A record that is
        waited for is synced with all before it, and their arguments before the next one."""
        waited = self.answered(moment, [one for one in self.others if one.waits_for_record])
        last = max((sent for _, sent, _ in waited), default=0)
        return max((sent for _, sent, done in waited if done < last), default=0)

    def was_unsafe(self, done):
        return any(begin <= done <= end for begin, end in self.unsafe)

    def check_trail(self, desk, entries, moment):
        wrong = []
        code, out, err = desk.run("audit", "verify")
        if code != 0:
            wrong.append(f"audit verify: {out} {err}")
        code, out, err = desk.run("audit", "export", "--personal")
        if code != 0:
            return [*wrong, f"audit export: {err}"]
        recorded = {}
        for line in out.splitlines():
            record = json.loads(line)
            if call := record.get("call"):
                if call in recorded:
                    wrong.append(f"call {call} is recorded twice")
                recorded[call] = record
        answered = self.answered(moment)
        safe_before = self.safe_before(moment)
        erased = {one.arguments["call"]: one for one in entries if one.kind == "erase"}
        for call, _, done in answered:
            record = recorded.get(call)
            if record is None:
                wrong.append(f"call {call} is not in the audit trail")
                continue
            has = "arguments" in record
            erase = erased.get(call)
            if erase:
                if has and erase.sure:
                    wrong.append(f"the erased arguments of {call} are back")
            elif not has and done < safe_before and not self.was_unsafe(done):
                wrong.append(f"the arguments of {call} are lost")
        return wrong
