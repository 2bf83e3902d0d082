"""`reserve_seats` with FastMCP and SQLite: `server.py PORT DATABASE`.

DATABASE has the cinema's tables and screenings already. A booking is one transaction.
"""

import sqlite3
import sys
import time
import uuid
from typing import Any

from fastmcp import FastMCP

mcp = FastMCP("cinema", version="1.0.0")


def open_cinema(path: str) -> sqlite3.Connection:
    cinema = sqlite3.connect(path, isolation_level=None)
    cinema.row_factory = sqlite3.Row
    # As durable as the other side, and no slower than that.
    cinema.execute("PRAGMA journal_mode = WAL")
    cinema.execute("PRAGMA synchronous = FULL")
    cinema.execute("PRAGMA foreign_keys = ON")
    return cinema


@mcp.tool(description="Reserve specified seats. Supports multiple seat reservations simultaneously.")
async def reserve_seats(schedule_id: str, seat_ids: list[str]) -> dict[str, Any]:
    show = cinema.execute(
        "SELECT s.id, s.show_date, f.title, t.name AS theater FROM cinema_shows s "
        "JOIN cinema_films f ON f.id = s.film_id JOIN cinema_theaters t ON t.id = s.theater_id "
        "WHERE s.id = ?",
        (schedule_id,),
    ).fetchone()
    if show is None:
        raise ValueError(f"no screening {schedule_id}")
    reservation_id = f"res_{uuid.uuid4().hex}"
    names = ", ".join(seat_ids)
    now = int(time.time() * 1000)
    cinema.execute("BEGIN IMMEDIATE")
    try:
        cinema.execute(
            "INSERT INTO cinema_reservations "
            "(id, show_id, seats, status, caller, created_at, is_demo) "
            "VALUES (?, ?, ?, 'confirmed', 'local', ?, 0)",
            (reservation_id, schedule_id, names, now),
        )
        cinema.executemany(
            "INSERT INTO cinema_taken_seats (show_id, seat_row, seat_number, reservation_id) "
            "VALUES (?, ?, ?, ?)",
            [(schedule_id, seat[:1], int(seat[1:]), reservation_id) for seat in seat_ids],
        )
        cinema.execute("COMMIT")
    except sqlite3.IntegrityError:
        cinema.execute("ROLLBACK")
        return {"error": {"code": "SEATS_TAKEN", "message": f"{names}: already taken"}}
    return {
        "reservation": {
            "reservation_id": reservation_id,
            "seat_ids": seat_ids,
            "status": "confirmed",
        },
        "schedule_info": {
            "schedule_id": show["id"],
            "movie_title": show["title"],
            "theater_name": show["theater"],
            "date": show["show_date"],
        },
        "message": f"Successfully reserved {len(seat_ids)} seat(s): {names}.",
    }


cinema = open_cinema(sys.argv[2])
mcp.run(
    transport="http",
    host="127.0.0.1",
    port=int(sys.argv[1]),
    stateless_http=True,
    json_response=True,
    show_banner=False,
    log_level="ERROR",
)
