"""The checker finds each kind of defect, and nothing in a history without one.

    python3 -m unittest discover scripts/cluster.d
"""

import copy
import unittest

from checker import check
from history import OK, REFUSED, UNKNOWN


class Story:
    """Evidence of a run in which everything was right."""

    def __init__(self):
        self.time, self.calls = 0.0, 0
        self.evidence = {
            name: [] for name in (
                "history", "reservations", "owners", "reminders", "messages", "hooks", "mails",
                "sentences", "audit",
            )
        }  # fmt: skip
        self.evidence["verified"] = (True, "ok")
        self.book("one", ["C1", "C2"], "rsv_1")
        self.book("two", ["D1"], "rsv_2")
        self.cancel("three", "rsv_2")
        self.book("four", ["D1"], "rsv_3")
        self.book("five", ["E1"], "rsv_4", outcome=UNKNOWN)
        self.entry("reserve", "six", {"schedule_id": "S", "seat_ids": ["C1"]}, REFUSED)
        self.remind("seven")
        self.send("eight")
        self.entry("send", "nine", {"text": "message nine"}, REFUSED)
        for number in (1, 2, 3):
            self.say("ann", number)
            self.say("bob", number)

    def entry(self, kind, key, arguments, outcome, answer=None):
        self.time += 2
        self.calls += 1
        call = f"call_{self.calls}"
        self.evidence["history"].append({
            "client": "c", "kind": kind, "key": key, "arguments": arguments, "outcome": outcome,
            "invoked": self.time, "answered": self.time + 1, "code": None, "answer": answer,
            "calls": [call] if outcome == OK else [], "requests": 1,
        })  # fmt: skip
        if outcome == OK:
            self.evidence["audit"].append({"call": call, "outcome": "done"})

    def book(self, key, seats, id, outcome=OK):
        arguments = {"schedule_id": "S", "seat_ids": seats}
        answer = {"reservation": {"reservation_id": id}} if outcome == OK else None
        self.entry("reserve", key, arguments, outcome, answer)
        row = {"id": id, "show_id": "S", "seats": ", ".join(seats), "status": "confirmed"}
        self.evidence["reservations"].append(row)
        for seat in seats:
            owner = {"show_id": "S", "seat": seat, "reservation_id": id}
            self.evidence["owners"].append(owner)

    def cancel(self, key, id):
        self.entry("cancel", key, {"reservation_id": id}, OK, {})
        self.row(id)["status"] = "cancelled"
        owners = self.evidence["owners"]
        owners[:] = [one for one in owners if one["reservation_id"] != id]

    def row(self, id):
        return next(row for row in self.evidence["reservations"] if row["id"] == id)

    def remind(self, key):
        note = f"reminder {key}"
        self.entry("remind", key, {"note": note}, OK, {})
        self.evidence["reminders"].append({"id": "r", "note": note})
        # The same delivery, repeated.
        self.evidence["hooks"] += [{"id": "h1", "text": note}, {"id": "h1", "text": note}]

    def send(self, key):
        text = f"message {key}"
        self.entry("send", key, {"text": text}, OK, {})
        self.evidence["messages"].append({"id": "m", "body": text})
        self.evidence["mails"].append({"id": "<m@example.com>", "text": text})

    def say(self, agent, number):
        text = f"sentence {agent}-{number}"
        arguments = {"agentName": agent, "message": text}
        self.entry("say", f"{agent}-{number}", arguments, OK, {})
        self.evidence["sentences"].append({"agent": agent, "text": text})


def take(list, number):
    del list[number]


def add_again(evidence):
    answer = {"first": {"id": 1}, "second": {"id": 2}}
    entry = {**evidence["history"][0], "kind": "again", "answer": answer, "calls": []}
    evidence["history"].append(entry)


def sell_again(story):
    """The seat of the first reservation is sold once more."""
    story.book("other", ["C1"], "rsv_9")


