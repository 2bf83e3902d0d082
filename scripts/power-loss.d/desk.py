"""The program on a disk: a desk, commands beside it, and a stdio process; all of them traced, or
none."""

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "cluster.d"))

from clients import Nothing, call, code_of  # noqa: E402
from processes import descendants, free_ports, send, wait_until  # noqa: E402

import trace  # noqa: E402

CONFIG = """
[http]
drain_seconds = 0
[approval]
hold_seconds = 20
tools = { "innervoice.reminder_create" = "allow", "innervoice.calendar_create" = "allow" }
[limits]
requests_per_minute = { innervoice = 100000 }
[rooms]
max_messages = 40
sends_per_minute = 0
[innervoice]
undo_seconds = 3600
[audit]
ship_to = "{home}/heads.jsonl"
ship_seconds = 1
"""


class Refused(Exception):
    """The program's own answer: an error with a code."""

    def __init__(self, code, content):
        super().__init__(f"{code}: {json.dumps(content, ensure_ascii=False)[:300]}")
        self.code = code


class Desk:
    """One run. `folder` has logs and the disk, whose path is always the same."""

    def __init__(self, program, folder, traced, sites=None):
        self.program, self.folder, self.traced = program, Path(folder), traced
        self.disk = self.folder / "disk"
        self.data, self.project = self.disk / "home" / "data", self.disk / "project"
        self.log = self.folder / "trace"
        self.count = 0
        self.lock = threading.Lock()
        (self.folder / "madoguchi.toml").write_text(CONFIG.replace("{home}", str(self.disk / "home")))
        self.out = self.folder / "out"
        self.out.mkdir(exist_ok=True)
        for old in self.out.iterdir():
            old.unlink()
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.disk / "home"), "LANG": "C.UTF-8"}
        self.preload = ["env", f"LD_PRELOAD={sites}"] if sites else []
        # Starts every line of its input, beside the others.
        loop = ["sh", "-c", 'while read -r line; do eval "$line" & done; wait']
        command = [*trace.command(self.log), *loop] if traced else loop
        self.shell = subprocess.Popen(
            command, cwd=self.disk, env=environment, stdin=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip
        self.port, self.own_port = free_ports(2)
        self.child_log = self.out / "serve.err"

    def line(self, *arguments, data=None):
        config = ("--config", str(self.folder / "madoguchi.toml"), "--data", str(data or self.data))
        return shlex.join(["exec", *self.preload, self.program, *arguments, *config])

    def begin(self, line):
        with self.lock:
            self.shell.stdin.write(line + "\n")
            self.shell.stdin.flush()

    def start(self, seconds=60):
        """Serves until the end of this run."""
        line = self.line(
            "serve", "--port", str(self.port), "--merchant-port", "0",
            "--innervoice-port", str(self.own_port), "--root", str(self.project),
        )  # fmt: skip
        pid = self.out / "serve.pid"
        self.begin(f"({line}) >{self.out}/serve.out 2>{self.child_log}; echo $? >{pid}")

        def ready():
            if pid.exists() and pid.read_text():
                raise SystemError(f"it ended: {self.child_log.read_text()[-1500:]}")
            return is_ready(self.port)

        deadline = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > deadline:
                raise SystemError(f"it is not ready: {self.child_log.read_text()[-1500:]}")
            time.sleep(0.02)
        return self

    def run(self, *arguments, seconds=60, data=None):
        """A command, on the desk's data unless others are named: its exit code and what it prints."""
        with self.lock:
            self.count += 1
            name = self.out / f"command-{self.count}"
        self.begin(f"({self.line(*arguments, data=data)}) </dev/null >{name}.out 2>{name}.err; "
                   f"echo $? >{name}.tmp; mv {name}.tmp {name}.code")  # fmt: skip
        code = Path(f"{name}.code")
        wait_until(" ".join(arguments), code.exists, seconds, 0.01)
        texts = [Path(f"{name}.{end}").read_text() for end in ("out", "err")]
        return int(code.read_text()), *texts

    def succeed(self, *arguments, data=None):
        """A command that has to succeed: what it prints."""
        code, out, err = self.run(*arguments, data=data)
        if code != 0:
            raise Refused(f"exit {code}: {(err.strip() or out.strip())[-200:]}", "")
        return out

    def json(self, *arguments):
        return json.loads(self.succeed(*arguments, "--json"))

    def call(self, counter, tool, arguments, key=None):
        """The answer of a tool, with the id of the call."""
        result = call(self.port, counter, tool, arguments, key, timeout=60)
        content = result.get("structuredContent", {})
        if result.get("isError"):
            raise Refused(code_of(result), content)
        return {**content, "call": result.get("_meta", {}).get("madoguchi/call")}

    def stdio(self, counter):
        return Stdio(self, counter)

    def kill(self):
        """The processes at once, and the tracer when it has written everything."""
        for pid in descendants(self.shell.pid):
            send(pid, signal.SIGKILL)
        if not self.traced:
            send(self.shell.pid, signal.SIGKILL)
        try:
            self.shell.stdin.close()
        except OSError:
            pass
        try:
            self.shell.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self.shell.pid, signal.SIGKILL)
            self.shell.wait(10)


class Stdio:
    """A counter on standard input and output."""

    def __init__(self, desk, counter):
        with desk.lock:
            desk.count += 1
            name = desk.out / f"stdio-{desk.count}"
        for end in ("in", "out"):
            os.mkfifo(f"{name}.{end}")
        line = desk.line("stdio", counter, "--root", str(desk.project))
        desk.begin(f"({line}) <{name}.in >{name}.out 2>{name}.err")
        self.input, self.output = open(f"{name}.in", "w"), open(f"{name}.out")
        self.next = 0

    def call(self, tool, arguments):
        self.next += 1
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": self.next, "method": "tools/call", "params": params}
        try:
            self.input.write(json.dumps(message, ensure_ascii=False) + "\n")
            self.input.flush()
            while True:
                line = self.output.readline()
                if not line:
                    raise Nothing("it ended")
                answer = json.loads(line)
                if answer.get("id") == self.next:
                    break
        except OSError as error:
            raise Nothing(str(error)) from error
        result = answer["result"]
        content = result.get("structuredContent", {})
        if result.get("isError"):
            raise Refused(code_of(result), content)
        return {**content, "call": result.get("_meta", {}).get("madoguchi/call")}


def is_ready(port):
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()
