"""Every field and every error that the cinema's specification names, and what
the box office does beyond it."""

import re

import anyio

from desk import client, day, equal, has, ok, refused

NUMBER = (int, float)
MOVIE = dict(
    movie_id=str,
    title=str,
    genre=str,
    duration=NUMBER,
    rating=NUMBER,
    description=str,
    release_date=str,
)
SHOW = dict(
    movie_id=str,
    movie_title=str,
    date=str,
    start_time=str,
    end_time=str,
    theater_id=str,
)
SCHEDULE = SHOW | dict(
    schedule_id=str, available_seats_count=NUMBER, total_seats_count=NUMBER
)
RESERVATION = dict(
    reservation_id=str,
    schedule_id=str,
    seat_ids=list,
    reservation_time=str,
    status=str,
)
DATE = day(2)


async def definitions(call, desk):
    tools = {tool.name: tool for tool in (await desk.list_tools()).tools}
    seed = {
        "get_movie_list": ({"date", "search_query", "genre"}, []),
        "get_show_schedule": ({"movie_id", "movie_title", "date"}, ["movie_id", "date"]),
        "get_seat_availability": ({"movie_title", "date", "start_time"}, []),
        "reserve_seats": ({"schedule_id", "seat_ids"}, ["seat_ids"]),
        "get_reservation_details": ({"reservation_id"}, ["reservation_id"]),
    }
    for name, (fields, required) in seed.items():
        tool = tools[name]
        assert fields <= set(tool.input_schema["properties"]), name
        equal(tool.input_schema.get("required", []), required)
        assert tool.title and tool.description and tool.output_schema["type"] == "object"
        hints = tool.annotations
        for hint in (
            hints.read_only_hint,
            hints.destructive_hint,
            hints.idempotent_hint,
            hints.open_world_hint,
        ):
            assert isinstance(hint, bool), (name, hints)
        equal(hints.read_only_hint, name != "reserve_seats")


async def movies(call, desk):
    everything = ok(await call("get_movie_list"))["movies"]
    assert len(everything) >= 10, len(everything)
    for movie in everything:
        has(movie, MOVIE)
        assert 1 <= movie["rating"] <= 5, movie
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", movie["release_date"]), movie

    async def titles(**arguments):
        found = ok(await call("get_movie_list", arguments))["movies"]
        return [movie["title"] for movie in found]

    assert "銀河鉄道の夜" in await titles(date=DATE)
    equal(await titles(date="2001-01-01"), [])
    equal(await titles(search_query="銀河"), ["銀河鉄道の夜"])
    # Width, case, kana, middle dots: all the same to people.
    equal(await titles(search_query="ﾐｯﾄﾞﾅｲﾄｷｯﾁﾝ"), ["ミッドナイト・キッチン"])
    equal(await titles(search_query="clockwork HARBOR"), ["The Clockwork Harbor"])
    for query in ("ぎんが", "ginga tetsudo", "galaxy train", "銀河の電車", "the train one"):
        equal((await titles(search_query=query))[0], "銀河鉄道の夜")
    near = ok(await call("get_movie_list", {"search_query": "clokwork harbor"}))
    equal(near["approximate"], True)
    equal(await titles(genre="アニメ", search_query="銀河"), ["銀河鉄道の夜"])
    equal(await titles(genre="ホラー", search_query="銀河"), [])
    page = ok(await call("get_movie_list", {"limit": 3}))
    rest = ok(await call("get_movie_list", {"cursor": page["next_cursor"]}))
    equal(page["movies"] + rest["movies"], everything)
    refused(
        await call("get_movie_list", {"date": "15/11/2026"}),
        "INVALID_DATE",
        "Invalid date format. Use YYYY-MM-DD.",
    )
    refused(await call("get_movie_list", {"date": "2026-02-30"}), "INVALID_DATE")
    refused(await call("get_movie_list", {"limit": 0}), "INVALID_ARGUMENT")


