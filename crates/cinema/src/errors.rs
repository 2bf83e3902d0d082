//! Every error of the counter. Those of tickets and prices are in [`tickets`] and [`prices`].

mod prices;
mod tickets;

pub use tickets::{TicketRefusal, already_admitted, no_ticket, ticket_refused};

use jiff::civil::Date;
use kit::{Error, Rule, Shortlist, tool::rule};
use serde_json::{Value, json};

use crate::{
    answers::{Candidate, seat_ids},
    model::{
        Listing, Show,
        film::Film,
        hall::{Hall, SeatMap},
        seat::{Seat, join},
    },
    store::StoredReservation,
};

pub use prices::{tickets_mismatch, unknown_price_class};

const INVALID_DATE: &str = "INVALID_DATE";
const INVALID_DATE_MESSAGE: &str = "Invalid date format. Use YYYY-MM-DD.";
const INVALID_TIME: &str = "INVALID_TIME";
const INVALID_TIME_MESSAGE: &str = "Invalid time format. Use HH:MM.";
const NO_SEATS: &str = "NO_SEATS";
const NO_SEATS_MESSAGE: &str = "No seat was named. Give at least one seat id, such as A5.";

pub const DATE_PATTERN: Rule = rule("date", "pattern", INVALID_DATE, INVALID_DATE_MESSAGE);
pub const DATE_TYPE: Rule = rule("date", "type", INVALID_DATE, INVALID_DATE_MESSAGE);
pub const TIME_PATTERN: Rule = rule("start_time", "pattern", INVALID_TIME, INVALID_TIME_MESSAGE);
pub const FROM_TIME_PATTERN: Rule = rule("from_time", "*", INVALID_TIME, INVALID_TIME_MESSAGE);
pub const TO_TIME_PATTERN: Rule = rule("to_time", "*", INVALID_TIME, INVALID_TIME_MESSAGE);
pub const TIME_TYPE: Rule = rule("start_time", "type", INVALID_TIME, INVALID_TIME_MESSAGE);
pub const SEATS_MIN: Rule = rule("seat_ids", "minItems", NO_SEATS, NO_SEATS_MESSAGE);

pub fn invalid_date() -> Error {
    Error::new(INVALID_DATE, INVALID_DATE_MESSAGE).details(json!({ "field": "date" }))
}

pub fn invalid_time(field: &str) -> Error {
    Error::new(INVALID_TIME, INVALID_TIME_MESSAGE).details(json!({ "field": field }))
}

pub fn no_seats() -> Error {
    Error::new(NO_SEATS, NO_SEATS_MESSAGE)
}

pub fn movie_not_found(nearest: Vec<&Film>) -> Error {
    let next = if nearest.is_empty() {
        "See what is showing with get_movie_list."
    } else {
        "Choose one of details.candidates, or see what is showing with get_movie_list."
    };
    Error::new("MOVIE_NOT_FOUND", "Movie not found.")
        .next(next)
        .details(films(nearest))
}

pub fn movie_ambiguous(found: Vec<&Film>) -> Error {
    Error::new("MOVIE_AMBIGUOUS", "Several films match this title.")
        .next("Ask which one is meant and give its movie_id.")
        .details(films(found))
}

fn films(found: Vec<&Film>) -> Value {
    let has_one_name = |film: &Film| ["", &film.title].contains(&film.english_title.as_str());
    let candidate = |film: &Film| match has_one_name(film) {
        true => json!({ "movie_id": film.id, "title": film.title }),
        false => json!({
            "movie_id": film.id, "title": film.title, "english_title": film.english_title
        }),
    };
    candidates(found.into_iter().map(candidate).collect())
}

/// `why` is a sentence that says why there is no such screening, if that is known.
pub fn schedule_not_found(why: Option<&str>, found: &[Listing]) -> Error {
    let error = Error::new("SCHEDULE_NOT_FOUND", "Screening not found.");
    let next = match why {
        Some(why) => format!("{why} {}", choose(found)),
        None => choose(found).to_owned(),
    };
    error.next(next).details(screenings(found))
}

pub fn schedule_ambiguous(message: &str, found: &[Listing]) -> Error {
    Error::new("SCHEDULE_AMBIGUOUS", message)
        .next(choose(found))
        .details(screenings(found))
}

fn choose(candidates: &[Listing]) -> &'static str {
    if candidates.is_empty() {
        "Find screenings with get_show_schedule."
    } else {
        "Use the schedule_id of one of details.candidates, or find others with get_show_schedule."
    }
}

fn screenings(found: &[Listing]) -> Value {
    let found = found.iter().map(Candidate::from);
    candidates(found.map(|candidate| json!(candidate)).collect())
}

/// The first few, and how many more there are.
fn candidates(all: Vec<Value>) -> Value {
    let Shortlist { shown, more } = kit::shortlist(all);
    match more {
        0 => json!({ "candidates": shown }),
        _ => json!({ "candidates": shown, "more": more }),
    }
}

