"""The long run: clients, faults, and the check of what they were told."""

import json
import time
from pathlib import Path

from checker import check
from clients import Approver, Customer, Forgetful, Talker, Writer, call
from evidence import drain, gather, rooms_are_shared
from history import History
from nemesis import Nemesis

CUSTOMERS, FORGETFUL, WRITERS, TALKERS = 4, 1, 2, 3


def shows(port):
    """Two screenings of the last day that the sample cinema covers."""
    for day in range(8, 0, -1):
        date = time.strftime("%Y-%m-%d", time.gmtime(time.time() + day * 86400))
        answer = call(port, "cinema", "get_show_schedule", {"movie_id": "", "date": date})
        listed = answer["structuredContent"].get("schedules", [])
        if len(listed) >= 2:
            return [one["schedule_id"] for one in listed[:2]]
    raise RuntimeError("the sample cinema has no screenings")


class Crowd:
    """The clients of one run."""

    def __init__(self, cluster, seed, say, folder=None):
        file = Path(folder) / "history.jsonl" if folder else None
        self.history = History(file)
        self.with_rooms = rooms_are_shared(cluster)
        key = cluster.desks.json("keys", "create", "cluster")["key"]
        common = (cluster.port, self.history, seed, say)
        listed = shows(cluster.port)
        make = lambda kind, count, **more: [
            kind(f"{kind.__name__.lower()}{n}", *common, **more) for n in range(1, count + 1)
        ]
        self.clients = [
            *make(Customer, CUSTOMERS, shows=listed),
            *make(Forgetful, FORGETFUL, key=key),
            *make(Writer, WRITERS, key=key),
        ]
        if self.with_rooms:
            call(cluster.port, "rooms", "create_room", {"roomName": "lobby"})
            talkers = make(Talker, TALKERS)
            for one in talkers:
                arguments = {"agentName": one.name, "roomName": "lobby"}
                call(cluster.port, "rooms", "enter_room", arguments)
            self.clients += talkers
        self.approver = Approver(cluster.desks, say)

    def start(self):
        for one in (*self.clients, self.approver):
            one.start()
        return self

    def close(self):
        """The clients end what they began; the person goes last."""
        for one in self.clients:
            one.closing.set()
        for one in self.clients:
            one.join(300)
        self.approver.closing.set()
        self.approver.join(120)

    def strange(self):
        """How often which answer was no answer."""
        counts = {}
        for one in self.clients:
            for what, count in one.strange.items():
                counts[what] = counts.get(what, 0) + count
        return counts


def run(cluster, options, say):
    """Returns the problems that were found."""
    crowd = Crowd(cluster, options.seed, say, options.keep).start()
    say(f"the clients are at work; rooms {'too' if crowd.with_rooms else 'are in files: without'}")
    nemesis = Nemesis(cluster, crowd.history, options.seed, say)
    began = time.time()
    problems = nemesis.rage(options.faults, options.minutes)
    say("healing everything")
    cluster.heal()
    time.sleep(5)
    crowd.close()
    drain(cluster, say)
    found = gather(cluster, crowd.history, crowd.with_rooms)
    if options.keep:
        evidence = {**found, "faults": nemesis.log}
        Path(options.keep, "evidence.json").write_text(json.dumps(evidence, ensure_ascii=False))
    problems += check(found)
    report(crowd, nemesis, found, time.time() - began, say)
    return problems


def report(crowd, nemesis, found, seconds, say):
    say(f"{len(nemesis.log)} faults in {seconds / 60:.1f} minutes")
    by_name = {}
    for entry in nemesis.log:
        by_name.setdefault(entry["fault"], []).append(entry.get("recovered"))
    for name, waits in sorted(by_name.items()):
        known = [one for one in waits if one is not None]
        longest = f", longest wait afterwards {max(known):.1f} s" if known else ""
        say(f"{len(waits):>5} {name}{longest}")
    say("what the clients were told:")
    for (kind, outcome), count in sorted(crowd.history.kinds().items()):
        say(f"{count:>6} {kind} {outcome}")
    say("what was no answer, and was asked again:")
    for what, count in sorted(crowd.strange().items(), key=lambda one: -one[1])[:20]:
        say(f"{count:>6} {what}")
    for name in ("hooks", "mails"):
        repeated = len(found[name]) - len({one["id"] for one in found[name]})
        say(f"{len(found[name]):>6} {name}, {repeated} of them repeated under the same id")
    for one in found["sizes"]:
        say(f"{one['bytes']:>10} bytes in {one['rows']:>7} rows of {one['table']}")
    say(f"{len(found['audit']):>6} records in the audit trail: {found['verified'][1].splitlines()[:1]}")


def measure_failover(cluster, options, say):
    """From the moment the primary is killed to the first booking afterwards."""
    crowd = Crowd(cluster, options.seed, say).start()
    time.sleep(5)
    waits = []
    for turn in range(options.times):
        node = cluster.database.primary()
        began = time.time()
        node.kill()
        time.sleep(0.5)
        # Bookings that were answered before the primary was gone do not count.
        since = time.time()
        while crowd.history.last_booking < since:
            time.sleep(0.01)
            cluster.revive(say)
        waits.append(crowd.history.last_booking - began)
        say(f"{turn + 1} of {options.times}: {node.name}, {waits[-1]:.1f} s")
        node.start()
        cluster.heal()
        time.sleep(3)
    crowd.close()
    waits.sort()
    say(f"first booking after a killed primary: median {waits[len(waits) // 2]:.1f} s, "
        f"shortest {waits[0]:.1f} s, longest {waits[-1]:.1f} s, of {len(waits)}")  # fmt: skip
    return []
