//! What an export reads: the rows of the operator, or those of the demo.

use kit::{Error, Param, Result, Row, Sql};

use super::{
    films,
    halls::hall,
    imports::{NewShow, ReservationRow},
};
use crate::model::{Status, film::Film, hall::Hall, seat::Seat, when::HouseTime};

pub fn has_own_films(sql: &mut dyn Sql) -> Result<bool> {
    let any = "SELECT 1 FROM cinema_films WHERE is_demo = 0 LIMIT 1";
    Ok(sql.query_one(any, &[])?.is_some())
}

/// Films, with those of others that screenings to export show.
pub fn films_to_export(sql: &mut dyn Sql, demo: bool) -> Result<Vec<Film>> {
    let columns = films::COLUMNS;
    let rows = sql.query(
        &format!(
            "SELECT {columns} FROM cinema_films f WHERE f.is_demo = $1 OR EXISTS \
             (SELECT 1 FROM cinema_shows s WHERE s.film_id = f.id AND s.is_demo = $1) \
             ORDER BY f.id"
        ),
        &[Param::Int(demo.into())],
    )?;
    rows.iter().map(films::film).collect()
}

/// Id, name and plan of each hall.
pub fn halls_to_export(sql: &mut dyn Sql, demo: bool) -> Result<Vec<(String, String, Hall)>> {
    let rows = sql.query(
        "SELECT t.id, t.name FROM cinema_theaters t WHERE t.is_demo = $1 OR EXISTS \
         (SELECT 1 FROM cinema_shows s WHERE s.theater_id = t.id AND s.is_demo = $1) \
         ORDER BY t.id",
        &[Param::Int(demo.into())],
    )?;
    let mut halls = Vec::with_capacity(rows.len());
    for row in &rows {
        let id = row.text(0)?;
        let plan = hall(sql, &id)?;
        halls.push((id, row.text(1)?, plan));
    }
    Ok(halls)
}

pub fn shows_to_export(sql: &mut dyn Sql, demo: bool) -> Result<Vec<NewShow>> {
    let rows = sql.query(
        "SELECT id, film_id, theater_id, show_date, start_minute, end_minute, starts_at \
         FROM cinema_shows WHERE is_demo = $1 ORDER BY starts_at, id",
        &[Param::Int(demo.into())],
    )?;
    let show = |row: &Row| {
        Ok(NewShow {
            id: row.text(0)?,
            film_id: row.text(1)?,
            theater_id: row.text(2)?,
            date: row.text(3)?,
            start: HouseTime::from_minutes(row.int(4)?),
            end: HouseTime::from_minutes(row.int(5)?),
            starts_at: row.int(6)?,
        })
    };
    rows.iter().map(show).collect()
}

/// Every reservation, also those that were cancelled.
pub fn reservations_to_export(sql: &mut dyn Sql, demo: bool) -> Result<Vec<ReservationRow>> {
    let rows = sql.query(
        "SELECT r.id, r.show_id, r.seats, r.status, r.caller, r.created_at, r.expires_at, \
         r.held_since, r.changed_at, r.version, r.admitted_at, r.price \
         FROM cinema_reservations r JOIN cinema_shows s ON s.id = r.show_id \
         WHERE s.is_demo = $1 ORDER BY r.created_at, r.id",
        &[Param::Int(demo.into())],
    )?;
    rows.iter().map(reservation).collect()
}

fn reservation(row: &Row) -> Result<ReservationRow> {
    let names = row.text(2)?;
    let status = row.text(3)?;
    Ok(ReservationRow {
        id: row.text(0)?,
        show_id: row.text(1)?,
        seats: names.split(", ").filter_map(Seat::parse).collect(),
        status: Status::read(&status, None, 0)
            .ok_or_else(|| Error::internal(format!("status {status}")))?,
        caller: row.text(4)?,
        created_at: row.int(5)?,
        expires_at: row.opt_int(6)?,
        held_since: row.opt_int(7)?,
        changed_at: row.opt_int(8)?,
        version: row.int(9)?,
        admitted_at: row.opt_int(10)?,
        price: row.text(11)?,
    })
}