/// The other arguments contradict the schedule id.
pub fn schedule_mismatch(show: &Show) -> Error {
    Error::new(
        "SCHEDULE_MISMATCH",
        format!(
            "Screening {} is {} on {} at {}; the other arguments say something else.",
            show.id, show.film_title, show.date, show.start
        ),
    )
    .next("Find out which screening is meant and give only its schedule_id.")
}

/// `close_minutes`: how long before the start sales end.
pub fn show_started(show: &Show, close_minutes: i16) -> Error {
    let Show { date, start, .. } = show;
    let message = match close_minutes {
        0 => format!("This screening began on {date} at {start}; seats are no longer sold."),
        1.. => format!(
            "This screening begins on {date} at {start}; sales closed {close_minutes} minutes \
             before."
        ),
        _ => format!(
            "This screening began on {date} at {start}; sales closed {} minutes after.",
            close_minutes.unsigned_abs()
        ),
    };
    Error::new("SHOW_STARTED", message).next("Offer a later screening from get_show_schedule.")
}

pub fn invalid_seat_id(text: &str) -> Error {
    let (text, _) = kit::text::cut(text, 40);
    Error::new("INVALID_SEAT_ID", format!("`{text}` is not a seat id."))
        .next("Write the row letter and the seat number, such as A5.")
}

/// `details`: `{reserved, requested, most}`.
pub fn seat_limit_reached(reserved: i64, requested: usize, most: i64) -> Error {
    Error::new(
        "SEAT_LIMIT_REACHED",
        format!(
            "Nothing was reserved: you already have {reserved} seats for this screening, and one \
             caller may have {most}."
        ),
    )
    .next("Ask for fewer seats, or choose another screening.")
    .details(json!({ "reserved": reserved, "requested": requested, "most": most }))
}

pub fn too_many_seats(asked: usize, most: usize) -> Error {
    Error::new(
        "TOO_MANY_SEATS",
        format!("{asked} seats were requested; one reservation may have at most {most}."),
    )
    .next("Hold a larger group with hold_seats and book the hold with reserve_seats.")
}

/// `details`: `{held, requested, most}`.
pub fn hold_limit_reached(held: usize, requested: usize, most: u32) -> Error {
    Error::new(
        "HOLD_LIMIT_REACHED",
        format!(
            "Nothing was held: you hold {held} seats now, and one caller may hold {most} at a time."
        ),
    )
    .next("Book or cancel a hold first, or wait until one expires.")
    .details(json!({ "held": held, "requested": requested, "most": most }))
}

pub fn hold_expired(seats: &[Seat]) -> Error {
    Error::new(
        "HOLD_EXPIRED",
        format!("The hold of {} has expired.", join(seats)),
    )
    .next("Hold or reserve the seats again; others may have taken them.")
    .details(json!({ "seat_ids": seat_ids(seats) }))
}

pub fn already_booked(reservation: &StoredReservation) -> Error {
    Error::new(
        "ALREADY_BOOKED",
        format!(
            "This hold is already booked as {}, with the seats {}.",
            reservation.id,
            join(&reservation.seats)
        ),
    )
    .next("Use exchange_seats for other seats, or cancel_reservation.")
    .details(json!({ "seat_ids": seat_ids(&reservation.seats) }))
}

pub fn reservation_cancelled() -> Error {
    Error::new(
        "RESERVATION_CANCELLED",
        "This reservation was cancelled; its seats are free again.",
    )
    .next("Make a new one with reserve_seats.")
}

pub fn not_in_reservation(missing: &[Seat], reservation: &StoredReservation) -> Error {
    let (noun, verb) = plural(missing, ("Seat", "is"), ("Seats", "are"));
    Error::new(
        "SEATS_NOT_IN_RESERVATION",
        format!(
            "{noun} {} {verb} not part of this reservation.",
            join(missing)
        ),
    )
    .next(format!("Its seats are {}.", join(&reservation.seats)))
    .details(json!({ "missing": seat_ids(missing), "seat_ids": seat_ids(&reservation.seats) }))
}

pub fn seat_count_differs(new: usize, old: usize) -> Error {
    Error::new(
        "SEAT_COUNT_DIFFERS",
        format!("Nothing was exchanged: {new} new seat(s) for {old}."),
    )
    .next(
        "Name as many new seats as are exchanged (instead_of says which). cancel_reservation \
         gives seats up, reserve_seats adds some.",
    )
}

pub fn one_screening_each() -> Error {
    Error::new(
        "INSTEAD_OF_OTHER_SHOW",
        "A reservation is for one screening, so all its seats move to another one together.",
    )
    .next("Leave instead_of out.")
}

pub fn group_too_large(party_size: usize, most: u8) -> Error {
    Error::new(
        "TOO_MANY_SEATS",
        format!("A party of {party_size} is too large; a group may have {most} people."),
    )
    .next("Divide the group.")
}

pub fn days_swapped(first: Date, last: Date) -> Error {
    Error::new(
        INVALID_DATE,
        format!("The last day, {last}, is before the first, {first}."),
    )
    .next("Swap date and to_date.")
}

pub fn too_many_days(most: i64) -> Error {
    Error::new(
        INVALID_DATE,
        format!("The search covers more than {most} days."),
    )
    .next("Search a shorter time.")
}

