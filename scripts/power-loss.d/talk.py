"""Workers at the counters that keep files: rooms and todo."""

import json
from functools import partial

from desk import Refused
from workloads import Worker, last_ones, newest

ROOM = "lobby"


class Talker(Worker):
    """Says things in the lobby, and makes, fills, clears and deletes a room of its own."""

    counter = "rooms"
    waits_for_record = True

    def prepare(self, desk):
        try:
            desk.call("rooms", "create_room", {"roomName": ROOM})
        except Refused as refusal:
            assert refusal.code == "ROOM_ALREADY_EXISTS", refusal
        self.enter(desk, ROOM)

    def enter(self, desk, room):
        asked = {"roomName": room, "agentName": self.name}
        self.call(desk, "enter", "enter_room", asked)

    def say(self, desk, room):
        text = self.new("sentence") + " " + "x" * self.dice.choice((5, 50, 700, 3000))
        asked = {"roomName": room, "agentName": self.name, "message": text,
                 "clientMessageId": text[:40]}  # fmt: skip
        return self.call(desk, "say", "send_message", asked)

    def act(self, desk):
        number, own = self.dice.random(), self.own_room(self.entries)
        if number < 0.75:
            return self.say(desk, ROOM)
        if own is None:
            asked = {"roomName": self.new("room").replace(" ", "-"), "agentName": self.name}
            self.call(desk, "create", "create_room", asked)
            return self.enter(desk, asked["roomName"])
        if number < 0.9:
            return self.say(desk, own)
        if number < 0.93:
            asked = {"roomName": own, "confirm": True}
            return self.call(desk, "clear", "clear_room_messages", asked)
        if number < 0.96:
            asked = {"roomName": own, "confirm": True}
            return self.call(desk, "delete", "delete_room", asked)
        asked = {"roomName": ROOM, "agentName": self.name}
        return self.call(desk, "read", "mark_read", asked)

    @staticmethod
    def own_room(entries):
        """The room that was made last and not deleted."""
        room = None
        for one in entries:
            if one.kind == "create" and one.answer:
                room = one.arguments["roomName"]
            elif one.kind == "delete":
                room = None
        return room

    def check(self, desk, entries):
        wrong = []
        rooms = {one["name"] for one in desk.call("rooms", "list_rooms", {})["rooms"]}
        for room in {one.arguments["roomName"] for one in entries}:
            mine = [one for one in entries if one.arguments["roomName"] == room]
            made = room == ROOM or any(one.kind == "create" and one.sure for one in mine)
            deletes = [one for one in mine if one.kind == "delete"]
            if room in rooms and any(one.sure for one in deletes):
                wrong.append(f"the deleted room {room} is back")
            if made and not deletes:
                if room not in rooms:
                    wrong.append(f"the room {room} is gone")
                else:
                    wrong += self.check_room(desk, room, mine)
        return wrong

    def check_room(self, desk, room, entries):
        wrong = []
        clears = [at for at, one in enumerate(entries) if one.kind == "clear"]
        sure_clears = [at for at in clears if entries[at].sure]
        folder = desk.data / "rooms" / "rooms" / room
        found = []
        for name in ("messages.archive.jsonl", "messages.jsonl"):
            file = folder / name
            # A last line without an end is moved aside before the next one is written.
            lines = file.read_text().split("\n")[:-1] if file.exists() else []
            for line in lines:
                try:
                    found.append(json.loads(line)["id"])
                except (ValueError, KeyError):
                    # Blocks of lines that nobody was told of may be lost, and are skipped.
                    if "\0" not in line:
                        wrong.append(f"{room}/{name} has a damaged line: {line[:80]!r}")
        places = {id: at for at, id in enumerate(found)}
        # A move to the archive that was interrupted may leave messages in both files.
        last = -1
        for at, one in enumerate(entries):
            if one.kind != "say" or not one.sure:
                continue
            id = one.answer["messageId"]
            if any(clear > at for clear in sure_clears):
                if id in places:
                    wrong.append(f"{room}: {id} was cleared and is back")
            elif any(clear > at for clear in clears):
                continue
            elif id not in places:
                wrong.append(f"{room}: {id} is lost")
            elif places[id] < last:
                wrong.append(f"{room}: {id} is out of order")
            else:
                last = places[id]
        if any(one.kind == "enter" and one.sure for one in entries):
            users = desk.call("rooms", "list_room_users", {"roomName": room, "limit": 100})["users"]
            if self.name not in {user["name"] for user in users}:
                wrong.append(f"{room}: {self.name} is not a member any more")
        reads = [one for one in entries if one.kind == "read" and one.sure]
        if reads:
            file = folder / "read_status.json"
            status = json.loads(file.read_text()) if file.exists() else {}
            if self.name not in status:
                wrong.append(f"{room}: {self.name} has read nothing")
        says = [one for one in entries if one.kind == "say" and one.sure]
        if says and not clears:
            # Known by its own id, so that it is not sent twice.
            again = desk.call("rooms", "send_message", says[-1].arguments)
            if again["messageId"] != says[-1].answer["messageId"]:
                wrong.append(f"{room}: {says[-1].answer['messageId']} was sent twice")
        return wrong


