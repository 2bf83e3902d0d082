"""Counts what `bench/instructions.json` knows, and compares."""

import concurrent.futures
import json
import subprocess
import tempfile
from pathlib import Path

from calls import ALL, CALLS
from talk import CONFIG, Talk, command, environment

ROOT = Path(__file__).resolve().parent.parent.parent
FILE = ROOT / "bench" / "instructions.json"
MOST_MORE = 1.03


def counted(program, counter):
    """The instructions of one call of each tool."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="madoguchi-instructions-") as folder:
        folder = Path(folder)
        (folder / "madoguchi.toml").write_text(CONFIG)
        if counter in ("cinema", "merchant"):
            load = command(program, folder, "demo", "load", counter)
            subprocess.run(load, env=environment(folder), check=True, capture_output=True)
        talk = Talk(program, counter, folder)
        for tool, prepare in CALLS[counter].items():
            found[tool] = talk.each(prepare(talk.call)[:ALL])
        talk.end()
    return found


def least(program, counter, known):
    """The least of up to three counts: a second one if the first is above what is known."""
    found = counted(program, counter)
    for _ in range(2):
        if not any(each > known.get(tool, each) * MOST_MORE for tool, each in found.items()):
            break
        again = counted(program, counter)
        found = {tool: min(each, again[tool]) for tool, each in found.items()}
    return found


def count(program, only, known):
    counters = [counter for counter in CALLS if only in ("", counter)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda one: least(program, one, known.get(one, {})), counters)
        return dict(zip(counters, found))


def made_with():
    """What the counts depend on besides the source. Libraries choose other code where there is AVX2."""
    version = [
        subprocess.run([tool, "--version"], check=True, capture_output=True, text=True).stdout.strip()
        for tool in ("rustc", "valgrind")
    ]
    has_avx2 = " avx2 " in Path("/proc/cpuinfo").read_text()
    return {"compiler": version[0], "profile": "dev", "valgrind": version[1], "avx2": has_avx2}


def guard(options):
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    expected = known.get("calls", {}) if not options.write else {}
    found = count(options.program, options.only, expected)
    risen = []
    for counter, tools in found.items():
        for tool, each in tools.items():
            before = known.get("calls", {}).get(counter, {}).get(tool)
            ratio = each / before if before else None
            print(f"{counter:12} {tool:20} {each:>14,} {f'{ratio:.3f}' if ratio else 'new'}")
            if ratio is None or ratio > MOST_MORE:
                risen.append(f"{counter} {tool}")
    if options.write:
        content = {"made_with": made_with(), "calls": {**known.get("calls", {}), **found}}
        FILE.write_text(json.dumps(content, indent=2) + "\n")
    elif options.check and risen:
        print(f"more than 3 % above bench/instructions.json: {', '.join(risen)}")
        if known.get("made_with") != made_with():
            print(f"no failure: the file was made with {known.get('made_with')}, this is {made_with()}")
        else:
            print("If that is wanted, run scripts/instructions --write, and say why in the commit.")
            return 1
    return 0
