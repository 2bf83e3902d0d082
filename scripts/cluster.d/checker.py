"""Reads the history of the clients and what is left in the end, and says what must not be.

A client is certain of what it was told. What it was never told may have happened or not, once.

The evidence: {
    "history":      entries as history.py describes them,
    "reservations": rows of the cinema: id, show_id, seats ("C1, C2"), status,
    "owners":       the reservation of each taken seat: show_id, seat, reservation_id,
    "reminders":    rows of the reminders: id, note,
    "messages":     rows of the outbox: id, body,
    "hooks":        what the webhook took: id, text,
    "mails":        what the mail server took: id, text,
    "sentences":    what is in the room, in its order: agent, text,
    "audit":        records of the audit trail: call, outcome,
    "verified":     what `audit verify` said, and whether it found nothing,
}
"""

from collections import Counter

from history import OK, REFUSED, UNKNOWN


def check(evidence):
    """Every problem, as a line of text."""
    problems = []
    history = evidence["history"]
    for rule in (
        one_owner, reservations_kept, reservations_explained, answered_alike, reminders, messages,
        sentences, audit,
    ):  # fmt: skip
        problems += rule(evidence, history)
    return problems


def of_kind(history, kind, *outcomes):
    return [one for one in history if one["kind"] == kind and one["outcome"] in outcomes]


def reservation_of(entry):
    return entry["answer"]["reservation"]["reservation_id"]


def seats_of(entry):
    show = entry["arguments"]["schedule_id"]
    return {(show, seat) for seat in entry["arguments"]["seat_ids"]}


def cancellations(history):
    """The requests to cancel each reservation."""
    found = {}
    for entry in of_kind(history, "cancel", OK, REFUSED, UNKNOWN):
        found.setdefault(entry["arguments"]["reservation_id"], []).append(entry)
    return found


def one_owner(_, history):
    """A seat certainly belongs to a reservation from its answer to the request to cancel it."""
    problems, owned, ends = [], {}, cancellations(history)
    for entry in of_kind(history, "reserve", OK):
        id = reservation_of(entry)
        until = min((one["invoked"] for one in ends.get(id, [])), default=float("inf"))
        for seat in seats_of(entry):
            for other, start, end in owned.get(seat, []):
                if other != id and max(start, entry["answered"]) < min(end, until):
                    problems.append(f"{seat} has two owners: {other} and {id}")
            owned.setdefault(seat, []).append((id, entry["answered"], until))
    return problems


def seats_of_row(row):
    return {(row["show_id"], seat) for seat in row["seats"].split(", ")}


def reservations_kept(evidence, history):
    """What was acknowledged is stored."""
    problems, ends = [], cancellations(history)
    rows = {row["id"]: row for row in evidence["reservations"]}
    owners = {(one["show_id"], one["seat"]): one["reservation_id"] for one in evidence["owners"]}
    for entry in of_kind(history, "reserve", OK):
        id, row = reservation_of(entry), rows.get(reservation_of(entry))
        outcomes = {one["outcome"] for one in ends.get(id, [])}
        if row is None:
            problems.append(f"lost: reservation {id} was acknowledged ({entry['key']})")
        elif OK in outcomes and row["status"] != "cancelled":
            problems.append(f"lost: the cancellation of {id} was acknowledged, it is {row['status']}")
        elif not outcomes and row["status"] != "confirmed":
            problems.append(f"lost: {id} is {row['status']}, and nobody cancelled it")
        elif row["status"] == "confirmed":
            if seats_of_row(row) != seats_of(entry):
                problems.append(f"{id} has {row['seats']}, not {entry['arguments']['seat_ids']}")
            for seat in seats_of(entry):
                if owners.get(seat) != id:
                    problems.append(f"lost: {seat} of {id} belongs to {owners.get(seat)}")
    return problems


def reservations_explained(evidence, history):
    """Each stored reservation was made by one request: nothing was done twice."""
    problems = []
    acknowledged = Counter(reservation_of(one) for one in of_kind(history, "reserve", OK))
    for id, count in acknowledged.items():
        if count > 1:
            problems.append(f"{count} requests were told that they made {id}")
    unknown = Counter(
        frozenset(seats_of(one)) for one in of_kind(history, "reserve", UNKNOWN)
    )
    for row in evidence["reservations"]:
        seats = frozenset(seats_of_row(row))
        if row["id"] in acknowledged:
            continue
        if unknown[seats]:
            unknown[seats] -= 1
        else:
            problems.append(f"twice or never asked for: {row['id']} has {row['seats']}")
    return problems


