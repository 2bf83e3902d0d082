"""Three PostgreSQL nodes under Patroni, three members of etcd, HAProxy in front, PgBouncer if
wanted. All on loopback, from Debian's packages."""

import glob
import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from processes import Process, descendants, free_ports, is_root, of_folder, own, send, wait_until

MEMBERS = (1, 2, 3)
ROLE, PASSWORD, NAME = "madoguchi", "secret", "madoguchi"
DISK_MB = 768
# What an unreachable peer costs, in seconds: connections between the servers give up after it.
SILENCE = 5
# How often Patroni looks.
LOOP = 2


def postgres_bin():
    found = glob.glob("/usr/lib/postgresql/*/bin")
    return max(found, key=lambda path: int(path.split("/")[4]))


def write(path, text):
    path.write_text(text)
    own(path)
    return path


def get_json(url, timeout=2):
    try:
        with urllib.request.urlopen(url, timeout=timeout) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error)


class Etcd(Process):
    in_time = True

    def __init__(self, cluster, number, addresses):
        client, peer = cluster.ports[f"etcd{number}"], cluster.ports[f"etcd{number}-peer"]
        folder = cluster.folder
        command = [
            "etcd", "--name", f"etcd{number}", "--data-dir", f"{folder}/etcd{number}",
            "--listen-client-urls", f"http://127.0.0.1:{client}",
            "--advertise-client-urls", f"http://127.0.0.1:{client}",
            "--listen-peer-urls", f"http://127.0.0.1:{peer}",
            "--initial-advertise-peer-urls", addresses[number],
            "--initial-cluster", ",".join(f"etcd{n}={url}" for n, url in addresses.items()),
            "--heartbeat-interval", f"{cluster.ttl * 20}", "--election-timeout", f"{cluster.ttl * 200}",
            "--log-level", "warn",
        ]  # fmt: skip
        super().__init__(f"etcd{number}", command, folder)
        self.disk = folder / f"etcd{number}"
        self.address = f"http://127.0.0.1:{client}"

    def is_decided(self):
        """Whether the members have agreed on a version; a Patroni that starts before ends."""
        return get_json(f"{self.address}/version")["etcdcluster"] != "not_decided"


