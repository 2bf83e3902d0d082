"""The program on stdio, alone or under valgrind."""

import glob
import json
import os
import subprocess
import time
from pathlib import Path

TODAY, DAY = "2026-11-16", "2026-11-18"
# Calls are counted in groups of so many. The first group fills caches.
GROUP = 5
CONFIG = """
[approval]
tools = { "innervoice.reminder_create" = "allow" }
[rooms]
sends_per_minute = 0
"""


class Talk:
    """One process, under valgrind if its instructions are to be counted."""

    def __init__(self, program, counter, folder, counts=True):
        self.counts = folder / "callgrind.out"
        tool = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={self.counts}"] if counts else []
        self.error = open(folder / "stderr", "w+")
        self.child = subprocess.Popen(
            [*tool, *command(program, folder, "stdio", counter)], cwd=folder, env=environment(folder),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.error, text=True,
        )  # fmt: skip
        self.next = self.dumps = 0

    def call(self, tool, arguments):
        self.next += 1
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": self.next, "method": "tools/call", "params": params}
        self.child.stdin.write(json.dumps(message) + "\n")
        self.child.stdin.flush()
        while line := self.child.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == self.next:
                break
        else:
            raise SystemExit(f"it ended: {self.said()}")
        result = answer.get("result")
        if not result or result.get("isError"):
            raise SystemExit(f"{tool} was refused: {line}")
        return result["structuredContent"]

    def count(self):
        """The instructions since the last count."""
        self.rest()
        asked = ["callgrind_control", "--dump", str(self.child.pid)]
        subprocess.run(asked, check=True, capture_output=True, timeout=120)
        self.dumps += 1
        counts = Path(f"{self.counts}.{self.dumps}")
        until = time.monotonic() + 60
        while True:
            lines = counts.read_text().splitlines() if counts.exists() else []
            totals = [line for line in lines if line.startswith("totals: ")]
            if totals:
                return int(totals[-1].split()[1])
            if time.monotonic() > until:
                raise SystemExit(f"{asked} wrote nothing")
            time.sleep(0.1)

    def rest(self):
        """Waits until the process does nothing. A read is written to the audit after its answer."""
        used, before = self.used(), None
        until = time.monotonic() + 60
        while used != before and time.monotonic() < until:
            time.sleep(0.2)
            used, before = self.used(), used

    def used(self):
        """The processor time so far, in ticks."""
        fields = Path(f"/proc/{self.child.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    def each(self, calls):
        """The instructions of one of these calls. Work in the background falls into some groups."""
        counts = []
        while calls:
            for tool, arguments in calls[:GROUP]:
                self.call(tool, arguments)
            calls = calls[GROUP:]
            counts.append(self.count())
        return round(min(counts[1:]) / GROUP)

    def end(self):
        self.child.stdin.close()
        self.child.kill()
        self.child.wait()

    def said(self):
        self.error.seek(0)
        return self.error.read()[-2000:]


def command(program, folder, *arguments):
    config, data = str(folder / "madoguchi.toml"), str(folder / "data")
    return [program, *arguments, "--config", config, "--data", data]


def environment(folder):
    """The same day for everybody, because the sample cinema depends on it."""
    preload = sorted(glob.glob("/usr/lib/*/faketime/libfaketime.so.1"))
    if not preload:
        raise SystemExit("libfaketime is missing: apt-get install libfaketime")
    return {
        "PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "TZ": "UTC",
        "LD_PRELOAD": preload[0], "FAKETIME": f"@{TODAY} 03:00:00", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }  # fmt: skip
