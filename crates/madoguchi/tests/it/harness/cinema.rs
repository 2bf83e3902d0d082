//! What tests need to know about the sample cinema.

use std::collections::BTreeSet;

use jiff::{ToSpan, Zoned};
use serde_json::{Value, json};

use super::{Desk, structured};

/// A day on which nothing has begun yet, at whatever hour the tests run.
pub fn day_after_tomorrow() -> String {
    let now = Zoned::now().in_tz("Asia/Tokyo").unwrap();
    now.date().checked_add(2.days()).unwrap().to_string()
}

/// A screening of a film on that day; `nth` tells them apart.
pub async fn show_to_book(desk: &Desk, film: &str, nth: usize) -> Value {
    let arguments = json!({ "movie_id": film, "date": day_after_tomorrow() });
    let result = desk.call("cinema", "get_show_schedule", arguments).await;
    structured(&result)["schedules"][nth].clone()
}

/// The screening of that day with the most free seats: which hall has a film differs from
/// day to day.
pub async fn largest_show(desk: &Desk) -> Value {
    let arguments = json!({ "movie_id": "", "date": day_after_tomorrow() });
    let result = desk.call("cinema", "get_show_schedule", arguments).await;
    let shows = structured(&result)["schedules"].as_array().unwrap().iter();
    let free = |show: &&Value| show["available_seats_count"].as_u64();
    shows.max_by_key(free).unwrap().clone()
}

pub async fn seats_of(desk: &Desk, schedule_id: &str) -> Value {
    let arguments = json!({ "schedule_id": schedule_id });
    let result = desk
        .call("cinema", "get_seat_availability", arguments)
        .await;
    structured(&result).clone()
}

/// The ids of the free seats in an answer about seats.
pub fn free_seats(seats: &Value) -> BTreeSet<String> {
    ids(&seats["available_seats"], "available_numbers")
}

fn ids(rows: &Value, numbers: &str) -> BTreeSet<String> {
    let rows = rows.as_array().unwrap().iter();
    rows.flat_map(|row| {
        let letter = row["row"].as_str().unwrap();
        let numbers = row[numbers].as_array().unwrap().iter();
        numbers.map(move |number| format!("{letter}{number}"))
    })
    .collect()
}
