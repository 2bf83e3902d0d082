"""The processes of the cluster: started as an ordinary user, signalled, and never left behind."""

import os
import random
import signal
import socket
import subprocess
import time
from pathlib import Path

SYSTEM_USER = "postgres"


def is_root():
    return os.geteuid() == 0


def own(path):
    """Gives a file or folder to the user that the servers run as."""
    if is_root():
        import pwd

        entry = pwd.getpwnam(SYSTEM_USER)
        os.chown(path, entry.pw_uid, entry.pw_gid)
    return path


def drop_rights(command, in_time=False):
    """The command as that user. It ends with this process, whatever ends this process. Those that
    have to be in time come first: on machines of their own nobody would keep them waiting."""
    prefix = ["setpriv", "--pdeathsig", "KILL"]
    if is_root():
        prefix = [*(["nice", "-n", "-5"] if in_time else []), *prefix]
        prefix += [f"--reuid={SYSTEM_USER}", f"--regid={SYSTEM_USER}", "--clear-groups"]
    return [*prefix, *command]


def free_ports(count):
    """Ports below those that the system gives to outgoing connections."""
    held = []
    while len(held) < count:
        listener = socket.socket()
        try:
            listener.bind(("127.0.0.1", random.randrange(15000, 32000)))
        except OSError:
            listener.close()
            continue
        held.append(listener)
    ports = [listener.getsockname()[1] for listener in held]
    for listener in held:
        listener.close()
    return ports


def wait_until(what, condition, seconds, pause=0.1):
    """The first true value of `condition`. An error in it counts as false."""
    deadline = time.monotonic() + seconds
    problem = None
    while time.monotonic() < deadline:
        try:
            value = condition()
            if value:
                return value
        except Exception as error:  # The last one is told.
            problem = error
        time.sleep(pause)
    raise TimeoutError(f"{what}: not within {seconds} s" + (f" ({problem})" if problem else ""))


class Process:
    """A program that can be killed, paused and started again."""

    in_time = False

    def __init__(self, name, command, folder, environment=None):
        self.name = name
        self.command = command
        self.folder = Path(folder)
        self.environment = environment or {}
        self.log = self.folder / "logs" / f"{name}.log"
        self.child = None
        # Whether it should be running: it was started, and nobody ended it.
        self.wanted = False
        self.started = 0.0

    def start(self):
        assert not self.is_running(), self.name
        self.wanted, self.started = True, time.monotonic()
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8"}
        with open(self.log, "ab") as log:
            self.child = subprocess.Popen(
                drop_rights(self.command, self.in_time),
                cwd=self.folder,
                env={**environment, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def is_running(self):
        return self.child is not None and self.child.poll() is None

    def pids(self):
        """The process and everything under it."""
        return [self.child.pid, *descendants(self.child.pid)] if self.is_running() else []

    def send(self, number):
        for pid in self.pids():
            send(pid, number)

    def pause(self):
        self.send(signal.SIGSTOP)

    def resume(self):
        self.send(signal.SIGCONT)

    def kill(self):
        self.wanted = False
        self.send(signal.SIGKILL)
        self.wait(10)

    def terminate(self, seconds=40):
        self.wanted = False
        if self.is_running():
            send(self.child.pid, signal.SIGTERM)
            self.wait(seconds)

    def wait(self, seconds):
        if self.child is not None:
            try:
                self.child.wait(seconds)
            except subprocess.TimeoutExpired:
                self.send(signal.SIGKILL)
                self.child.wait(10)


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def parents():
    """The parent of each process of this machine."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            # The name, in brackets, may hold anything.
            found[int(entry)] = int(stat.rsplit(")", 1)[1].split()[1])
    return found


def descendants(root):
    by_parent = {}
    for pid, parent in parents().items():
        by_parent.setdefault(parent, []).append(pid)
    found, next_ones = [], [root]
    while next_ones:
        children = by_parent.get(next_ones.pop(), [])
        found += children
        next_ones += children
    return found


def of_folder(folder):
    """Every process whose command line names a folder of this cluster: a PostgreSQL outlives the
    Patroni that started it."""
    found, wanted = [], str(folder).encode()
    for pid in parents():
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if wanted in line and pid != os.getpid():
            found.append(pid)
    return found