class Planner(Worker):
    """Writes tasks, contexts and decisions, over HTTP or standard input."""

    counter = "todo"
    waits_for_record = True

    def __init__(self, name, seed, over_stdio):
        super().__init__(name, seed)
        self.over_stdio, self.pipe = over_stdio, None

    def prepare(self, desk):
        self.pipe = desk.stdio("todo") if self.over_stdio else None

    def rest(self):
        self.pipe = None

    def call(self, desk, kind, tool, arguments, key=None):
        if self.pipe is None:
            return super().call(desk, kind, tool, arguments)
        return self.ask(kind, arguments, lambda: self.pipe.call(tool, arguments))

    def act(self, desk):
        number, tasks = self.dice.random(), self.tasks(self.entries)
        if number < 0.35 or not tasks:
            asked = {"title": self.new("task"), "subtasks": ["one", "two"]}
            if self.dice.random() < 0.5:
                asked["idempotency_key"] = self.new("key")
            return self.call(desk, "create", "create_task", asked)
        if number < 0.45:
            asked = {"title": self.new("decision"), "context": "c", "decision": "d", "rationale": "r"}
            return self.call(desk, "decide", "create_adr", asked)
        # Often the newest: its number is the highest, which only the ledger knows once it is gone.
        task = self.dice.choice((*tasks[-5:], tasks[-1]))
        if number < 0.65:
            status = self.dice.choice(("todo", "in_progress", "done"))
            return self.call(desk, "status", "update_task", {"task_id": task, "status": status})
        if number < 0.9:
            asked = {"task_id": task, "content": "# Notes\n\n" + self.new("text") + "\n"}
            return self.call(desk, "context", "update_context", asked)
        return self.call(desk, "delete", "delete_task", {"task_id": task, "relink": True})

    @staticmethod
    def tasks(entries):
        gone = {one.arguments["task_id"] for one in entries if one.kind == "delete"}
        made = [one.answer["task_id"] for one in entries if one.kind == "create" and one.answer]
        return [task for task in made if task not in gone]

    def check(self, desk, entries):
        wrong = []
        made = [one for one in entries if one.kind == "create" and one.sure]
        for one in newest(self.dice, made):
            task = one.answer["task_id"]
            mine = [other for other in entries if other.arguments.get("task_id") == task]
            deletes = [other for other in mine if other.kind == "delete"]
            try:
                found = desk.call("todo", "get_task", {"task_id": task})
            except Refused as refusal:
                if not deletes:
                    wrong.append(f"{task} {one.arguments['title']}: {refusal}")
                continue
            if any(other.sure for other in deletes):
                wrong.append(f"{task} was deleted and is back")
                continue
            if deletes:
                continue
            found = found.get("task", found)
            if found["title"] != one.arguments["title"]:
                wrong.append(f"{task} is called {found['title']!r}")
            changes = [other for other in mine if other.kind == "status"]
            if any(other.sure for other in changes):
                allowed = {other.arguments["status"] for other in last_ones(changes)}
                if found["status"] not in allowed:
                    wrong.append(f"{task} is {found['status']}, not {allowed}")
            texts = [other for other in mine if other.kind == "context"]
            if any(other.sure for other in texts):
                allowed = {other.arguments["content"].strip() for other in last_ones(texts)}
                content = desk.call("todo", "get_context", {"task_id": task})["content"]
                if not any(text in content for text in allowed):
                    wrong.append(f"the context of {task} is {content!r}, not {allowed}")
        for one in newest(self.dice, [one for one in entries if one.kind == "decide" and one.sure], 3):
            number = int(one.answer["adr_id"].split("-")[1])
            try:
                found = desk.call("todo", "get_adr", {"adr_number": number})
                if found.get("adr", found)["title"] != one.arguments["title"]:
                    wrong.append(f"decision {number} is another: {found}")
            except Refused as refusal:
                wrong.append(f"decision {number}: {refusal}")
        gone = {one.arguments["task_id"] for one in entries if one.kind == "delete"}
        keyed = [one for one in made if "idempotency_key" in one.arguments]
        keyed = [one for one in keyed if one.answer["task_id"] not in gone][-2:]
        # A key is its caller's, and standard input is a caller of its own.
        call = desk.stdio("todo").call if self.over_stdio else partial(desk.call, "todo")
        for one in keyed:
            # Known by its key, so that it is not created twice.
            again = call("create_task", one.arguments)["task_id"]
            if again != one.answer["task_id"]:
                wrong.append(f"{one.answer['task_id']} was created again as {again}")
        fresh = call("create_task", {"title": "after the crash"})["task_id"]
        if fresh in {one.answer["task_id"] for one in made}:
            wrong.append(f"{fresh} was given again")
        numbers = [one.answer["task_id"] for one in made]
        if len(numbers) != len(set(numbers)):
            wrong.append("a task's number was given twice")
        return wrong