pub fn no_block_left() -> Error {
    Error::new(
        "SEATS_TAKEN",
        "Others took the last seats that fit while this call ran.",
    )
    .next("Nothing was held. Search again, with other days or together set to false.")
}

pub fn odd_couple_party() -> Error {
    Error::new(
        "ODD_COUPLE_PARTY",
        "Seats for couples are for two; the party has an odd number of people.",
    )
    .next("Give an even party_size, or leave couple out.")
}

pub fn couple_and_wheelchair() -> Error {
    Error::new(
        "COUPLE_AND_WHEELCHAIR",
        "No block has seats for couples and wheelchair spaces.",
    )
    .next("Choose one of couple and wheelchairs.")
}

pub fn too_many_wheelchairs() -> Error {
    Error::new(
        "TOO_MANY_WHEELCHAIRS",
        "There are more wheelchairs than people in the party.",
    )
    .next("party_size counts everybody, those in wheelchairs included.")
}

pub fn waiting_list_full(most: u32) -> Error {
    Error::new(
        "WAITING_LIST_FULL",
        format!("{most} parties already wait for this screening, which is the limit."),
    )
    .next("Offer another screening from find_best_seats or get_show_schedule.")
}

pub fn too_many_parties(most: u32) -> Error {
    Error::new(
        "TOO_MANY_PARTIES",
        format!("You have {most} parties waiting for this screening, which is the limit."),
    )
    .next("Cancel the waiting_id of one that no longer waits, or choose another screening.")
}

pub fn waiting_not_found() -> Error {
    Error::new(
        "WAITING_NOT_FOUND",
        "There is no such place on a waiting list.",
    )
    .next("Check the waiting_id that join_waiting_list returned.")
}

/// A party that no screening of this hall could ever seat.
pub fn party_never_fits(show: &Show, party_size: usize) -> Error {
    Error::new(
        "PARTY_NEVER_FITS",
        format!(
            "{} has no place for this party of {party_size}, even when it is empty.",
            show.theater_name
        ),
    )
    .next("Set together to false, ask for less, or choose a screening in another hall.")
}

pub fn too_many_waiting(most: u32) -> Error {
    Error::new(
        "TOO_MANY_WAITING",
        format!("{most} calls already wait for seats, which is the limit."),
    )
    .next("Call get_reservation_details without timeout from time to time.")
    .details(json!({ "limit": most }))
}

pub fn seat_not_found(missing: &[Seat], show: &Show, hall: &Hall) -> Error {
    let (noun, verb) = plural(missing, ("Seat", "does"), ("Seats", "do"));
    Error::new(
        "SEAT_NOT_FOUND",
        format!(
            "{noun} {} {verb} not exist in {}.",
            join(missing),
            show.theater_name
        ),
    )
    .next(format!("Its rows are {}.", hall.rows_in_words()))
    .details(json!({ "missing": seat_ids(missing) }))
}

pub fn seats_taken(
    taken: &[Seat],
    wanted: &[Seat],
    map: &SeatMap<'_>,
    other_shows: &[Listing],
) -> Error {
    let (noun, verb) = plural(taken, ("Seat", "is"), ("Seats", "are"));
    let message = format!("{noun} {} {verb} already occupied.", join(taken));
    let block = map.nearest_block(wanted);
    let next = match (&block, wanted.len()) {
        (Some(block), 1) => format!(
            "Nothing was reserved. The nearest free seat: {}.",
            join(block)
        ),
        (Some(block), _) => format!(
            "Nothing was reserved. The nearest free block: {}.",
            join(block)
        ),
        (None, count) if map.free_count() < count => {
            let other = match other_shows.is_empty() {
                true => "offer another from get_show_schedule",
                false => "details.candidates are other screenings of the film",
            };
            let left = match map.free_count() {
                0 => "The screening is full".to_owned(),
                free => format!("Only {free} seats are left"),
            };
            format!("Nothing was reserved. {left}; {other}, or join_waiting_list.")
        }
        (None, count) => format!(
            "Nothing was reserved. No row has {count} suitable free seats side by side; choose \
             single seats from get_seat_availability or another screening."
        ),
    };
    let mut details = match other_shows.is_empty() {
        true => json!({}),
        false => screenings(other_shows),
    };
    if let Some(details) = details.as_object_mut() {
        details.insert("taken".into(), json!(seat_ids(taken)));
        details.insert("available_seats_count".into(), json!(map.free_count()));
        if let Some(block) = &block {
            details.insert("nearest_free_block".into(), json!(seat_ids(block)));
        }
    }
    Error::new("SEATS_TAKEN", message)
        .next(next)
        .details(details)
}

pub fn reservation_not_found() -> Error {
    Error::new("RESERVATION_NOT_FOUND", "Reservation not found.")
        .next("Check the reservation_id that reserve_seats or hold_seats returned.")
}

/// The noun and the verb for one seat or for several.
fn plural<T>(seats: &[Seat], one: T, many: T) -> T {
    if seats.len() == 1 { one } else { many }
}