def book_under_one_id(story):
    story.entry("reserve", "other", {"schedule_id": "S", "seat_ids": ["C1", "C2"]}, OK,
                {"reservation": {"reservation_id": "rsv_1"}})  # fmt: skip


def swap(list, one, other):
    list[one], list[other] = list[other], list[one]


# What is done to a story that is right, and what the checker says of it.
DEFECTS = {
    "an acknowledged reservation is gone":
        (lambda s: take(s.evidence["reservations"], 0), "lost: reservation rsv_1"),
    "an acknowledged cancellation is gone":
        (lambda s: s.row("rsv_2").update(status="confirmed"), "the cancellation of rsv_2"),
    "a reservation was cancelled by nobody":
        (lambda s: s.row("rsv_1").update(status="cancelled"), "nobody cancelled it"),
    "a seat lost its owner":
        (lambda s: take(s.evidence["owners"], 0), "belongs to None"),
    "a reservation has other seats":
        (lambda s: s.row("rsv_1").update(seats="C1, C3"), "rsv_1 has C1, C3"),
    "a seat is sold twice": (sell_again, "two owners: rsv_1 and rsv_9"),
    "a request was done twice":
        (lambda s: s.evidence["reservations"].append({**s.row("rsv_4"), "id": "rsv_8"}),
         "twice or never asked for: rsv_8"),
    "a refused request was done":
        (lambda s: s.evidence["reservations"].append(
            {"id": "rsv_7", "show_id": "S", "seats": "C1", "status": "confirmed"}),
         "twice or never asked for: rsv_7"),
    "two requests made one reservation": (book_under_one_id, "2 requests"),
    "a retry was answered differently": (lambda s: add_again(s.evidence), "answered differently"),
    "a reminder never came": (lambda s: s.evidence["hooks"].clear(), "never arrived"),
    "a reminder came twice":
        (lambda s: s.evidence["hooks"].append({"id": "h2", "text": "reminder seven"}),
         "twice: reminder 'reminder seven' arrived"),
    "a reminder is stored twice":
        (lambda s: s.evidence["reminders"].append({"id": "x", "note": "reminder seven"}),
         "stored 2 times"),
    "a mail never came": (lambda s: s.evidence["mails"].clear(), "never arrived"),
    "a mail came twice":
        (lambda s: s.evidence["mails"].append({"id": "<x@example.com>", "text": "message eight"}),
         "twice: mail 'message eight' arrived"),
    "a denied mail was sent":
        (lambda s: s.evidence["mails"].append({"id": "<y@example.com>", "text": "message nine"}),
         "was refused and arrived"),
    "a mail that nobody sent":
        (lambda s: s.evidence["mails"].append({"id": "<z@example.com>", "text": "hello"}),
         "nobody asked for it"),
    "a sentence is lost":
        (lambda s: take(s.evidence["sentences"], 2), "sentence 'sentence ann-2' was acknowledged"),
    "a sentence is there twice":
        (lambda s: s.evidence["sentences"].append({"agent": "bob", "text": "sentence bob-3"}),
         "'sentence bob-3' is stored 2 times"),
    "sentences changed their order":
        (lambda s: swap(s.evidence["sentences"], 0, 2), "out of order: 'sentence ann-2'"),
    "a sentence that nobody said":
        (lambda s: s.evidence["sentences"].append({"agent": "eve", "text": "boo"}),
         "nobody said it"),
    "a change without a record": (lambda s: take(s.evidence["audit"], 0), "no record of call_1"),
    "a broken trail": (lambda s: s.evidence.update(verified=(False, "link 4")), "link 4"),
}  # fmt: skip


class Checker(unittest.TestCase):
    def test_a_history_without_defect_passes(self):
        self.assertEqual(check(Story().evidence), [])

    def test_each_planted_defect_is_found(self):
        for name, (plant, said) in DEFECTS.items():
            with self.subTest(name):
                story = Story()
                plant(story)
                found = check(copy.deepcopy(story.evidence))
                self.assertTrue(any(said in one for one in found), f"{name}: {found}")


if __name__ == "__main__":
    unittest.main()
