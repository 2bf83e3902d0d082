//! The cinema as tables of rows, with the fields that the import reads.

use jiff::tz::TimeZone;
use kit::{Error, Result, Sql};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    model::{
        film::Film,
        hall::{Hall, HallSeat},
        place::Place,
        prices::PriceList,
        seat::Seat,
        when::precise,
    },
    store::{self, ReservationRow},
};

pub type Row = Map<String, Value>;

/// Rows of one kind.
pub struct Table {
    /// The name of its file, and of its list in a JSON document.
    pub name: &'static str,
    /// What one row is.
    pub noun: &'static str,
    pub rows: Vec<Row>,
}

/// Everything of the operator, or of the demo.
pub fn tables(sql: &mut dyn Sql, demo: bool, zone: &TimeZone) -> Result<Vec<Table>> {
    let table = |name, noun, rows| Table { name, noun, rows };
    let films = store::films_to_export(sql, demo)?;
    let halls = store::halls_to_export(sql, demo)?;
    let shows = store::shows_to_export(sql, demo)?;
    let reservations = store::reservations_to_export(sql, demo)?;
    let prices = store::document::<PriceList>(sql, demo)?.unwrap_or_default();
    let place = store::document::<Place>(sql, demo)?;
    let shows = shows.iter().map(|show| {
        row(json!({
            "schedule_id": show.id, "movie_id": show.film_id, "theater_id": show.theater_id,
            "date": show.date, "start_time": show.start, "end_time": show.end,
        }))
    });
    let reservations = reservations.iter().map(|it| reservation(it, zone));
    Ok(vec![
        table(
            "films",
            "film",
            films.iter().map(film).collect::<Result<_>>()?,
        ),
        table(
            "halls",
            "hall",
            halls.iter().map(hall).collect::<Result<_>>()?,
        ),
        table("shows", "show", shows.collect::<Result<_>>()?),
        table(
            "prices",
            "price",
            prices.rules.iter().map(plain).collect::<Result<_>>()?,
        ),
        table(
            "place",
            "place",
            place.iter().map(plain).collect::<Result<_>>()?,
        ),
        table(
            "reservations",
            "reservation",
            reservations.collect::<Result<_>>()?,
        ),
    ])
}

fn film(film: &Film) -> Result<Row> {
    row(json!({
        "movie_id": film.id, "title": film.title, "reading": film.reading,
        "english_title": film.english_title, "genre": film.genre,
        "duration": Some(film.duration_minutes).filter(|minutes| *minutes > 0),
        "rating": film.rating, "age_class": film.age_class, "popularity": film.popularity,
        "description": film.description, "english_description": film.english_description,
        "release_date": film.release_date,
    }))
}

fn hall((id, name, plan): &(String, String, Hall)) -> Result<Row> {
    row(json!({ "theater_id": id, "name": name, "rows": rows_of_seats(plan) }))
}

fn reservation(it: &ReservationRow, zone: &TimeZone) -> Result<Row> {
    let names = |seats: &[Seat]| seats.iter().map(Seat::to_string).collect::<Vec<_>>();
    let instant = |at: Option<i64>| at.map(|at| precise(at, zone));
    row(json!({
        "reservation_id": it.id, "schedule_id": it.show_id, "seat_ids": names(&it.seats),
        "status": it.status.as_str(), "reservation_time": precise(it.created_at, zone),
        "expires_at": instant(it.expires_at), "held_since": instant(it.held_since),
        "changed_at": instant(it.changed_at), "admitted_at": instant(it.admitted_at),
        "version": it.version,
        "caller": it.caller,
        "price": serde_json::from_str::<Value>(&it.price).unwrap_or_default(),
    }))
}

fn plain(value: &impl Serialize) -> Result<Row> {
    row(serde_json::to_value(value).map_err(Error::internal)?)
}

/// An object without its empty fields.
fn row(value: Value) -> Result<Row> {
    let Value::Object(mut row) = value else {
        return Err(Error::internal("a row is not an object"));
    };
    row.retain(|_, value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    });
    Ok(row)
}

/// The rows of a plan: each type of seats in a row by itself.
fn rows_of_seats(hall: &Hall) -> Vec<Map<String, Value>> {
    let places: Vec<&HallSeat> = hall.seats().collect();
    let same_row =
        |a: &&HallSeat, b: &&HallSeat| a.seat.row == b.seat.row && a.seat_type == b.seat_type;
    let mut rows: Vec<Map<String, Value>> = Vec::new();
    for part in places.chunk_by(same_row) {
        let Some(first) = part.first() else { continue };
        let numbers: Vec<u32> = part.iter().map(|place| place.seat.number).collect();
        rows.push(Map::from_iter([
            ("row".to_owned(), first.seat.row.clone().into()),
            ("numbers".to_owned(), ranges(&numbers).into()),
            ("seat_type".to_owned(), first.seat_type.clone().into()),
        ]));
    }
    rows
}

/// `1-4 6-10`
fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|left, right| left + 1 == *right);
    let texts: Vec<String> = runs
        .filter_map(|run| match (run.first()?, run.last()?) {
            (first, last) if first == last => Some(first.to_string()),
            (first, last) => Some(format!("{first}-{last}")),
        })
        .collect();
    texts.join(" ")
}