def answered_alike(_, history):
    """The same request with the same key has the same answer."""
    # The answer about a message also counts what came since.
    essence = lambda answer: answer.get("messageId", answer)
    again = of_kind(history, "again", OK)
    differ = [
        one for one in again
        if essence(one["answer"]["first"]) != essence(one["answer"]["second"])
    ]  # fmt: skip
    return [f"answered differently: {one['key']}: {one['answer']}" for one in differ]


def delivered(what, history, kind, wanted, received):
    """Each text arrives once, by the id under which a receiver recognises it. Another delivery of
    the same id is none: whoever sent it died before it knew that it had been taken."""
    problems, ids = [], {}
    for one in received:
        ids.setdefault(one["text"], set()).add(one["id"])
    outcomes = {wanted(one): one["outcome"] for one in history if one["kind"] == kind}
    for text, outcome in outcomes.items():
        count = len(ids.get(text, ()))
        if outcome == OK and count == 0:
            problems.append(f"lost: {what} {text!r} was acknowledged and never arrived")
        if outcome == REFUSED and count:
            problems.append(f"{what} {text!r} was refused and arrived")
        if count > 1:
            problems.append(f"twice: {what} {text!r} arrived as {sorted(ids[text])}")
    for text in ids.keys() - outcomes.keys():
        problems.append(f"{what} {text!r} arrived, and nobody asked for it")
    return problems


def stored_once(what, history, kind, wanted, rows, field):
    """Each text has one row; none if it was refused."""
    problems, counts = [], Counter(row[field] for row in rows)
    for entry in history:
        if entry["kind"] != kind:
            continue
        text, count = wanted(entry), counts[wanted(entry)]
        if entry["outcome"] == OK and count == 0:
            problems.append(f"lost: {what} {text!r} was acknowledged and is not stored")
        if count > 1:
            problems.append(f"twice: {what} {text!r} is stored {count} times")
    return problems


def reminders(evidence, history):
    note = lambda entry: entry["arguments"]["note"]
    return [
        *delivered("reminder", history, "remind", note, evidence["hooks"]),
        *stored_once("reminder", history, "remind", note, evidence["reminders"], "note"),
    ]


def messages(evidence, history):
    text = lambda entry: entry["arguments"]["text"]
    return [
        *delivered("mail", history, "send", text, evidence["mails"]),
        *stored_once("mail", history, "send", text, evidence["messages"], "body"),
    ]


def sentences(evidence, history):
    """Each sentence is in the room once, and those of one agent in the order they were said."""
    said = [one for one in history if one["kind"] == "say"]
    text = lambda entry: entry["arguments"]["message"]
    problems = stored_once("sentence", history, "say", text, evidence["sentences"], "text")
    places = {}
    for place, one in enumerate(evidence["sentences"]):
        places.setdefault(one["text"], place)
    last = {}
    for entry in sorted(said, key=lambda one: one["invoked"]):
        place, agent = places.get(text(entry)), entry["arguments"]["agentName"]
        if place is None or entry["outcome"] != OK:
            continue
        if place < last.get(agent, -1):
            problems.append(f"out of order: {text(entry)!r}")
        last[agent] = place
    unasked = places.keys() - {text(entry) for entry in said}
    return problems + [f"{one!r} is in the room, and nobody said it" for one in sorted(unasked)]


CHANGES = ("reserve", "cancel", "remind", "send", "say")


def audit(evidence, history):
    """The trail is whole, and has a record of each acknowledged change."""
    fine, said = evidence["verified"]
    problems = [] if fine else [f"the audit trail does not verify: {said}"]
    done = {one["call"] for one in evidence["audit"] if one.get("outcome") == "done"}
    for entry in history:
        if entry["kind"] in CHANGES and entry["outcome"] == OK:
            for call in entry["calls"]:
                if call not in done:
                    problems.append(f"no record of {call} ({entry['kind']} {entry['key']})")
    return problems