async def schedules(call, desk):
    by_id = ok(await call("get_show_schedule", {"movie_id": "M001", "date": DATE}))
    assert len(by_id["schedules"]) >= 3, by_id
    for schedule in by_id["schedules"]:
        has(schedule, SCHEDULE)
        equal(schedule["date"], DATE)
        equal(schedule["movie_id"], "M001")
        assert 0 <= schedule["available_seats_count"] <= schedule["total_seats_count"]
        assert schedule["total_seats_count"] >= 50, schedule
    for same in (
        {"movie_title": "銀河鉄道の夜", "date": DATE},
        {"movie_id": "銀河鉄道の夜", "date": DATE},
        {"movie_id": "M001", "movie_title": "", "date": DATE.replace("-", "/")},
    ):
        # The price list is in the language of the arguments.
        found = ok(await call("get_show_schedule", same))
        equal(found["schedules"], by_id["schedules"])
    refused(
        await call("get_show_schedule", {"movie_id": "M999", "date": DATE}),
        "MOVIE_NOT_FOUND",
        "Movie not found.",
    )
    programme = ok(await call("get_show_schedule", {"date": DATE}))["schedules"]
    equal(len({one["movie_id"] for one in programme}), 12)
    evening = {"date": DATE, "from_time": "18:00", "to_time": "20:00", "max_age_class": "G"}
    for one in ok(await call("get_show_schedule", evening))["schedules"]:
        assert "18:00" <= one["start_time"] <= "20:00" and one["age_class"] == "G", one
    refused(await call("get_show_schedule", {"movie_id": "M001"}), "INVALID_ARGUMENT")
    refused(
        await call("get_show_schedule", {"movie_id": "M001", "date": "one day"}),
        "INVALID_DATE",
    )
    soon = ok(await call("get_show_schedule", {"movie_id": "M001", "date": "明日"}))
    equal({one["date"] for one in soon["schedules"]}, {day(1)})
    far = ok(await call("get_show_schedule", {"movie_id": "M001", "date": "2099-01-01"}))
    equal(far["schedules"], [])
    assert far["alternatives"], far


async def seats(call, desk):
    shows = ok(await call("get_show_schedule", {"movie_id": "M003", "date": DATE}))
    show = shows["schedules"][0]
    answer = ok(await call("get_seat_availability", {"schedule_id": show["schedule_id"]}))
    has(answer["schedule_info"], SHOW | dict(schedule_id=str))
    has(answer, dict(available_seats=list, occupied_seats=list))
    free = sum(len(row["available_numbers"]) for row in answer["available_seats"])
    taken = sum(len(row["occupied_numbers"]) for row in answer["occupied_seats"])
    equal(free, show["available_seats_count"])
    equal(free + taken, show["total_seats_count"])
    named = dict(
        movie_title=show["movie_title"], date=DATE, start_time=show["start_time"]
    )
    equal(ok(await call("get_seat_availability", named)), answer)

    several = await call("get_seat_availability", {"movie_title": "M003", "date": DATE})
    candidates = refused(several, "SCHEDULE_AMBIGUOUS")["candidates"]
    equal(
        {one["schedule_id"] for one in candidates},
        {one["schedule_id"] for one in shows["schedules"]},
    )
    unknown = await call("get_seat_availability", {"schedule_id": "S0"})
    assert refused(unknown, "SCHEDULE_NOT_FOUND", "Screening not found.")["candidates"]
    none = await call("get_seat_availability", named | {"start_time": "03:33"})
    assert refused(none, "SCHEDULE_NOT_FOUND")["candidates"]
    nothing = await call("get_seat_availability", {})
    assert refused(nothing, "SCHEDULE_AMBIGUOUS")["candidates"]
    late = await call("get_seat_availability", named | {"start_time": "noon"})
    refused(late, "INVALID_TIME", "Invalid time format. Use HH:MM.")
    both = {"schedule_id": show["schedule_id"], "movie_title": "羅生門の雨"}
    refused(await call("get_seat_availability", both), "SCHEDULE_MISMATCH")


