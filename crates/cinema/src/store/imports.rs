//! What an import reads and writes.

use std::collections::HashMap;

use kit::{Error, Param, Result, Sql, text::fold};

use super::{insert::upsert_rows, seats::seat};
use crate::model::{
    Status,
    film::Film,
    seat::{Seat, join},
    when::HouseTime,
};

/// Values of one `IN (…)`: far fewer than either engine allows.
const PER_STATEMENT: usize = 200;

/// A film of the operator's or of the demo.
pub struct KnownFilm {
    pub title_folded: String,
    pub minutes: i64,
    pub is_demo: bool,
}

pub fn known_films(sql: &mut dyn Sql) -> Result<HashMap<String, KnownFilm>> {
    let rows = sql.query(
        "SELECT id, title, duration_minutes, is_demo FROM cinema_films",
        &[],
    )?;
    let film = |row: &kit::Row| {
        let known = KnownFilm {
            title_folded: fold(&row.text(1)?),
            minutes: row.int(2)?,
            is_demo: row.int(3)? == 1,
        };
        Ok((row.text(0)?, known))
    };
    rows.iter().map(film).collect()
}

/// Each hall, and whether it is the demo's.
pub fn known_halls(sql: &mut dyn Sql) -> Result<HashMap<String, bool>> {
    let rows = sql.query("SELECT id, is_demo FROM cinema_theaters", &[])?;
    let rows = rows.iter();
    rows.map(|row| Ok((row.text(0)?, row.int(1)? == 1)))
        .collect()
}

#[derive(Debug, Clone)]
pub struct KnownShow {
    pub theater_id: String,
    pub starts_at: i64,
    pub ends_at: i64,
    pub is_demo: bool,
}

pub fn known_shows(sql: &mut dyn Sql) -> Result<HashMap<String, KnownShow>> {
    let rows = sql.query(
        "SELECT id, theater_id, starts_at, start_minute, end_minute, is_demo FROM cinema_shows",
        &[],
    )?;
    let show = |row: &kit::Row| {
        let starts_at = row.int(2)?;
        let known = KnownShow {
            theater_id: row.text(1)?,
            starts_at,
            ends_at: starts_at + (row.int(4)? - row.int(3)?) * 60_000,
            is_demo: row.int(5)? == 1,
        };
        Ok((row.text(0)?, known))
    };
    rows.iter().map(show).collect()
}

pub fn has_demo(sql: &mut dyn Sql) -> Result<bool> {
    let any = "SELECT 1 FROM cinema_shows WHERE is_demo = 1 LIMIT 1";
    Ok(sql.query_one(any, &[])?.is_some())
}

/// The owners of the seats of some screenings at `now`.
pub fn seat_owners(
    sql: &mut dyn Sql,
    shows: &[&str],
    now: i64,
) -> Result<HashMap<String, HashMap<Seat, String>>> {
    let mut owners: HashMap<String, HashMap<Seat, String>> = HashMap::new();
    let statement = "SELECT seat_row, seat_number, show_id, reservation_id \
         FROM cinema_taken_seats WHERE (expires_at IS NULL OR expires_at > $1) AND show_id";
    for row in one_of(sql, statement, Some(now), shows)? {
        let of_show = owners.entry(row.text(2)?).or_default();
        of_show.insert(seat(&row)?, row.text(3)?);
    }
    Ok(owners)
}

/// The screening of each of these reservations that exists.
pub fn known_reservations(sql: &mut dyn Sql, ids: &[&str]) -> Result<HashMap<String, String>> {
    let statement = "SELECT id, show_id FROM cinema_reservations WHERE id";
    let rows = one_of(sql, statement, None, ids)?;
    let rows = rows.iter();
    rows.map(|row| Ok((row.text(0)?, row.text(1)?))).collect()
}

fn one_of(
    sql: &mut dyn Sql,
    statement: &str,
    first: Option<i64>,
    values: &[&str],
) -> Result<Vec<kit::Row>> {
    let mut rows = Vec::new();
    for chunk in values.chunks(PER_STATEMENT) {
        let mut params: Vec<Param<'_>> = first.map(Param::Int).into_iter().collect();
        let from = params.len() + 1;
        params.extend(chunk.iter().map(|value| Param::Text(value)));
        let marks: Vec<String> = (from..=params.len()).map(|n| format!("${n}")).collect();
        let statement = format!("{statement} IN ({})", marks.join(", "));
        rows.extend(sql.query(&statement, &params)?);
    }
    Ok(rows)
}

