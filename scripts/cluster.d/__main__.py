"""The command line of scripts/cluster."""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from cluster import Cluster
from processes import send, wait_until
from run import measure_failover, run

STATE = Path(os.environ.get("TMPDIR", "/tmp"), f"madoguchi-cluster-{os.getuid()}.json")


def say(text):
    now = time.time()
    clock = time.strftime("%H:%M:%S", time.localtime(now))
    # One write, so that the lines of several threads never mix.
    sys.stdout.write(f"{clock}.{int(now * 1000) % 1000:03} {text}\n")
    sys.stdout.flush()


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/cluster", description=__doc__)
    parser.add_argument("do", choices=("start", "stop", "status", "run", "failover", "hold"))
    parser.add_argument("--program", default="target/debug/madoguchi", help="the desks' program")
    parser.add_argument("--older-program", help="the program of the first desk, of another version")
    parser.add_argument("--faults", type=int, default=200, help="run: how many (200)")
    parser.add_argument("--minutes", type=float, default=600, help="run: for so long at most")
    parser.add_argument("--seed", default=str(random.randrange(10**6)), help="run: the choices")
    parser.add_argument("--times", type=int, default=10, help="failover: how often (10)")
    parser.add_argument("--keep", help="a folder for logs, history and evidence")
    parser.add_argument("--pgbouncer", action="store_true", help="between desks and database")
    parser.add_argument("--asynchronous", action="store_true", help="replicas may lag behind")
    parser.add_argument("--ttl", type=int, default=10, help="of Patroni's leader key (10)")
    options = parser.parse_args()
    options.program = str(Path(options.program).resolve())
    if options.older_program:
        options.older_program = str(Path(options.older_program).resolve())
    if options.keep:
        Path(options.keep).mkdir(parents=True, exist_ok=True)
    return options


def build(options):
    return Cluster(
        options.program, options.older_program, options.pgbouncer, not options.asynchronous,
        options.ttl,
    )  # fmt: skip


def with_cluster(options, work):
    """Whatever happens, nothing of the cluster is left."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))
    cluster = build(options)
    try:
        say(f"starting, in {cluster.folder}")
        cluster.start()
        return work(cluster)
    finally:
        cluster.stop(options.keep)


def hold(cluster):
    """Keeps it until somebody asks for its end."""
    ports = cluster.database.ports
    state = {
        "pid": os.getpid(), "folder": str(cluster.folder), "ports": ports,
        "desks": f"http://127.0.0.1:{ports['desks']}",
        "database": cluster.desks.environment["MADOGUCHI_DATABASE__URL"],
    }  # fmt: skip
    STATE.write_text(json.dumps(state))
    while True:
        cluster.revive(say)
        time.sleep(1)


def start(options):
    if running():
        sys.exit("one is running already: scripts/cluster stop")
    STATE.unlink(missing_ok=True)
    log = open(STATE.with_suffix(".log"), "w")
    command = [sys.executable, "-B", str(Path(__file__).parent), "hold", *sys.argv[2:]]
    child = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    ready = lambda: STATE.exists() or child.poll() is not None
    wait_until("the cluster", ready, 240)
    if not STATE.exists():
        sys.exit(Path(log.name).read_text())
    state = json.loads(STATE.read_text())
    print(f"desks     {state['desks']}\ndatabase  {state['database']}\nlogs      {state['folder']}/logs")


def running():
    """What `hold` wrote, if it is still there."""
    if not STATE.exists():
        return None
    state = json.loads(STATE.read_text())
    return state if Path(f"/proc/{state['pid']}").exists() else None


def status():
    state = running() or sys.exit("no cluster is running")
    for n in (1, 2, 3):
        url = f"http://127.0.0.1:{state['ports'][f'node{n}-rest']}/cluster"
        try:
            members = json.load(urllib.request.urlopen(url, timeout=3))["members"]
        except OSError:
            continue
        for one in members:
            print(f"{one['name']}  {one['role']:<13} {one['state']:<10} timeline {one.get('timeline')}")
        break
    for n in (1, 2, 3):
        url = f"http://127.0.0.1:{state['ports'][f'desk{n}']}/readyz"
        try:
            said = urllib.request.urlopen(url, timeout=3).read().decode().splitlines()[0]
        except OSError as error:
            said = str(error)
        print(f"desk{n}  {said}")
    print(f"desks     {state['desks']}\ndatabase  {state['database']}")


def stop():
    state = running() or sys.exit("no cluster is running")
    send(state["pid"], signal.SIGTERM)
    wait_until("its end", lambda: running() is None, 60)


def main():
    options = arguments()
    if options.do == "start":
        return start(options)
    if options.do == "status":
        return status()
    if options.do == "stop":
        return stop()
    if options.do == "hold":
        return with_cluster(options, hold)
    say(f"seed {options.seed}")
    work = run if options.do == "run" else measure_failover
    problems = with_cluster(options, lambda cluster: work(cluster, options, say))
    for problem in problems:
        say(f"PROBLEM {problem}")
    say(f"{len(problems)} problems" if problems else "nothing lost, nothing twice")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
