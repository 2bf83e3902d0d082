//! Every error of the counter.

use kit::{Error, Rule, Shortlist};
use serde_json::{Value, json};

use crate::{
    answers::Candidate,
    model::{
        Listing, Show,
        film::Film,
        hall::{Hall, SeatMap},
        seat::{Seat, join},
    },
};

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
const fn rule(
    field: &'static str,
    keyword: &'static str,
    code: &'static str,
    message: &'static str,
) -> Rule {
    Rule {
        field,
        keyword,
        code,
        message,
    }
}

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

pub fn show_started(show: &Show) -> Error {
    Error::new(
        "SHOW_STARTED",
        format!(
            "This screening began on {} at {}; seats are no longer sold.",
            show.date, show.start
        ),
    )
    .next("Offer a later screening from get_show_schedule.")
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
    .next("Make several reservations.")
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
    .details(json!({ "missing": names(missing) }))
}

pub fn seats_taken(taken: &[Seat], wanted: &[Seat], map: &SeatMap<'_>) -> Error {
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
        (None, _) if map.free_count() == 0 => {
            "Nothing was reserved. The screening is full; offer another from get_show_schedule."
                .into()
        }
        (None, count) => format!(
            "Nothing was reserved. No row has {count} suitable free seats side by side; choose \
             single seats from get_seat_availability or another screening."
        ),
    };
    let mut details = json!({
        "taken": names(taken),
        "available_seats_count": map.free_count(),
    });
    if let (Some(block), Some(details)) = (&block, details.as_object_mut()) {
        details.insert("nearest_free_block".into(), json!(names(block)));
    }
    Error::new("SEATS_TAKEN", message)
        .next(next)
        .details(details)
}

pub fn reservation_not_found() -> Error {
    Error::new("RESERVATION_NOT_FOUND", "Reservation not found.")
        .next("Check the reservation_id that reserve_seats returned.")
}

fn names(seats: &[Seat]) -> Vec<String> {
    seats.iter().map(Seat::to_string).collect()
}

/// The noun and the verb for one seat or for several.
fn plural<T>(seats: &[Seat], one: T, many: T) -> T {
    if seats.len() == 1 { one } else { many }
}