async def booking(call, desk):
    shows = ok(await call("get_show_schedule", {"movie_id": "M004", "date": DATE}))
    show = max(shows["schedules"], key=lambda one: one["available_seats_count"])
    show = show["schedule_id"]

    async def free():
        answer = ok(await call("get_seat_availability", {"schedule_id": show}))
        return {
            f"{row['row']}{number}"
            for row in answer["available_seats"]
            for number in row["available_numbers"]
        }

    before = await free()
    first, second, third = pick = next_to_each_other(before)
    booked = ok(
        await call("reserve_seats", {"schedule_id": show, "seat_ids": [first, second]})
    )
    has(booked, dict(reservation=dict, schedule_info=dict, message=str))
    has(booked["reservation"], RESERVATION)
    has(booked["schedule_info"], SHOW)
    equal(booked["reservation"]["seat_ids"], [first, second])
    equal(booked["reservation"]["status"], "confirmed")
    equal(booked["message"], f"Successfully reserved 2 seat(s): {first}, {second}.")
    equal(await free(), before - {first, second})

    again = await call("reserve_seats", {"schedule_id": show, "seat_ids": [second, third]})
    details = refused(again, "SEATS_TAKEN", f"Seat {second} is already occupied.")
    equal(details["taken"], [second])
    block = details["nearest_free_block"]
    equal(len(block), 2)
    assert set(block) <= await free(), block
    # All of a booking or nothing.
    assert third in await free()

    ticket = booked["reservation"]["reservation_id"]
    found = ok(await call("get_reservation_details", {"reservation_id": ticket}))
    equal(found["reservation"], booked["reservation"])
    equal(found["schedule_info"], booked["schedule_info"])
    seat = found["seat_details"][0]
    has(seat, dict(seat_id=str, row=str, number=NUMBER, seat_type=str))
    equal([one["seat_id"] for one in found["seat_details"]], [first, second])
    equal((seat["row"], seat["number"]), (first[0], int(first[1:])))
    refused(
        await call("get_reservation_details", {"reservation_id": "rsv_nothing"}),
        "RESERVATION_NOT_FOUND",
        "Reservation not found.",
    )
    refused(await call("get_reservation_details", {}), "INVALID_ARGUMENT")

    await spellings(call, show, sorted(await free() - set(pick)))
    await wrong_bookings(call, show, third)
    await retried(call, show, third)


def next_to_each_other(free):
    for seat in sorted(free):
        run = [f"{seat[0]}{int(seat[1:]) + step}" for step in range(3)]
        if set(run) <= free:
            return run
    raise AssertionError(f"no three seats together in {free}")


async def spellings(call, show, free):
    """People and models write seats in many ways."""
    for spell in (
        lambda row, number: [f"{row}-{number}"],
        lambda row, number: f"{row.lower()}{number}",
        lambda row, number: [f"{row}列{number}番"],
        lambda row, number: [chr(ord(row) + 0xFEE0) + chr(ord(number[0]) + 0xFEE0)],
    ):
        seat = free.pop(0)
        while len(seat) > 2:
            seat = free.pop(0)
        arguments = {"schedule_id": show, "seat_ids": spell(seat[0], seat[1:])}
        booked = ok(await call("reserve_seats", arguments))
        equal(booked["reservation"]["seat_ids"], [seat])
    pair = [free.pop(), free.pop()]
    booked = ok(await call("reserve_seats", {"schedule_id": show, "seat_ids": ",".join(pair)}))
    equal(booked["reservation"]["seat_ids"], pair)


async def wrong_bookings(call, show, seat):
    async def fails(code, **arguments):
        return refused(await call("reserve_seats", arguments), code)

    await fails("NO_SEATS", schedule_id=show, seat_ids=[])
    await fails("INVALID_ARGUMENT", schedule_id=show)
    await fails("INVALID_SEAT_ID", schedule_id=show, seat_ids=["front row"])
    missing = await fails("SEAT_NOT_FOUND", schedule_id=show, seat_ids=[seat, "Z99"])
    equal(missing["missing"], ["Z99"])
    many = [f"A{number}" for number in range(1, 12)]
    await fails("TOO_MANY_SEATS", schedule_id=show, seat_ids=many)
    await fails("SCHEDULE_NOT_FOUND", schedule_id="S0", seat_ids=[seat])
    # Never a guess from what was looked at last.
    await fails("SCHEDULE_AMBIGUOUS", seat_ids=[seat])


async def retried(call, show, seat):
    """The same key books once, whatever happened to the first answer."""
    arguments = {"schedule_id": show, "seat_ids": [seat], "idempotency_key": f"key {show}"}
    first = ok(await call("reserve_seats", arguments))
    equal(ok(await call("reserve_seats", arguments)), first)


async def main():
    async with client("cinema") as desk:
        for part in (definitions, movies, schedules, seats, booking):
            await part(desk.call_tool, desk)


anyio.run(main)