pub fn save_films(sql: &mut dyn Sql, films: &[Film]) -> Result<()> {
    let folded: Vec<String> = films.iter().map(|film| fold(&film.title)).collect();
    let rows: Vec<[Param<'_>; 14]> = films
        .iter()
        .zip(&folded)
        .map(|(film, folded)| {
            [
                Param::Text(&film.id),
                Param::Text(&film.title),
                Param::Text(folded),
                Param::Text(&film.reading),
                Param::Text(&film.english_title),
                Param::Text(&film.genre),
                Param::Int(film.duration_minutes),
                Param::Real(film.rating),
                Param::Text(&film.age_class),
                Param::Int(film.popularity),
                Param::Text(&film.description),
                Param::Text(&film.english_description),
                Param::Text(&film.release_date),
                Param::Int(0),
            ]
        })
        .collect();
    let table = "cinema_films (id, title, title_folded, reading, english_title, genre, \
         duration_minutes, rating, age_class, popularity, description, english_description, \
         release_date, is_demo)";
    let replace = "ON CONFLICT (id) DO UPDATE SET title = excluded.title, \
         title_folded = excluded.title_folded, reading = excluded.reading, \
         english_title = excluded.english_title, genre = excluded.genre, \
         duration_minutes = excluded.duration_minutes, rating = excluded.rating, \
         age_class = excluded.age_class, popularity = excluded.popularity, \
         description = excluded.description, \
         english_description = excluded.english_description, \
         release_date = excluded.release_date";
    upsert_rows(sql, table, &rows, replace)?;
    Ok(())
}

/// A screening to write.
#[derive(Debug, Clone)]
pub struct NewShow {
    pub id: String,
    pub film_id: String,
    pub theater_id: String,
    pub date: String,
    pub start: HouseTime,
    pub end: HouseTime,
    pub starts_at: i64,
}

pub fn save_shows(sql: &mut dyn Sql, shows: &[NewShow]) -> Result<()> {
    let rows: Vec<[Param<'_>; 8]> = shows
        .iter()
        .map(|show| {
            [
                Param::Text(&show.id),
                Param::Text(&show.film_id),
                Param::Text(&show.theater_id),
                Param::Text(&show.date),
                Param::Int(show.start.minutes()),
                Param::Int(show.end.minutes()),
                Param::Int(show.starts_at),
                Param::Int(0),
            ]
        })
        .collect();
    let table = "cinema_shows (id, film_id, theater_id, show_date, start_minute, end_minute, \
         starts_at, is_demo)";
    let replace = "ON CONFLICT (id) DO UPDATE SET film_id = excluded.film_id, \
         theater_id = excluded.theater_id, show_date = excluded.show_date, \
         start_minute = excluded.start_minute, end_minute = excluded.end_minute, \
         starts_at = excluded.starts_at";
    upsert_rows(sql, table, &rows, replace)?;
    Ok(())
}

/// A reservation to write, with every column of its row.
#[derive(Debug, Clone)]
pub struct ReservationRow {
    pub id: String,
    pub show_id: String,
    pub seats: Vec<Seat>,
    pub status: Status,
    pub caller: String,
    pub created_at: i64,
    pub expires_at: Option<i64>,
    pub held_since: Option<i64>,
    pub changed_at: Option<i64>,
    pub version: i64,
    pub admitted_at: Option<i64>,
    /// The quote as JSON; empty if there is none.
    pub price: String,
}

impl ReservationRow {
    /// Whether its seats are taken at `now`.
    pub fn owns_seats(&self, now: i64) -> bool {
        match self.status {
            Status::Confirmed => true,
            Status::Held => self.expires_at.is_some_and(|at| at > now),
            Status::Cancelled | Status::Expired => false,
        }
    }
}

/// Writes new reservations and takes their seats. As in a booking, the primary key of
/// the seats decides: an error if somebody was faster.
pub fn save_reservations(
    sql: &mut dyn Sql,
    reservations: &[ReservationRow],
    now: i64,
) -> Result<()> {
    let names = reservations.iter().map(|new| join(&new.seats));
    let names: Vec<String> = names.collect();
    let rows: Vec<[Param<'_>; 13]> = reservations
        .iter()
        .zip(&names)
        .map(|(new, seats)| {
            [
                Param::Text(&new.id),
                Param::Text(&new.show_id),
                Param::Text(seats),
                Param::Text(new.status.as_str()),
                Param::Text(&new.caller),
                Param::Int(new.created_at),
                Param::from(new.expires_at),
                Param::from(new.held_since),
                Param::from(new.changed_at),
                Param::Int(new.version),
                Param::from(new.admitted_at),
                Param::Text(&new.price),
                Param::Int(0),
            ]
        })
        .collect();
    let table = "cinema_reservations (id, show_id, seats, status, caller, created_at, expires_at, \
         held_since, changed_at, version, admitted_at, price, is_demo)";
    upsert_rows(sql, table, &rows, "")?;
    let mut taken: Vec<(&ReservationRow, &Seat)> = reservations
        .iter()
        .filter(|new| new.owns_seats(now))
        .flat_map(|new| new.seats.iter().map(move |seat| (new, seat)))
        .collect();
    // Two transactions that lock in the same order never wait for each other.
    taken.sort_by(|a, b| a.0.show_id.cmp(&b.0.show_id).then(a.1.cmp(b.1)));
    let rows: Vec<[Param<'_>; 5]> = taken
        .iter()
        .map(|(new, seat)| {
            [
                Param::Text(&new.show_id),
                Param::Text(&seat.row),
                Param::Int(i64::from(seat.number)),
                Param::Text(&new.id),
                Param::from(new.expires_at),
            ]
        })
        .collect();
    let table = "cinema_taken_seats (show_id, seat_row, seat_number, reservation_id, expires_at)";
    let replace = format!(
        "ON CONFLICT (show_id, seat_row, seat_number) DO UPDATE \
         SET reservation_id = excluded.reservation_id, expires_at = excluded.expires_at \
         WHERE cinema_taken_seats.expires_at <= {now}"
    );
    let written = upsert_rows(sql, table, &rows, &replace)?;
    if usize::try_from(written).is_ok_and(|written| written == rows.len()) {
        return Ok(());
    }
    let error = Error::new("SEATS_TAKEN", "A seat was sold while the import ran.");
    Err(error.next("Nothing was imported; import again."))
}
