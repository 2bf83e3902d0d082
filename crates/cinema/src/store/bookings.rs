//! Reservations, and the seats they own.

use std::collections::HashMap;

use kit::{Error, Param, Result, Row, Sql};

use super::shows;
use crate::model::{
    Show, Status,
    seat::{Seat, join},
};

/// Far fewer than either engine allows.
const SHOWS_PER_STATEMENT: usize = 200;

pub struct NewReservation<'a> {
    pub id: &'a str,
    pub show_id: &'a str,
    pub seats: &'a [Seat],
    pub status: Status,
    pub caller: &'a str,
    pub created_at: i64,
    /// Until when the seats are held; `None`: without end.
    pub expires_at: Option<i64>,
}

/// Writes the reservation and takes its seats. `false` when one of them has an
/// owner: then the caller must let the transaction fail.
///
/// Nothing is checked beforehand: the seats' primary key decides who is first. A
/// seat whose hold has expired gets its new owner in the same statement. The seats
/// are sorted so that two transactions never wait for each other.
pub fn book(sql: &mut dyn Sql, new: &NewReservation<'_>, now: i64) -> Result<bool> {
    let mut seats: Vec<&Seat> = new.seats.iter().collect();
    seats.sort();
    let names = join(new.seats);
    sql.execute(
        "INSERT INTO cinema_reservations \
         (id, show_id, seats, status, caller, created_at, expires_at, is_demo) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, 0)",
        &[
            Param::Text(new.id),
            Param::Text(new.show_id),
            Param::Text(&names),
            Param::Text(new.status.as_str()),
            Param::Text(new.caller),
            Param::Int(new.created_at),
            Param::from(new.expires_at),
        ],
    )?;
    let mut params = vec![
        Param::Text(new.show_id),
        Param::Text(new.id),
        Param::from(new.expires_at),
        Param::Int(now),
    ];
    let mut rows = Vec::with_capacity(seats.len());
    for seat in &seats {
        params.push(Param::Text(&seat.row));
        params.push(Param::Int(i64::from(seat.number)));
        rows.push(format!(
            "($1, ${}, ${}, $2, $3)",
            params.len() - 1,
            params.len()
        ));
    }
    let taken = sql.execute(
        &format!(
            "INSERT INTO cinema_taken_seats \
             (show_id, seat_row, seat_number, reservation_id, expires_at) VALUES {} \
             ON CONFLICT (show_id, seat_row, seat_number) DO UPDATE \
             SET reservation_id = excluded.reservation_id, expires_at = excluded.expires_at \
             WHERE cinema_taken_seats.expires_at <= $4",
            rows.join(", ")
        ),
        &params,
    )?;
    Ok(usize::try_from(taken).is_ok_and(|taken| taken == seats.len()))
}

/// Locks the screening, so that its seats can be counted reliably until the
/// transaction ends. Called before any seat is taken.
pub fn lock_show(sql: &mut dyn Sql, show_id: &str) -> Result<()> {
    sql.execute(
        "UPDATE cinema_shows SET id = id WHERE id = $1",
        &[Param::Text(show_id)],
    )?;
    Ok(())
}

/// How many seats of a screening the caller owns or holds now.
pub fn seats_of_caller(sql: &mut dyn Sql, show_id: &str, caller: &str, now: i64) -> Result<i64> {
    let count = sql.query_one(
        "SELECT COUNT(*) FROM cinema_taken_seats t \
         JOIN cinema_reservations r ON r.id = t.reservation_id \
         WHERE t.show_id = $1 AND r.caller = $2 \
         AND (t.expires_at IS NULL OR t.expires_at > $3)",
        &[Param::Text(show_id), Param::Text(caller), Param::Int(now)],
    )?;
    count.map_or(Ok(0), |row| row.int(0))
}

/// The seats of a screening that are owned or held now, without those of one
/// reservation.
pub fn taken_seats(
    sql: &mut dyn Sql,
    show_id: &str,
    now: i64,
    except: Option<&str>,
) -> Result<Vec<Seat>> {
    sql.query(
        "SELECT seat_row, seat_number FROM cinema_taken_seats WHERE show_id = $1 \
         AND (expires_at IS NULL OR expires_at > $2) AND reservation_id <> $3",
        &[
            Param::Text(show_id),
            Param::Int(now),
            Param::Text(except.unwrap_or("")),
        ],
    )?
    .iter()
    .map(seat)
    .collect()
}

/// The seats of several screenings that are owned or held now, by screening.
pub fn taken_by_show(
    sql: &mut dyn Sql,
    shows: &[&str],
    now: i64,
) -> Result<HashMap<String, Vec<Seat>>> {
    let mut taken: HashMap<String, Vec<Seat>> = HashMap::new();
    for shows in shows.chunks(SHOWS_PER_STATEMENT) {
        let mut params = vec![Param::Int(now)];
        params.extend(shows.iter().map(|id| Param::Text(id)));
        let marks: Vec<String> = (2..=params.len()).map(|n| format!("${n}")).collect();
        let rows = sql.query(
            &format!(
                "SELECT seat_row, seat_number, show_id FROM cinema_taken_seats \
                 WHERE show_id IN ({}) AND (expires_at IS NULL OR expires_at > $1)",
                marks.join(", ")
            ),
            &params,
        )?;
        for row in &rows {
            taken.entry(row.text(2)?).or_default().push(seat(row)?);
        }
    }
    Ok(taken)
}

fn seat(row: &Row) -> Result<Seat> {
    Ok(Seat {
        row: row.text(0)?,
        number: row.int(1)?.try_into().map_err(Error::internal)?,
    })
}

pub struct StoredReservation {
    pub show: Show,
    pub seats: Vec<Seat>,
    pub status: Status,
    pub created_at: i64,
    pub expires_at: Option<i64>,
}

pub fn reservation(sql: &mut dyn Sql, id: &str, now: i64) -> Result<Option<StoredReservation>> {
    let found = sql.query_one(
        &format!(
            "SELECT {}, r.seats, r.status, r.created_at, r.expires_at FROM {} \
             JOIN cinema_reservations r ON r.show_id = s.id WHERE r.id = $1",
            shows::COLUMNS,
            shows::TABLES,
        ),
        &[Param::Text(id)],
    )?;
    let Some(row) = found else {
        return Ok(None);
    };
    let names = row.text(shows::WIDTH)?;
    let seats: Option<Vec<Seat>> = names.split(", ").map(Seat::parse).collect();
    let stored = row.text(shows::WIDTH + 1)?;
    let expires_at = row.opt_int(shows::WIDTH + 3)?;
    Ok(Some(StoredReservation {
        show: shows::read(&row)?,
        seats: seats.ok_or_else(|| Error::internal(format!("seats of {id}: {names}")))?,
        status: Status::read(&stored, expires_at, now)
            .ok_or_else(|| Error::internal(format!("status of {id}: {stored}")))?,
        created_at: row.int(shows::WIDTH + 2)?,
        expires_at,
    }))
}
