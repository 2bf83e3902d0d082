"""The whole cluster: servers, desks, links and receivers in one temporary directory."""

import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

from database import Database
from desks import Desks
from links import Links
from processes import of_folder, own, send, wait_until
from receivers import hook_server, mail_server

# As systemd has it in RestartSec.
RESTART_SECONDS = 1


class Cluster:
    def __init__(self, program, older=None, pgbouncer=False, synchronous=True, ttl=10):
        self.folder = Path(tempfile.mkdtemp(prefix="madoguchi-cluster."))
        os.chmod(self.folder, 0o755)
        own(self.folder)
        self.links = Links()
        self.mails, self.hooks = mail_server(), hook_server()
        self.with_pgbouncer = pgbouncer
        self.database = Database(self.folder, self.links, synchronous, ttl)
        receivers = (self.mails, self.hooks)
        self.desks = Desks(self.database, self.links, receivers, program, older, pgbouncer)

    @property
    def port(self):
        """Where the desks are reached, whichever of them answers."""
        return self.database.ports["desks"]

    def start(self):
        self.database.start(self.with_pgbouncer)
        self.desks.command("demo", "load", "cinema")
        for desk in self.desks.each:
            desk.start()
            wait_until(f"{desk.name} ready", desk.is_ready, 60)
        return self

    def heal(self):
        """Undoes whatever was done to it, and waits until it is whole again."""
        self.links.heal()
        for process in self.processes():
            process.resume()
        for node in self.database.nodes:
            node.empty()
        for process in self.processes():
            wanted = process is not self.database.pgbouncer or self.with_pgbouncer
            if wanted and not process.is_running():
                process.start()
        for desk in self.desks.each:
            desk.move_clock(0)
        wait_until("the database whole again", self.database.is_whole, 180, 0.5)
        for desk in self.desks.each:
            wait_until(f"{desk.name} ready again", desk.is_ready, 120, 0.5)

    def revive(self, say):
        """Starts what ended by itself, as a service manager would."""
        for process in self.processes():
            ended = process.wanted and not process.is_running()
            if ended and time.monotonic() > process.started + RESTART_SECONDS:
                say(f"{process.name} ended by itself, with {process.child.returncode}")
                process.start()

    def processes(self):
        return [*self.database.processes(), *self.desks.each]

    def stop(self, keep=None):
        """Ends everything. `keep` is a folder for the logs."""
        for process in self.processes():
            process.send(signal.SIGKILL)
        # A PostgreSQL that Patroni just started has no number yet; it names its folder.
        for _ in range(3):
            for pid in of_folder(self.folder):
                send(pid, signal.SIGKILL)
        for process in self.processes():
            process.wait(5)
        self.database.unmount()
        if keep:
            keep = Path(keep)
            keep.mkdir(parents=True, exist_ok=True)
            shutil.copytree(self.folder / "logs", keep / "logs", dirs_exist_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)
