"""One read and one write of each counter."""

from talk import DAY

# How many calls of a tool are made.
ALL = 30


def free_seats(call):
    """Bookings of one seat each, in the screening with the most free seats."""
    movie = call("get_movie_list", {})["movies"][0]["movie_id"]
    shows = call("get_show_schedule", {"movie_id": movie, "date": DAY})["schedules"]
    show = max(shows, key=lambda one: one["available_seats_count"])["schedule_id"]
    hall = call("get_seat_availability", {"schedule_id": show})
    special = {seat for kind in hall["special_seats"] for seat in kind["seat_ids"]}
    free = [f"{row['row']}{number}" for row in hall["available_seats"] for number in row["available_numbers"]]
    seats = [seat for seat in free if seat not in special]
    return [("reserve_seats", {"schedule_id": show, "seat_ids": [seat]}) for seat in seats]


def same(tool, arguments):
    return lambda call: [(tool, arguments)] * ALL


def numbered(tool, make):
    return lambda call: [(tool, make(number)) for number in range(ALL)]


def in_a_room(call):
    call("create_room", {"roomName": "lobby"})
    call("enter_room", {"roomName": "lobby", "agentName": "ann"})
    return [("send_message", SAY)] * ALL


SAY = {"roomName": "lobby", "agentName": "ann", "message": "Good morning."}
READ = {"roomName": "lobby", "agentName": "ann"}
CALLS = {
    "cinema": {"get_movie_list": same("get_movie_list", {}), "reserve_seats": free_seats},
    "innervoice": {
        "calendar_list": same("calendar_list", {"from": "2031-03-01T00:00:00Z", "to": "2031-04-01T00:00:00Z"}),
        "reminder_create": numbered("reminder_create", lambda number: {
            "time": f"2031-03-{number + 1:02}T09:00:00+09:00", "note": f"Call number {number}."}),
    },
    "merchant": {
        "search_products": same("search_products", {"keywords": ["shirt"]}),
        "update_inventory": numbered("update_inventory", lambda number: {
            "product_id": 1, "inventory_count": 50 + number}),
    },
    "rooms": {
        "send_message": in_a_room,
        "get_messages": same("get_messages", READ),
    },
    "todo": {
        "list_tasks": same("list_tasks", {}),
        "create_task": numbered("create_task", lambda number: {"title": f"Task {number:02}"}),
    },
}  # fmt: skip
