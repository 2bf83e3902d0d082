"""Makes things go wrong: one fault after the other, sometimes two at once, each undone again."""

import json
import random
import signal
import time
import urllib.request

from processes import send, wait_until

# How long a fault lasts, in seconds, unless it says otherwise.
SHORT, LONG = (0.5, 4), (6, 16)
HOURS = 3600
# How soon after a fault has ended a booking must succeed, in seconds.
PATIENCE = 180


class Fault:
    """`begin` does it and returns how to undo it; `lasts` is the range of its length."""

    def __init__(self, name, begin, lasts=SHORT, weight=2, area=None):
        self.name, self.begin, self.lasts, self.weight = name, begin, lasts, weight
        # Two faults in one area are never at work at the same time.
        self.area = area or name.split()[0]


class Nemesis:
    def __init__(self, cluster, history, seed, say):
        self.cluster, self.history, self.say = cluster, history, say
        self.database, self.links = cluster.database, cluster.links
        self.dice = random.Random(f"{seed}/nemesis")
        self.faults = self.all_faults()
        self.log = []

    def all_faults(self):
        node, desk = "database", "desk"
        faults = [
            Fault("desk killed", self.desk_killed, weight=5),
            Fault("desk asked to stop", self.desk_stopped, weight=2),
            Fault("desk paused", self.desk_paused, lasts=(1, 12), weight=3),
            Fault("primary's PostgreSQL killed", self.postgres_killed, weight=4, area=node),
            Fault("primary killed with its Patroni", self.primary_killed, LONG, 4, node),
            Fault("primary paused", self.primary_paused, (2, 20), 3, node),
            Fault("Patroni of the primary paused", self.patroni_paused, (2, 20), 2, node),
            Fault("replica killed", self.replica_killed, weight=3, area=node),
            Fault("replica paused", self.replica_paused, (1, 12), 3, node),
            Fault("switchover", self.switchover, weight=2, area=node),
            Fault("etcd member killed", self.etcd_killed, weight=3),
            Fault("etcd member paused", self.etcd_paused, (1, 10), 2),
            Fault("etcd majority killed", self.etcd_majority_killed, (2, 15), 1),
            Fault("etcd peer cut off", self.etcd_peer_cut, (1, 10), 1),
            Fault("link desk to database cut", self.cut("desk"), weight=3, area=desk),
            Fault("link desk to database lost", self.hold("desk"), (1, 12), 3, desk),
            Fault("answers to a desk lost, then cut", self.mute("desk"), (0.5, 4), 4, desk),
            Fault("link desk to database slow", self.slow("desk"), (2, 8), 2, desk),
            Fault("link to a node cut", self.cut("sql"), (1, 10), 2, node),
            Fault("link to a node lost", self.hold("sql"), (1, 14), 3, node),
            Fault("link to a node slow", self.slow("sql"), (2, 8), 2, node),
            Fault("primary cut off from etcd", self.etcd_hidden, (2, 20), 2, node),
            Fault("primary cut off from everybody", self.isolated, (4, 20), 2, node),
            Fault("clock of a desk moved", self.clock_moved, (1, 10), 4, "clock"),
            Fault("balancer restarted", self.balancer_restarted, (0.1, 1), 1, "balancer"),
        ]
        if self.database.own_disks:
            full, lasts = self.disk_full, (2, 12)
            faults += [
                Fault("disk of the primary full", lambda: full(True), lasts, 2, node),
                Fault("disk of a replica full", lambda: full(False), lasts, 1, node),
            ]
        if self.cluster.with_pgbouncer:
            restart = self.pgbouncer_restarted
            faults.append(Fault("PgBouncer restarted", restart, (0.1, 2), 2, "pgbouncer"))
        return faults

    # --- desks ------------------------------------------------------------------

    def desk(self):
        return self.dice.choice(self.cluster.desks.each)

    def desk_killed(self):
        desk = self.desk()
        desk.kill()
        return desk.name, desk.start

    def desk_stopped(self):
        desk = self.desk()
        desk.terminate()
        return desk.name, desk.start

    def desk_paused(self):
        desk = self.desk()
        desk.pause()
        return desk.name, desk.resume

    def clock_moved(self):
        desk = self.cluster.desks.each[2]
        seconds = self.dice.choice((-30 * HOURS, -HOURS, -60, 60, HOURS, 30 * HOURS))
        desk.move_clock(seconds)
        return f"{desk.name} by {seconds} s", lambda: desk.move_clock(0)

    # --- nodes ------------------------------------------------------------------

    def primary(self):
        return wait_until("a primary", self.database.primary, 120)

    def node(self):
        return self.dice.choice(self.database.nodes)

    def postgres_killed(self):
        node = self.primary()
        if pid := node.postmaster():
            send(pid, signal.SIGKILL)
        return node.name, lambda: None

    def primary_killed(self):
        return self.kill(self.primary())

    def replica_killed(self):
        return self.kill(self.dice.choice(self.database.replicas()))

    @staticmethod
    def kill(process):
        process.kill()
        return process.name, process.start

    def primary_paused(self):
        return self.pause(self.primary())

    def replica_paused(self):
        return self.pause(self.dice.choice(self.database.replicas()))

    @staticmethod
    def pause(process):
        pids = process.pids()
        for pid in pids:
            send(pid, signal.SIGSTOP)
        return process.name, lambda: [send(pid, signal.SIGCONT) for pid in pids]

    def patroni_paused(self):
        node = self.primary()
        pid = node.child.pid
        send(pid, signal.SIGSTOP)
        return node.name, lambda: send(pid, signal.SIGCONT)

    def switchover(self):
        node = self.primary()
        port = self.database.ports[f"node{node.number}-rest"]
        body = json.dumps({"leader": node.name}).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/switchover", body, {"content-type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                said = answer.read().decode()
        except OSError as error:
            said = str(error)
        return f"{node.name}: {said[:80]}", lambda: None

    def disk_full(self, of_primary):
        node = self.primary() if of_primary else self.dice.choice(self.database.replicas())
        node.fill()
        return node.name, node.empty

    # --- etcd -------------------------------------------------------------------

    def etcd_killed(self):
        return self.kill(self.dice.choice(self.database.etcd))

    def etcd_paused(self):
        return self.pause(self.dice.choice(self.database.etcd))

    def etcd_majority_killed(self):
        victims = self.dice.sample(self.database.etcd, 2)
        for member in victims:
            member.kill()
        return " and ".join(one.name for one in victims), lambda: [one.start() for one in victims]

    def etcd_peer_cut(self):
        return self.on_link("hold")(f"peer-of-etcd{self.dice.choice((1, 2, 3))}")

    # --- links ------------------------------------------------------------------

    def a_link(self, kind):
        number = self.dice.choice((1, 2, 3))
        return f"desk{number}-to-database" if kind == "desk" else f"{kind}-of-node{number}"

    def on_link(self, mode, delay=0.0, cut=False):
        def begin(name):
            self.links[name].set(mode, delay)
            told = f"{name} {mode}" + (f" {delay * 1000:.0f} ms" if delay else "")
            return told, lambda: self.links[name].heal(cut)

        return begin

    def cut(self, kind):
        return lambda: self.on_link("refuse")(self.a_link(kind))

    def hold(self, kind):
        return lambda: self.on_link("hold", cut=self.dice.random() < 0.5)(self.a_link(kind))

    def mute(self, kind):
        return lambda: self.on_link("mute", cut=True)(self.a_link(kind))

    def slow(self, kind):
        return lambda: self.on_link("open", self.dice.uniform(0.02, 0.4))(self.a_link(kind))

    def etcd_hidden(self):
        return self.without_links([f"node{{}}-to-etcd{n}" for n in (1, 2, 3)])

    def isolated(self):
        links = [f"node{{}}-to-etcd{n}" for n in (1, 2, 3)]
        return self.without_links([*links, "sql-of-node{}", "rest-of-node{}"])

    def without_links(self, names):
        node = self.primary()
        links = [self.links[name.format(node.number)] for name in names]
        for link in links:
            link.set("hold")
        return node.name, lambda: [link.heal(cut=True) for link in links]

    # --- what stands between ----------------------------------------------------

    def balancer_restarted(self):
        return self.kill(self.database.haproxy)

    def pgbouncer_restarted(self):
        return self.kill(self.database.pgbouncer)

    # --- the run ----------------------------------------------------------------

    def rage(self, count, minutes):
        """So many faults, for so long at most. After each, a booking must succeed again."""
        slow, end = [], time.time() + minutes * 60
        while len(self.log) < count and time.time() < end:
            began = time.time()
            undo = [self.strike()]
            if self.dice.random() < 0.25:
                undo.append(self.strike(beside=self.log[-1]["area"]))
            for until, heal, entry in sorted(undo, key=lambda one: one[0]):
                time.sleep(max(0, until - time.time()))
                heal()
                entry["healed"] = time.time()
            seconds = self.until_a_booking()
            names = " + ".join(f"{one[2]['fault']} ({one[2]['where']})" for one in undo)
            if seconds is None:
                slow.append(f"no booking within {PATIENCE} s after: {names}")
                self.say(slow[-1])
            self.log[-1]["recovered"] = seconds
            self.say(
                f"fault {len(self.log)} of {count}: {names}: healed after "
                f"{max(one[2]['healed'] for one in undo) - began:.1f} s, next booking after "
                f"{'-' if seconds is None else format(seconds, '.1f')} s more"
            )
            time.sleep(self.dice.uniform(0.2, 2))
        return slow

    def strike(self, beside=None):
        fitting = [fault for fault in self.faults if fault.area != beside]
        fault = self.dice.choices(fitting, [fault.weight for fault in fitting])[0]
        lasts = self.dice.uniform(*fault.lasts)
        at = time.time()
        where, heal = fault.begin()
        entry = {"fault": fault.name, "where": where, "at": at, "area": fault.area}
        self.log.append(entry)
        return at + lasts, heal, entry

    def until_a_booking(self):
        """How long it took until a booking was acknowledged."""
        healed = time.time()
        while time.time() < healed + PATIENCE:
            if self.history.last_booking > healed:
                return self.history.last_booking - healed
            self.cluster.revive(self.say)
            time.sleep(0.05)
        return None
