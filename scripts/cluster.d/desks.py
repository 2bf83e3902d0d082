"""The desks: one program each, with a data directory of its own, on the shared database."""

import glob
import http.client
import json
import os
import subprocess

from database import NAME, PASSWORD, ROLE, write
from processes import Process, drop_rights, own

CONFIG = """
[http]
shutdown_seconds = 10
# All clients come from one address, the balancer's.
max_connections_per_address = 0
[approval]
hold_seconds = 8
tools = {{ "innervoice.reminder_create" = "allow" }}
[limits]
requests_per_minute = {{ innervoice = 3000 }}
[rooms]
sends_per_minute = 0
[innervoice]
undo_seconds = 1
smtp_url = "smtp://127.0.0.1:{mail}"
smtp_from = "Desk <desk@example.com>"
webhook_url = "http://127.0.0.1:{hook}/reminders"
{more}
"""


def fake_time():
    """Debian's libfaketime, which makes the clock of a process follow a file."""
    found = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
    return found[0] if found else None


class Desk(Process):
    def __init__(self, number, program, database, config, environment):
        folder, ports = database.folder, database.ports
        data = folder / f"desk{number}"
        data.mkdir(exist_ok=True)
        own(data)
        self.number, self.program, self.data = number, program, data
        self.port = ports[f"desk{number}"]
        command = [
            program, "serve", "--config", str(config), "--data", str(data),
            "--port", str(self.port), "--merchant-port", "0", "--innervoice-port", "0",
        ]  # fmt: skip
        self.clock = write(data / "clock", "+0s\n")
        # One desk has a clock that can be moved. Not by its environment: whoever starts it as
        # another user would have that clock too.
        if number == 3 and fake_time():
            clock = [f"LD_PRELOAD={fake_time()}", f"FAKETIME_TIMESTAMP_FILE={self.clock}"]
            command = ["env", *clock, "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1",
                       *command]  # fmt: skip
        super().__init__(f"desk{number}", command, folder, environment)

    def move_clock(self, seconds):
        # Written beside and renamed: the desk never reads half of it.
        fresh = write(self.data / "clock.new", f"{seconds:+d}s\n")
        os.replace(fresh, self.clock)

    def is_ready(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()


class Desks:
    """Three desks, and the command line on the same data."""

    def __init__(self, database, links, receivers, program, older=None, pgbouncer=False):
        mail, hook = receivers
        self.database, self.program = database, program
        ports = database.ports
        through = ports["pgbouncer"] if pgbouncer else ports["database"]
        more = ""
        if pgbouncer:
            direct = self.url(ports["database"])
            more = f'[database]\npgbouncer = true\nlisten_url = "{direct}"\n'
        text = CONFIG.format(mail=mail.port, hook=hook.port, more=more)
        self.config = write(database.folder / "madoguchi.toml", text)
        self.each = []
        for number in (1, 2, 3):
            name = f"desk{number}-to-database"
            links.add(name, ports[name], through)
            environment = {"MADOGUCHI_DATABASE__URL": self.url(ports[name])}
            chosen = older if older and number == 1 else program
            self.each.append(Desk(number, chosen, database, self.config, environment))
        # The command line has a way of its own, which nobody cuts.
        self.environment = {"MADOGUCHI_DATABASE__URL": self.url(through)}

    @staticmethod
    def url(port):
        return f"postgres://{ROLE}:{PASSWORD}@127.0.0.1:{port}/{NAME}"

    def command(self, *arguments, timeout=60, check=True):
        """What a command of the program prints."""
        folder = self.database.folder
        data = folder / "commands"
        data.mkdir(exist_ok=True)
        own(data)
        line = [self.program, *arguments, "--config", str(self.config), "--data", str(data)]
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **self.environment}
        done = subprocess.run(
            drop_rights(line), env=environment, cwd=data, capture_output=True, text=True,
            timeout=timeout, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(arguments)}: {done.stderr.strip() or done.stdout}")
        return done.stdout

    def json(self, *arguments, **options):
        return json.loads(self.command(*arguments, "--json", **options))
