//! Rows as films, screenings and reservations, each checked by itself.

use jiff::tz::TimeZone;

use super::fields::{Fields, Problem, numbers, short};
use crate::{
    model::{
        Status,
        film::{Film, tidy_age_class},
        quote::Quote,
        seat::Seat,
        when::{DAY, HouseTime},
    },
    store::ReservationRow,
};

const LONGEST_ID: usize = 100;
const LONGEST_NAME: usize = 300;
const LONGEST_TEXT: usize = 5_000;
/// An end before the start is after midnight, unless the show would last longer.
const LONGEST_SHOW: i64 = 10 * 60;

pub const FILM_ID: &[&str] = &["movie_id", "film_id", "id"];
pub const HALL_ID: &[&str] = &["theater_id", "hall_id", "screen_id", "theatre_id", "id"];
const SHOW_ID: &[&str] = &["schedule_id", "show_id", "screening_id", "id"];

/// The earlier box office repeated the screening's data in other rows.
#[rustfmt::skip]
const OF_THE_SHOW: &[&str] = &[
    "movie_id", "movie_title", "date", "start_time", "end_time", "theater_id",
];

pub fn film(fields: &Fields<'_>) -> Result<Film, Problem> {
    let age_class = fields.text(&["age_class", "age_rating"], 20)?;
    Ok(Film {
        id: fields.required(FILM_ID, LONGEST_ID)?,
        title: fields.required(&["title", "movie_title", "name"], LONGEST_NAME)?,
        reading: fields.text(&["reading", "title_kana", "kana"], LONGEST_NAME)?,
        english_title: fields.text(&["english_title", "title_en"], LONGEST_NAME)?,
        genre: fields.text(&["genre", "genres"], 100)?,
        duration_minutes: fields
            .integer(
                &["duration", "duration_minutes", "minutes", "runtime"],
                1,
                2_000,
            )?
            .unwrap_or(0),
        rating: fields
            .real(&["rating", "score"], 0.0, 5.0)?
            .unwrap_or_default(),
        age_class: match age_class.as_str() {
            "" => "G".to_owned(),
            text => tidy_age_class(text)
                .ok_or_else(|| format!("`{}` is not G, PG12, R15+ or R18+", short(text)))?
                .to_owned(),
        },
        popularity: fields
            .integer(&["popularity"], 0, 1_000_000_000)?
            .unwrap_or(0),
        description: fields.text(&["description", "synopsis"], LONGEST_TEXT)?,
        english_description: fields
            .text(&["english_description", "description_en"], LONGEST_TEXT)?,
        release_date: fields.date(&["release_date"])?.unwrap_or_default(),
    })
}

/// A screening as a file has it.
#[derive(Debug, Clone)]
pub struct ShowRecord {
    pub id: String,
    /// Empty if only the title is given.
    pub film_id: String,
    pub film_title: String,
    pub theater_id: String,
    /// The hall's name; empty if unknown.
    pub theater_name: String,
    pub date: String,
    pub start: HouseTime,
    /// `None`: after the film's duration.
    pub end: Option<HouseTime>,
}

pub fn show(fields: &Fields<'_>) -> Result<ShowRecord, Problem> {
    // Counts of the earlier box office; they follow from the seats.
    fields.ignore(&["available_seats_count", "total_seats_count", "age_class"]);
    let start = fields.time(&["start_time", "start"])?;
    let start = start.ok_or("there is no start_time")?;
    let end = fields.time(&["end_time", "end"])?;
    let record = ShowRecord {
        id: fields.required(SHOW_ID, LONGEST_ID)?,
        film_id: fields.text(&["movie_id", "film_id"], LONGEST_ID)?,
        film_title: fields.text(&["movie_title", "film_title", "title"], LONGEST_NAME)?,
        theater_id: fields.required(
            &[
                "theater_id",
                "hall_id",
                "screen_id",
                "theatre_id",
                "theater",
                "screen",
            ],
            LONGEST_ID,
        )?,
        theater_name: fields.text(&["theater_name", "hall_name"], LONGEST_NAME)?,
        date: fields
            .date(&["date", "show_date"])?
            .ok_or("there is no date")?,
        start,
        end: end.map(|end| after(start, end)).transpose()?,
    };
    if record.film_id.is_empty() && record.film_title.is_empty() {
        return Err("there is no movie_id".into());
    }
    Ok(record)
}

/// The end of a show. `00:30` after a start at 22:30 is 24:30.
fn after(start: HouseTime, end: HouseTime) -> Result<HouseTime, Problem> {
    let wrapped = HouseTime::from_minutes(end.minutes() + DAY);
    for end in [end, wrapped] {
        let length = end.minutes() - start.minutes();
        if (1..=LONGEST_SHOW).contains(&length) {
            return Ok(end);
        }
    }
    Err(match end <= start {
        true => format!("the show ends at {end}, before it starts at {start}"),
        false => format!("the show lasts from {start} to {end}, longer than 10 hours"),
    })
}

