"""What is left when the clients have gone: rows, deliveries and the audit trail."""

import json
import time

from clients import Nothing, call

LONGEST_DRAIN = 180


def rooms_are_shared(cluster):
    """Whether rooms are in the database. In files, each desk would have its own."""
    query = (
        "SELECT count(*) FROM information_schema.tables "
        "WHERE table_schema = 'madoguchi' AND table_name LIKE 'rooms!_%' ESCAPE '!'"
    )
    return cluster.database.sql(query) != ["0"]


def drain(cluster, say):
    """Waits until nothing is left to send, and for reminders that are due."""
    waiting = "SELECT count(*) FROM madoguchi.innervoice_outbox WHERE status IN ('queued', 'sending')"
    active = "SELECT count(*) FROM madoguchi.innervoice_reminders WHERE status = 'active'"
    deadline = time.time() + LONGEST_DRAIN
    while time.time() < deadline:
        left = int(cluster.database.sql(waiting)[0]) + int(cluster.database.sql(active)[0])
        if left == 0:
            return
        say(f"{left} mails and reminders are still to be sent")
        time.sleep(5)


def sentences(port):
    """All of the room, oldest first."""
    found, cursor = [], {}
    while True:
        arguments = {"roomName": "lobby", "limit": 500, **cursor}
        for _ in range(10):
            try:
                answer = call(port, "rooms", "get_messages", arguments)["structuredContent"]
                break
            except Nothing:
                time.sleep(1)
        found += answer["messages"]  # Newest first.
        if not answer.get("nextCursor"):
            return [{"agent": one["agentName"], "text": one["message"]} for one in reversed(found)]
        cursor = {"cursor": answer["nextCursor"]}


def sizes(cluster):
    """Rows and bytes of the largest tables, with their indexes."""
    tables = cluster.database.rows(
        "SELECT relname AS table, pg_total_relation_size(relid) AS bytes "
        "FROM pg_stat_user_tables WHERE schemaname = 'madoguchi' ORDER BY 2 DESC LIMIT 8"
    )
    # Statistics do not survive a failover, so the rows are counted.
    count = lambda table: int(cluster.database.sql(f"SELECT count(*) FROM madoguchi.{table}")[0])
    return [{**one, "rows": count(one["table"])} for one in tables]


def gather(cluster, history, with_rooms):
    rows = cluster.database.rows
    seats = "seat_row || seat_number AS seat"
    verified = cluster.desks.command("audit", "verify", timeout=300, check=False).strip()
    exported = cluster.desks.command("audit", "export", timeout=300)
    return {
        "history": history.entries,
        "reservations": rows(
            "SELECT id, show_id, seats, status FROM madoguchi.cinema_reservations WHERE is_demo = 0"
        ),
        "owners": rows(f"SELECT show_id, {seats}, reservation_id FROM madoguchi.cinema_taken_seats"),
        "reminders": rows("SELECT id, note FROM madoguchi.innervoice_reminders"),
        "messages": rows(
            "SELECT id, body FROM madoguchi.innervoice_outbox WHERE origin = 'message'"
        ),
        "hooks": list(cluster.hooks.noted),
        "mails": list(cluster.mails.noted),
        "sentences": sentences(cluster.port) if with_rooms else [],
        "audit": [json.loads(line) for line in exported.splitlines()],
        "sizes": sizes(cluster),
        "verified": (verified.startswith("ok"), verified[:500]),
    }