class Node(Process):
    """Patroni and its PostgreSQL."""

    in_time = True

    def __init__(self, cluster, number):
        self.cluster, self.number = cluster, number
        self.data = cluster.folder / f"node{number}" / "data"
        self.disk = self.data.parent
        config = write(cluster.folder / f"node{number}.json", json.dumps(self.settings(), indent=1))
        super().__init__(f"node{number}", ["patroni", str(config)], cluster.folder)

    def settings(self):
        ports, number, folder = self.cluster.ports, self.number, self.cluster.folder
        link = lambda kind: f"127.0.0.1:{ports[f'{kind}-of-node{number}']}"
        users = {"superuser": "postgres", "replication": "replicator", "rewind": "rewinder"}
        hba = ["local all all trust", "host all all 127.0.0.1/32 trust",
               "host replication all 127.0.0.1/32 trust"]  # fmt: skip
        return {
            "scope": "madoguchi",
            "name": f"node{number}",
            "restapi": {
                "listen": f"127.0.0.1:{ports[f'node{number}-rest']}",
                "connect_address": link("rest"),
            },
            "etcd3": {
                "hosts": [f"127.0.0.1:{ports[f'node{number}-to-etcd{n}']}" for n in MEMBERS],
                # Not the addresses that etcd tells of itself: they pass by the links.
                "use_proxies": True,
            },
            "bootstrap": {
                "dcs": {**self.cluster.patience(), **self.cluster.replication(),
                        "primary_start_timeout": 0, "postgresql": self.shared()},
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "data-checksums"],
            },
            "postgresql": {
                "listen": f"127.0.0.1:{ports[f'node{number}']}",
                "connect_address": link("sql"),
                "data_dir": str(self.data),
                "bin_dir": postgres_bin(),
                "pgpass": str(folder / f"node{number}.pgpass"),
                "pg_hba": hba,
                "authentication": {
                    kind: {"username": user, "password": PASSWORD} for kind, user in users.items()
                },
                "parameters": {"unix_socket_directories": str(folder / "sockets")},
                "remove_data_directory_on_rewind_failure": True,
                "remove_data_directory_on_diverged_timelines": True,
            },
            "watchdog": {"mode": "off"},
        }  # fmt: skip

    def shared(self):
        timeout = f"{SILENCE}s"
        return {
            "use_pg_rewind": True,
            "use_slots": True,
            "parameters": {
                "max_connections": 120, "shared_buffers": "64MB", "hot_standby": "on",
                "max_wal_size": "128MB", "min_wal_size": "64MB", "wal_keep_size": "64MB",
                "max_slot_wal_keep_size": "256MB", "checkpoint_timeout": "60s",
                "wal_sender_timeout": timeout, "wal_receiver_timeout": timeout,
                "tcp_user_timeout": timeout, "log_min_messages": "warning",
                "max_standby_streaming_delay": "1s",
            },
        }  # fmt: skip

    def fill(self):
        """Takes what is left of its disk."""
        block = bytes(1 << 20)
        try:
            with open(self.disk / "filler", "wb", buffering=0) as file:
                while file.write(block) == len(block):
                    pass
        except OSError:
            pass

    def empty(self):
        (self.disk / "filler").unlink(missing_ok=True)

    def postmaster(self):
        try:
            return int((self.data / "postmaster.pid").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return None

    def servers(self):
        """Every process of its PostgreSQL. The first of them is no child of Patroni's."""
        pid = self.postmaster()
        return [pid, *descendants(pid)] if pid in of_folder(self.data) else []

    def pids(self):
        return [*super().pids(), *self.servers()]

    def send_to_servers(self, number):
        for pid in self.servers():
            send(pid, number)

    def status(self):
        """What Patroni says of it, past the links."""
        return get_json(f"http://127.0.0.1:{self.cluster.ports[f'node{self.number}-rest']}/patroni")


HAPROXY = """
global
    maxconn 2000
defaults
    timeout connect 2s
    timeout client 10m
    timeout server 10m
    timeout check {check}s
    retries 2

# The primary alone answers OPTIONS /primary with 200. When a node is no longer it, its
# connections end, so that no desk waits for one that was replaced.
listen database
    mode tcp
    bind 127.0.0.1:{database}
    option httpchk OPTIONS /primary
    http-check expect status 200
    default-server inter 1s fastinter 300ms fall 2 rise 1 on-marked-down shutdown-sessions
{nodes}

listen desks
    mode http
    bind 127.0.0.1:{desks}
    balance roundrobin
    option redispatch
    option httpchk
    http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host 127.0.0.1
    http-check expect status 200
    default-server inter 500ms fastinter 200ms fall 2 rise 1
{each_desk}
"""

PGBOUNCER = """
[databases]
{name} = host=127.0.0.1 port={database} dbname={name}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {users}
pool_mode = transaction
default_pool_size = 30
max_client_conn = 500
server_connect_timeout = 3
server_login_retry = 1
query_wait_timeout = 20
tcp_user_timeout = 5000
"""


class Database:
    """The servers together."""

    def __init__(self, folder, links, synchronous=True, ttl=10):
        self.folder = Path(folder)
        self.links = links
        self.synchronous, self.ttl = synchronous, ttl
        self.own_disks = is_root()
        self.ports = {}
        for name in ("logs", "sockets"):
            (self.folder / name).mkdir()
            own(self.folder / name)
        names = ["database", "desks", "pgbouncer"]
        for n in MEMBERS:
            names += [f"etcd{n}", f"etcd{n}-peer", f"peer-of-etcd{n}", f"node{n}", f"node{n}-rest",
                      f"sql-of-node{n}", f"rest-of-node{n}", f"desk{n}", f"desk{n}-to-database"]
            names += [f"node{n}-to-etcd{other}" for other in MEMBERS]  # fmt: skip
        self.ports = dict(zip(names, free_ports(len(names))))
        self.connect()
        peers = {n: f"http://127.0.0.1:{self.ports[f'peer-of-etcd{n}']}" for n in MEMBERS}
        self.etcd = [Etcd(self, n, peers) for n in MEMBERS]
        self.nodes = [Node(self, n) for n in MEMBERS]
        self.haproxy = self.balancer()
        self.pgbouncer = self.bouncer()

    def patience(self):
        """A primary that is gone is replaced after `ttl`. One that reaches etcd no more goes
        itself, before that."""
        return {"ttl": self.ttl, "loop_wait": LOOP, "retry_timeout": (self.ttl - LOOP) // 2}

    def replication(self):
        return {
            "synchronous_mode": self.synchronous,
            # Without a second copy nothing is acknowledged.
            "synchronous_mode_strict": self.synchronous,
        }

    def connect(self):
        link = lambda name, target: self.links.add(name, self.ports[name], self.ports[target])
        for n in MEMBERS:
            link(f"peer-of-etcd{n}", f"etcd{n}-peer")
            link(f"sql-of-node{n}", f"node{n}")
            link(f"rest-of-node{n}", f"node{n}-rest")
            for other in MEMBERS:
                link(f"node{n}-to-etcd{other}", f"etcd{other}")

    def balancer(self):
        ports = self.ports
        nodes = [
            f"    server node{n} 127.0.0.1:{ports[f'sql-of-node{n}']} "
            f"check port {ports[f'rest-of-node{n}']}"
            for n in MEMBERS
        ]
        desks = [f"    server desk{n} 127.0.0.1:{ports[f'desk{n}']} check" for n in MEMBERS]
        text = HAPROXY.format(
            database=ports["database"], desks=ports["desks"], check=max(2, self.ttl // 5),
            nodes="\n".join(nodes), each_desk="\n".join(desks),
        )  # fmt: skip
        config = write(self.folder / "haproxy.cfg", text)
        return Process("haproxy", ["haproxy", "-db", "-f", str(config)], self.folder)

    def bouncer(self):
        users = write(self.folder / "users.txt", f'"{ROLE}" "{PASSWORD}"\n')
        text = PGBOUNCER.format(
            name=NAME, database=self.ports["database"], port=self.ports["pgbouncer"], users=users
        )
        config = write(self.folder / "pgbouncer.ini", text)
        return Process("pgbouncer", ["pgbouncer", str(config)], self.folder)

    def start(self, with_pgbouncer=False):
        for server in (*self.etcd, *self.nodes):
            self.mount(server.disk)
        for member in self.etcd:
            member.start()
        for member in self.etcd:
            wait_until(f"{member.name} ready", member.is_decided, 60)
        for node in self.nodes:
            node.start()
        self.haproxy.start()
        wait_until("a primary", self.primary, 60 + 6 * self.ttl)
        wait_until("two replicas", self.is_whole, 60 + 6 * self.ttl)
        self.sql(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{PASSWORD}'", database="postgres")
        self.sql(f"CREATE DATABASE {NAME} OWNER {ROLE}", database="postgres")
        if with_pgbouncer:
            self.pgbouncer.start()

    def mount(self, disk):
        """A small disk for each server, in memory: it can be filled, and nobody else who writes
        keeps its owner waiting. Needs root."""
        disk.mkdir()
        if self.own_disks:
            size = f"size={DISK_MB}m"
            subprocess.run(["mount", "-t", "tmpfs", "-o", size, "madoguchi", disk], check=True)
        disk.chmod(0o700)
        own(disk)

    def unmount(self):
        for server in (*self.etcd, *self.nodes):
            if os.path.ismount(server.disk):
                subprocess.run(["umount", "--lazy", server.disk], check=False)

    def primary(self):
        """The node that is the primary, if there is one."""
        for node in self.nodes:
            try:
                status = node.status()
            except (OSError, ValueError):
                continue
            if status.get("role") in ("master", "primary") and status.get("state") == "running":
                return node
        return None

    def replicas(self):
        primary = self.primary()
        return [node for node in self.nodes if node is not primary]

    def is_whole(self):
        """A primary, two replicas that stream from it, and one of them synchronous."""
        primary = self.primary()
        if primary is None:
            return False
        replication = primary.status().get("replication", [])
        streaming = [one for one in replication if one.get("state") == "streaming"]
        synchronous = [one for one in streaming if one.get("sync_state") == "sync"]
        return len(streaming) == 2 and (not self.synchronous or len(synchronous) == 1)

    def sql(self, text, database=NAME, tries=30):
        """What the primary answers, row by row. Waits for one."""
        command = [
            f"{postgres_bin()}/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", text,
            f"host=127.0.0.1 port={self.ports['database']} user=postgres dbname={database} "
            "connect_timeout=3 target_session_attrs=read-write",
        ]  # fmt: skip
        for attempt in range(tries):
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
            if done.returncode == 0:
                return done.stdout.splitlines()
            if "already exists" in done.stderr and attempt:
                return []
            time.sleep(1)
        raise RuntimeError(f"{text[:100]}: {done.stderr}")

    def rows(self, query):
        """The rows of a query as dictionaries."""
        return [json.loads(line) for line in self.sql(f"SELECT row_to_json(x) FROM ({query}) x")]

    def processes(self):
        return [self.haproxy, self.pgbouncer, *self.nodes, *self.etcd]
