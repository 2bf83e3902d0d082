"""The command line of scripts/power-loss."""

import argparse
import collections
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import sites
from campaign import WAYS, Run, team

ROOT = Path(__file__).parent.parent.parent


def say(text):
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stdout.flush()


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/power-loss", description=__doc__)
    parser.add_argument("--program", default="target/debug/madoguchi")
    parser.add_argument("--crashes", type=int, default=100, help="how many in all (100)")
    parser.add_argument("--runs", type=int, default=3, help="each goes on from a crash of the last (3)")
    parser.add_argument("--seconds", type=float, default=6, help="of work in each run (6)")
    parser.add_argument("--kills", action="store_true", help="kills instead of power failures")
    parser.add_argument("--prove", action="store_true", help="leaves out each sync in turn")
    parser.add_argument("--only", default="", help="prove: only sites with this in their name")
    parser.add_argument("--tries", type=int, default=12, help="prove: crashes of each run for each sync (12)")
    parser.add_argument("--seed", default=str(random.randrange(10**6)))
    parser.add_argument("--keep", help="a folder for the disks on which something is wrong")
    options = parser.parse_args()
    options.program = str(Path(options.program).resolve())
    return options


def crash(run, points, dice, keep):
    """Crashes at these points and checks. Returns the problems, and the last sound state."""
    problems, sound = [], None
    for call, way, found in run.crashes(points, dice):
        run.restore(found)
        wrong = run.check(call.time)
        for one in wrong[:4]:
            problems.append(f"crash after line {call.ends} ({call.name}), {'/'.join(way)}: {one}")
        if wrong[4:]:
            problems.append(f"and {len(wrong[4:])} more")
        if wrong and keep:
            place = Path(keep) / f"{call.ends}-{'-'.join(way)}"
            shutil.rmtree(place, ignore_errors=True)
            run.restore(found)
            shutil.copytree(run.disk, place)
        if not wrong:
            sound = (call.time, found)
    return problems, sound


def spread(run, count, dice, ways):
    """Crashes all over the run, each in one of the ways."""
    calls = sorted(dice.choices(run.touched, k=count), key=lambda call: call.ends)
    return [(call, ways[at % len(ways)]) for at, call in enumerate(calls)]


def campaign(options, folder, library, names):
    dice = random.Random(options.seed)
    workers = team(options.seed)
    (folder / "disk" / "home").mkdir(parents=True)
    (folder / "disk" / "project").mkdir()
    (folder / "disk" / "copies").mkdir()
    problems, runs = [], []
    for number in range(options.runs):
        run = Run(options.program, folder, number, library)
        run.work(workers, options.seconds)
        if names:
            names.label(run.calls, run.disk)
        answered = collections.Counter(
            one.kind for worker in workers for one in worker.entries if one.done and not one.refused
        )
        say(f"run {number}: {len(run.calls)} calls, {len(run.touched)} on the disk, "
            f"answered {dict(answered)}")  # fmt: skip
        for what, times in sorted(run.strange.items()):
            say(f"  {times} times {what}")
        runs.append(run)
        count = max(options.crashes // options.runs, 1) if not options.prove else 3
        ways = (("all", "all"),) if options.kills else WAYS
        found, sound = crash(run, spread(run, count, dice, ways), dice, options.keep)
        for one in found:
            say(f"PROBLEM {one}")
        problems += found
        if sound is None:
            break
        moment, state = sound
        run.restore(state)
        for worker in workers:
            worker.forget_after(moment)
    return problems, runs


def prove(options, runs):
    """Leaves out every sync of one place, as if the call were not in the source, and looks for a
    crash that shows it. Prints a table."""
    places = sorted({call.site for run in runs for call in run.calls if call.path})
    rows = []
    for place in places:
        if options.only not in place:
            continue
        dice = random.Random(f"{options.seed}/{place}")
        shown, tried, began = None, 0, time.monotonic()
        for run in runs:
            shown, more = shown_by(run, place, dice, options.tries)
            tried += more
            if shown:
                break
        rows.append((place, bool(shown), shown or f"nothing in {tried} crashes"))
        say(f"{'found ' if shown else 'MISSED'} {place}: {rows[-1][2][:150]} "
            f"({time.monotonic() - began:.0f} s)")  # fmt: skip
    print("\n| sync | without it |\n|---|---|")
    for place, _, shown in rows:
        print(f"| `{place}` | {shown[:100]} |")
    seen = {place.split()[0] for place, _, _ in rows}
    for line in sites.in_source(ROOT):
        if line not in seen and not options.only:
            say(f"never called: {line}")
    return [place for place, found, _ in rows if not found]


def shown_by(run, place, dice, tries):
    """What is wrong after the first crash that shows something without the sync and nothing with
    it; and how many were tried. Where the sync makes no difference nothing needs to be tried."""
    points = [point for point, sound, found in both(run, place, after(run, place, dice)) if sound != found]
    points = sorted(dice.sample(points, min(tries, len(points))), key=lambda point: point[0].ends)
    for number, (point, sound, found) in enumerate(both(run, place, points), 1):
        call, way = point
        run.restore(found)
        if wrong := run.check(call.time):
            run.restore(sound)
            if not run.check(call.time):
                return f"{'/'.join(way)}: {wrong[0]}", number
    return None, len(points)


def both(run, place, points):
    """Each crash with the sync and without it."""
    with_it = run.crashes(points, random.Random(place))
    without = run.crashes(points, random.Random(place), {place})
    for point, (_, _, sound), (_, _, found) in zip(points, with_it, without):
        yield point, sound, found


def after(run, place, dice, count=120):
    """Crashes a little after syncs of this place: right after, and when answers have left. Only in
    ways without chance, so that a difference is made by the sync."""
    syncs = [at for at, call in enumerate(run.touched) if call.path and call.site == place]
    last = len(run.touched) - 1
    chosen = {
        (min(dice.choice(syncs) + dice.choice((1, 2, 3, 5, 8, 20, 60, 200)), last), way)
        for way in WAYS[:3] for _ in range(count // 3 if syncs else 0)
    }  # fmt: skip
    return [(run.touched[at], way) for at, way in sorted(chosen)]


def main():
    options = arguments()
    say(f"seed {options.seed}")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="madoguchi-power-") as folder:
        folder = Path(folder).resolve()
        library = sites.build(folder)
        names = sites.Sites(options.program) if options.prove else None
        problems, runs = campaign(options, folder, library if names else None, names)
        if options.prove and not problems:
            problems = prove(options, runs)
    say(f"{len(problems)} problems" if problems else "everything that was answered was there")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
