"""What a call costs as the data grows: one read and one write of each counter."""

import datetime
import json
import subprocess
import tempfile
from pathlib import Path

from calls import ALL, READ, SAY
from plot import plot
from talk import CONFIG, DAY, Talk, command, environment

SIZES = (1, 10, 100, 1000)
LIMITS = "[limits]\nrequests_per_minute = { innervoice = 1000000 }\n"
# A screening every three hours in each of ten halls.
HALLS, STARTS = 10, ("09:00", "12:00", "15:00", "18:00", "21:00")


def shows(place, size):
    """Ten screenings at first, 10,000 in the end. A caller looks at one and books seats in it."""
    rows = [{"row": row, "numbers": "1-20"} for row in "ABCDEFGHIJ"]
    halls = [{"theater_id": f"h{hall}", "name": f"Hall {hall}", "rows": rows} for hall in range(HALLS)]
    films = [{"movie_id": f"f{film}", "title": f"Film {film}", "duration": 120} for film in range(20)]
    listed = [
        {
            "schedule_id": f"s{number}", "movie_id": f"f{number % 20}", "theater_id": f"h{number % HALLS}",
            "date": day_after(number // (HALLS * len(STARTS))), "start_time": STARTS[number // HALLS % len(STARTS)],
        }
        for number in range(10 * size)
    ]  # fmt: skip
    place.import_file("cinema", "cinema.json", {"films": films, "halls": halls, "shows": listed})
    seats = [f"{row}{number}" for row in "ABC" for number in range(1, 21)]
    return {
        "get_seat_availability": [("get_seat_availability", {"schedule_id": "s0"})] * ALL,
        "reserve_seats": [("reserve_seats", {"schedule_id": "s0", "seat_ids": [seat]}) for seat in seats[:ALL]],
    }


def day_after(days):
    return (datetime.date.fromisoformat(DAY) + datetime.timedelta(days)).isoformat()


def products(place, size):
    """100 products at first, 100,000 in the end; one in ten is found."""
    things = ("cup", "lamp", "chair", "shirt", "book", "clock", "knife", "scarf", "plate", "pen")
    rows = [
        {"id": number, "sku": f"S{number}", "name": f"{things[number % 10]} {number}", "price_jpy": 100 + number, "inventory_count": 50}
        for number in range(1, 100 * size + 1)
    ]  # fmt: skip
    place.import_file("merchant", "products.json", rows)
    stock = [("update_inventory", {"product_id": 1, "inventory_count": 50 + number}) for number in range(ALL)]
    return {"search_products": [("search_products", {"keywords": ["shirt"]})] * ALL, "update_inventory": stock}


def messages(place, size):
    """Ten messages at first, 10,000 in the end, which is as many as a room's log holds."""
    talk = place.talk()
    talk.call("create_room", {"roomName": "lobby"})
    talk.call("enter_room", {"roomName": "lobby", "agentName": "ann"})
    for _ in range(10 * size - 2 * ALL):
        talk.call("send_message", SAY)
    talk.end()
    return {"get_messages": [("get_messages", READ)] * ALL, "send_message": [("send_message", SAY)] * ALL}


def tasks(place, size):
    """One task at first; 900 in the end, where 1,000 are more than a project may have."""
    talk = place.talk()
    for number in range(min(size, 900)):
        talk.call("create_task", {"title": f"Seeded {number}"})
    talk.end()
    new = [("create_task", {"title": f"Task {number:02}"}) for number in range(ALL)]
    return {"list_tasks": [("list_tasks", {})] * ALL, "create_task": new}


def reminders(place, size):
    """One reminder at first; 900 in the end, where 1,000 are all that a key may have."""
    talk = place.talk()
    for number in range(min(size, 900)):
        talk.call("reminder_create", reminder(number))
    talk.end()
    new = [("reminder_create", reminder(20000 + number)) for number in range(ALL)]
    # The first ten are asked for: the rest of the calendar is empty.
    first = {"from": "2031-01-01T00:00:00Z", "to": "2031-01-01T00:10:00Z"}
    return {"calendar_list": [("calendar_list", first)] * ALL, "reminder_create": new}


def reminder(number):
    day, minute = divmod(number, 24 * 60)
    return {"time": f"2031-01-{day + 1:02}T{minute // 60:02}:{minute % 60:02}:00Z", "note": f"Call {number}."}


DATA = {"cinema": shows, "innervoice": reminders, "merchant": products, "rooms": messages, "todo": tasks}


class Place:
    """A data directory for one counter."""

    def __init__(self, program, counter, folder):
        self.program, self.counter, self.folder = program, counter, folder
        (folder / "madoguchi.toml").write_text(LIMITS + CONFIG)

    def import_file(self, counter, name, content):
        path = self.folder / name
        path.write_text(json.dumps(content))
        imported = command(self.program, self.folder, "import", counter, str(path))
        done = subprocess.run(imported, env=environment(self.folder), capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{imported}: {done.stdout}{done.stderr}")

    def talk(self, counts=False):
        return Talk(self.program, self.counter, self.folder, counts)


def counted(program, counter, size):
    with tempfile.TemporaryDirectory(prefix="madoguchi-growth-") as folder:
        place = Place(program, counter, Path(folder))
        calls = DATA[counter](place, size)
        talk = place.talk(counts=True)
        found = {tool: talk.each(each) for tool, each in calls.items()}
        talk.end()
        return found


def growth(options):
    target = Path(options.growth)
    target.mkdir(parents=True, exist_ok=True)
    print("Instructions of one call with so many times the data, and the last as a multiple of the first")
    print(f"{'':34}" + "".join(f"{size:>14,}" for size in SIZES))
    for counter in DATA:
        if options.only not in ("", counter):
            continue
        lines = {}
        for size in SIZES:
            for tool, count in counted(options.program, counter, size).items():
                lines.setdefault(tool, []).append(count)
        for tool, counts in lines.items():
            row = "".join(f"{count:>14,}" for count in counts)
            print(f"{counter:12} {tool:21}{row}   × {counts[-1] / counts[0]:.2f}", flush=True)
        millions = {tool: [count / 1e6 for count in counts] for tool, counts in lines.items()}
        path, title = target / f"growth-{counter}.svg", f"{counter}: instructions of one call"
        plot(path, title, SIZES, millions, "M", size_label="× {:,}")
    return 0
