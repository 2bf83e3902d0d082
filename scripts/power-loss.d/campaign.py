"""A run of the workers under trace, crashes at many moments of it, and what is found afterwards."""

import copy
import shutil
import threading
import time
from pathlib import Path

import disk as disks
import trace
from archive import Archivist
from desk import Desk, Nothing, Refused
from replay import Replay
from talk import Planner, Talker
from workloads import Auditor, Customer, Locksmith, Owner, Secretary, Storekeeper

# What happens to names and to data that are not safe. The first three find a missing sync at
# once; the others are what real file systems do.
WAYS = (
    ("none", "none"), ("all", "none"), ("none", "all"), ("all", "zeros"), ("first", "first"),
    ("some", "some"), ("all", "some"), ("first", "zeros"), ("all", "all"),
)  # fmt: skip


def team(seed):
    workers = [
        *(Customer(f"customer{n}", seed) for n in range(2)),
        *(Talker(f"talker{n}", seed) for n in range(2)),
        Planner("planner", seed, False), Planner("typist", seed, True),
        Storekeeper("storekeeper", seed, 2),
        Secretary("secretary", seed, False), Secretary("writer", seed, True),
        Locksmith("locksmith", seed), Owner("owner", seed), Archivist("archivist", seed),
    ]  # fmt: skip
    return [*workers, Auditor("auditor", seed, list(workers))]


class Run:
    """Everything that happened between one start and the end of its desk."""

    def __init__(self, program, folder, number, sites=None):
        self.program, self.folder, self.sites = program, Path(folder), sites
        self.disk = self.folder / "disk"
        self.before = self.folder / f"before-{number}"
        self.strange = {}
        self.broken = []

    def work(self, workers, seconds):
        """Lets them work on the disk as it is, and reads the trace."""
        shutil.copytree(self.disk, self.before, symlinks=True)
        desk = Desk(self.program, self.folder, True, self.sites)
        closing = threading.Event()
        try:
            desk.start()
            for worker in workers:
                worker.prepare(desk)
            threads = [
                threading.Thread(target=self.keep_busy, args=(one, desk, closing), daemon=True)
                for one in workers
            ]
            for thread in threads:
                thread.start()
            time.sleep(seconds)
            closing.set()
            for thread in threads:
                thread.join(60)
            # The last syncs are made after the answers.
            time.sleep(0.3)
        finally:
            closing.set()
            desk.kill()
        if self.broken:
            raise SystemError("a worker broke off") from self.broken[0]
        self.calls = trace.read(desk.log)
        desk.log.unlink()
        replay = self.replay()
        model = replay.all()
        if wrong := model.differences():
            raise SystemError("the model is wrong: " + "; ".join(wrong[:5]))
        self.touched = replay.touched
        for worker in workers:
            worker.rest()
        self.workers = copy.deepcopy(workers)

    def replay(self, ignored=()):
        """What was on the disk before, as the model of the disk's own path."""
        model = disks.Disk(self.disk, load=False)
        model.load(model.root, self.before)
        model.ignored = set(ignored)
        return Replay(model, self.calls, self.disk)

    def keep_busy(self, worker, desk, closing):
        while not closing.is_set():
            try:
                worker.act(desk)
                if worker.entries and worker.entries[-1].refused:
                    self.note(worker, worker.entries[-1].refused)
            except (Nothing, OSError, TimeoutError) as problem:
                if not closing.is_set():
                    self.note(worker, str(problem))
                    time.sleep(0.1)
            except Exception as problem:
                self.broken.append(problem)
                raise

    def note(self, worker, what):
        what = f"{worker.name}: {what[:100]}"
        self.strange[what] = self.strange.get(what, 0) + 1

    def crashes(self, points, dice, ignored=()):
        """The disk after crashes right after these calls: the call, the way, and what is found.
        `points` are calls with a way each, in the order of the calls."""
        replay = self.replay(ignored)
        for call, way in points:
            model = replay.until(call.ends)
            yield call, way, model.remains(dice, *way)

    def restore(self, found):
        shutil.rmtree(self.disk)
        disks.write(found, self.disk)

    def check(self, moment):
        """Starts the program on the disk and lets everybody look. Returns what is wrong.

        The time of a crash is that of the line in the trace: what was answered before it was
        done by calls that are before it."""
        return check(self.program, self.folder, copy.deepcopy(self.workers), moment)


def check(program, folder, workers, moment):
    """Starts the program on the disk and lets everybody look. Returns what is wrong."""
    desk = Desk(program, folder, False)
    wrong = []
    try:
        try:
            desk.start(30)
        except (SystemError, OSError) as problem:
            return [f"the desk does not start: {problem}"]
        for worker in workers:
            entries = worker.until(moment)
            try:
                found = worker.check(desk, entries)
                if isinstance(worker, Auditor):
                    found = worker.check_trail(desk, entries, moment)
            except (Nothing, Refused, OSError, TimeoutError, KeyError, ValueError) as problem:
                found = [f"{type(problem).__name__}: {problem}"]
            wrong += [f"{worker.name}: {one}" for one in found]
    finally:
        desk.kill()
    return wrong
