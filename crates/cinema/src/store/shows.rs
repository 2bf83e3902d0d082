//! Screenings, alone and with their counts of free seats.

use kit::{Param, Result, Row, Sql};

use crate::model::{Listing, Show, when::HouseTime};

/// The columns of [`read`], and the tables they come from.
pub(super) const COLUMNS: &str = "s.id, s.film_id, f.title, s.theater_id, t.name, t.seat_count, \
     t.layout_digest, s.show_date, s.start_minute, s.end_minute, s.starts_at, f.english_title, \
     f.genre, f.age_class, s.waiting, s.is_demo, (SELECT d.digest FROM cinema_documents d \
     WHERE d.name = 'prices' AND d.is_demo = s.is_demo)";
pub(super) const WIDTH: usize = 17;
pub(super) const TABLES: &str = "cinema_shows s JOIN cinema_films f ON f.id = s.film_id \
     JOIN cinema_theaters t ON t.id = s.theater_id";

pub(super) fn read(row: &Row) -> Result<Show> {
    Ok(Show {
        id: row.text(0)?,
        film_id: row.text(1)?,
        film_title: row.text(2)?,
        theater_id: row.text(3)?,
        theater_name: row.text(4)?,
        seat_count: row.int(5)?,
        layout_digest: row.int(6)?,
        date: row.text(7)?,
        start: HouseTime::from_minutes(row.int(8)?),
        end: HouseTime::from_minutes(row.int(9)?),
        starts_at: row.int(10)?,
        film_english_title: row.text(11)?,
        genre: row.text(12)?,
        age_class: row.text(13)?,
        waiting: row.int(14)?,
        is_demo: row.int(15)? == 1,
        price_digest: row.opt_int(16)?,
    })
}

pub fn show(sql: &mut dyn Sql, id: &str) -> Result<Option<Show>> {
    sql.query_one(
        &format!("SELECT {COLUMNS} FROM {TABLES} WHERE s.id = $1"),
        &[Param::Text(id)],
    )?
    .map(|row| read(&row))
    .transpose()
}

/// Which screenings to list. Empty fields do not narrow the list.
#[derive(Debug, Clone, Default)]
pub struct Filter<'a> {
    /// Any of these films.
    pub films: Vec<&'a str>,
    /// Any of these days of the programme.
    pub dates: Vec<String>,
    /// Any of these house times.
    pub times: Vec<HouseTime>,
    /// The exact instant.
    pub at: Option<i64>,
    /// From this instant on.
    pub from: Option<i64>,
}

/// Screenings in the order of their start, each with its number of free seats, in
/// one statement. Seats whose hold has expired by `now` are free.
pub fn listings(
    sql: &mut dyn Sql,
    filter: &Filter<'_>,
    now: i64,
    limit: usize,
) -> Result<Vec<Listing>> {
    let mut params = vec![Param::Int(now), Param::Int(rows(limit))];
    let mut conditions = Vec::new();
    let one_of: [(&str, Vec<Param<'_>>); 4] = [
        (
            "s.film_id",
            filter.films.iter().map(|id| Param::Text(id)).collect(),
        ),
        (
            "s.show_date",
            filter.dates.iter().map(Param::from).collect(),
        ),
        (
            "s.start_minute",
            filter
                .times
                .iter()
                .map(|time| Param::Int(time.minutes()))
                .collect(),
        ),
        (
            "s.starts_at",
            filter.at.map(Param::Int).into_iter().collect(),
        ),
    ];
    for (column, values) in one_of {
        if values.is_empty() {
            continue;
        }
        let first = params.len() + 1;
        params.extend(values);
        let marks: Vec<String> = (first..=params.len()).map(|n| format!("${n}")).collect();
        conditions.push(format!("{column} IN ({})", marks.join(", ")));
    }
    if let Some(from) = filter.from {
        params.push(Param::Int(from));
        conditions.push(format!("s.starts_at >= ${}", params.len()));
    }
    let condition = if conditions.is_empty() {
        String::new()
    } else {
        format!("WHERE {}", conditions.join(" AND "))
    };
    let found = sql.query(
        &format!(
            "SELECT {COLUMNS}, (SELECT COUNT(*) FROM cinema_taken_seats k WHERE k.show_id = s.id \
             AND (k.expires_at IS NULL OR k.expires_at > $1)) \
             FROM {TABLES} {condition} ORDER BY s.starts_at, s.id LIMIT $2"
        ),
        &params,
    )?;
    found
        .iter()
        .map(|row| {
            let show = read(row)?;
            let free = (show.seat_count - row.int(WIDTH)?).max(0);
            Ok(Listing {
                show,
                free,
                most_together: None,
            })
        })
        .collect()
}

/// The first and the last day on which a screening begins after `now`.
pub fn coming_days(sql: &mut dyn Sql, now: i64) -> Result<Option<(String, String)>> {
    let mut day = |order: &str| -> Result<Option<String>> {
        let found = sql.query_one(
            &format!(
                "SELECT show_date FROM cinema_shows WHERE starts_at > $1 \
                 ORDER BY starts_at {order} LIMIT 1"
            ),
            &[Param::Int(now)],
        )?;
        found.map(|row| row.text(0)).transpose()
    };
    Ok(day("ASC")?.zip(day("DESC")?))
}

/// The days with screenings, from this one on. Reads the index by day alone.
pub fn days_from(sql: &mut dyn Sql, first: &str, most: usize) -> Result<Vec<String>> {
    let found = sql.query(
        "SELECT DISTINCT show_date FROM cinema_shows WHERE show_date >= $1 \
         ORDER BY show_date LIMIT $2",
        &[Param::Text(first), Param::Int(rows(most))],
    )?;
    found.iter().map(|row| row.text(0)).collect()
}

/// Where a list of screenings continues: after this start and id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListFrom {
    pub starts_at: i64,
    pub id: String,
}

/// The screenings that follow.
pub fn shows_from(sql: &mut dyn Sql, from: &ListFrom, limit: usize) -> Result<Vec<Show>> {
    // The first condition uses the index. The second one drops the few that start
    // at the same time and were already listed.
    sql.query(
        &format!(
            "SELECT {COLUMNS} FROM {TABLES} WHERE s.starts_at >= $1 \
             AND (s.starts_at > $1 OR s.id > $2) ORDER BY s.starts_at, s.id LIMIT $3"
        ),
        &[
            Param::Int(from.starts_at),
            Param::Text(&from.id),
            Param::Int(rows(limit)),
        ],
    )?
    .iter()
    .map(read)
    .collect()
}

/// Ids of screenings from an instant on.
pub fn coming_ids(sql: &mut dyn Sql, from: i64, limit: usize) -> Result<Vec<String>> {
    sql.query(
        "SELECT id FROM cinema_shows WHERE starts_at >= $1 ORDER BY starts_at, id LIMIT $2",
        &[Param::Int(from), Param::Int(rows(limit))],
    )?
    .iter()
    .map(|row| row.text(0))
    .collect()
}

/// Screenings after an instant for which somebody waits.
pub fn shows_with_waiting(sql: &mut dyn Sql, after: i64) -> Result<Vec<Show>> {
    sql.query(
        &format!(
            "SELECT {COLUMNS} FROM {TABLES} WHERE s.waiting > 0 AND s.starts_at > $1 \
             ORDER BY s.starts_at, s.id"
        ),
        &[Param::Int(after)],
    )?
    .iter()
    .map(read)
    .collect()
}

fn rows(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