/// A reservation. One without a time was made `now`.
pub fn reservation(
    fields: &Fields<'_>,
    zone: &TimeZone,
    now: i64,
) -> Result<ReservationRow, Problem> {
    fields.ignore(OF_THE_SHOW);
    let status = fields.text(&["status"], 20)?.to_lowercase();
    let status = match status.as_str() {
        "" | "reserved" | "booked" | "success" => Status::Confirmed,
        "canceled" => Status::Cancelled,
        other => Status::read(other, None, 0).ok_or_else(|| {
            format!(
                "`{}` is not held, confirmed, cancelled or expired",
                short(other)
            )
        })?,
    };
    let price = match fields.value(&["price"]) {
        None => String::new(),
        Some((_, value)) => {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            match Quote::read(&text) {
                Some(_) => text,
                None => return Err("price is not the price of an export".into()),
            }
        }
    };
    // Only a hold expires. A booking with this field would be sold again.
    let expires_at = fields.instant(&["expires_at"], zone)?;
    let record = ReservationRow {
        id: fields.required(&["reservation_id", "booking_id", "id"], LONGEST_ID)?,
        show_id: fields.required(&["schedule_id", "show_id", "screening_id"], LONGEST_ID)?,
        seats: fields.seats(&["seat_ids", "seats"])?,
        status,
        caller: fields.text(&["caller"], 200)?,
        created_at: fields
            .instant(&["reservation_time", "created_at"], zone)?
            .unwrap_or(now),
        expires_at: expires_at.filter(|_| status == Status::Held),
        held_since: fields.instant(&["held_since"], zone)?,
        changed_at: fields.instant(&["changed_at"], zone)?,
        admitted_at: fields.instant(&["admitted_at"], zone)?,
        version: fields.integer(&["version"], 1, i64::MAX)?.unwrap_or(1),
        price,
    };
    match (record.status, record.expires_at) {
        (Status::Held, None) => Err("a held reservation has no expires_at".into()),
        (Status::Confirmed | Status::Held, _) if record.seats.is_empty() => {
            Err("there are no seat_ids".into())
        }
        _ => Ok(record),
    }
}

/// The seats of a screening as the earlier box office kept them.
#[derive(Debug, Clone)]
pub struct AvailabilityRecord {
    pub show_id: String,
    pub free: Vec<Seat>,
    pub taken: Vec<Seat>,
}

pub fn availability(fields: &Fields<'_>) -> Result<AvailabilityRecord, Problem> {
    fields.ignore(OF_THE_SHOW);
    fields.ignore(&[
        "available_seats_count",
        "total_seats_count",
        "schedule_info",
    ]);
    let record = AvailabilityRecord {
        show_id: fields.required(SHOW_ID, LONGEST_ID)?,
        free: rows_of_seats(
            fields,
            &["available_seats"],
            &["available_numbers", "numbers"],
        )?,
        taken: rows_of_seats(
            fields,
            &["occupied_seats"],
            &["occupied_numbers", "numbers"],
        )?,
    };
    let both = record.free.iter().find(|seat| record.taken.contains(seat));
    match both {
        Some(seat) => Err(format!("seat {seat} is both free and taken")),
        None => Ok(record),
    }
}

/// `[{"row": "A", "available_numbers": [1, 2]}]`, or a plain list of seats.
fn rows_of_seats(
    fields: &Fields<'_>,
    names: &'static [&'static str],
    number_names: &'static [&'static str],
) -> Result<Vec<Seat>, Problem> {
    let rows = match fields.value(names) {
        Some((_, serde_json::Value::Array(rows))) if rows.iter().all(|row| row.is_object()) => rows,
        _ => return fields.seats(names),
    };
    let mut seats: Vec<Seat> = Vec::new();
    for row in rows.iter().filter_map(serde_json::Value::as_object) {
        let row = Fields::new(row);
        let letters = row.required(&["row"], 10)?;
        let Some((_, value)) = row.value(number_names) else {
            continue;
        };
        for number in numbers(value)? {
            let name = format!("{letters}{number}");
            let seat = Seat::parse(&name).ok_or_else(|| format!("`{name}` is not a seat"))?;
            if seats.contains(&seat) {
                return Err(format!("seat {seat} is named twice"));
            }
            seats.push(seat);
        }
    }
    Ok(seats)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_show(start: &str, end: &str) -> Result<String, Problem> {
        let row = json!({
            "schedule_id": "S1", "movie_id": 1, "theater_id": "T1", "date": "2026-11-15",
            "start_time": start, "end_time": end
        });
        let record = show(&Fields::new(row.as_object().unwrap()))?;
        Ok(record.end.map_or(String::new(), |end| end.to_string()))
    }

    #[test]
    fn an_end_before_the_start_is_after_midnight_or_wrong() {
        for (start, end, wanted) in [
            ("19:00", "21:00", "21:00"),
            ("22:30", "00:30", "24:30"),
            ("25:10", "26:50", "26:50"),
            ("25:10", "02:50", "26:50"),
            ("25:10", "", ""),
        ] {
            assert_eq!(read_show(start, end).unwrap(), wanted, "{start} {end}");
        }
        for (start, end) in [("19:00", "18:00"), ("19:00", "19:00"), ("08:00", "23:00")] {
            let problem = read_show(start, end).unwrap_err();
            assert!(problem.starts_with("the show "), "{problem}");
        }
    }
}
