//! Reservations: booked, held, cancelled. Their seats are in [`super::seats`].

use kit::{Error, Param, Result, Sql};

use super::{seats, shows};
use crate::model::{
    Show, Status,
    quote::Quote,
    seat::{Seat, join},
};

pub struct NewReservation<'a> {
    pub id: &'a str,
    pub show_id: &'a str,
    pub seats: &'a [Seat],
    pub caller: &'a str,
    pub created_at: i64,
    /// Until when the seats are held; `None`: they are booked.
    pub expires_at: Option<i64>,
    /// What they cost; `None` if that is not known.
    pub price: Option<&'a Quote>,
}

/// Writes the reservation and takes its seats. `false` when one of them has an
/// owner: see [`seats::take`].
pub fn book(sql: &mut dyn Sql, new: &NewReservation<'_>, now: i64) -> Result<bool> {
    let names = join(new.seats);
    let (status, held_since) = match new.expires_at {
        Some(_) => (Status::Held, Some(new.created_at)),
        None => (Status::Confirmed, None),
    };
    sql.execute(
        "INSERT INTO cinema_reservations \
         (id, show_id, seats, status, caller, created_at, expires_at, held_since, price, is_demo) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0)",
        &[
            Param::Text(new.id),
            Param::Text(new.show_id),
            Param::Text(&names),
            Param::Text(status.as_str()),
            Param::Text(new.caller),
            Param::Int(new.created_at),
            Param::from(new.expires_at),
            Param::from(held_since),
            Param::Text(&Quote::to_text(new.price)),
        ],
    )?;
    seats::take(sql, new.show_id, new.id, new.seats, new.expires_at, now)
}

/// Removes a hold that could not get all its seats.
pub fn remove(sql: &mut dyn Sql, new: &NewReservation<'_>) -> Result<()> {
    seats::release(sql, new.show_id, new.id, new.seats)?;
    sql.execute(
        "DELETE FROM cinema_reservations WHERE id = $1",
        &[Param::Text(new.id)],
    )?;
    Ok(())
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

/// Makes other transactions of this caller that lock it wait until this one ends. Otherwise
/// each of several holds at once could count the seats before the others take theirs.
pub fn lock_caller(sql: &mut dyn Sql, caller: &str) -> Result<()> {
    // The row is locked although it is deleted at once, so the table stays empty.
    for statement in [
        "INSERT INTO cinema_caller_locks (caller) VALUES ($1)",
        "DELETE FROM cinema_caller_locks WHERE caller = $1",
    ] {
        sql.execute(statement, &[Param::Text(caller)])?;
    }
    Ok(())
}

/// How many seats the caller holds now, over all screenings.
pub fn held_by_caller(sql: &mut dyn Sql, caller: &str, now: i64) -> Result<usize> {
    let holds = sql.query(
        "SELECT seats FROM cinema_reservations \
         WHERE expires_at IS NOT NULL AND expires_at > $1 AND caller = $2 AND status = 'held'",
        &[Param::Int(now), Param::Text(caller)],
    )?;
    let counts = holds.iter().map(|row| Ok(row.text(0)?.split(", ").count()));
    counts.sum()
}

pub struct StoredReservation {
    pub id: String,
    pub show: Show,
    pub seats: Vec<Seat>,
    pub status: Status,
    pub created_at: i64,
    pub expires_at: Option<i64>,
    pub held_since: Option<i64>,
    /// Increases with every exchange and every partial cancellation.
    pub version: i64,
    /// When somebody came in with its ticket.
    pub admitted_at: Option<i64>,
    /// What the seats cost; `None` if that was not known.
    pub price: Option<Quote>,
}

impl StoredReservation {
    /// Whether it owns its seats now.
    pub fn is_alive(&self) -> bool {
        matches!(self.status, Status::Held | Status::Confirmed)
    }
}

pub fn reservation(sql: &mut dyn Sql, id: &str, now: i64) -> Result<Option<StoredReservation>> {
    let found = sql.query_one(
        &format!(
            "SELECT {}, r.seats, r.status, r.created_at, r.expires_at, r.held_since, r.version, \
             r.admitted_at, r.price FROM {} JOIN cinema_reservations r ON r.show_id = s.id \
             WHERE r.id = $1",
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
        id: id.to_owned(),
        show: shows::read(&row)?,
        seats: seats.ok_or_else(|| Error::internal(format!("seats of {id}: {names}")))?,
        status: Status::read(&stored, expires_at, now)
            .ok_or_else(|| Error::internal(format!("status of {id}: {stored}")))?,
        created_at: row.int(shows::WIDTH + 2)?,
        expires_at,
        held_since: row.opt_int(shows::WIDTH + 4)?,
        version: row.int(shows::WIDTH + 5)?,
        admitted_at: row.opt_int(shows::WIDTH + 6)?,
        price: Quote::read(&row.text(shows::WIDTH + 7)?),
    }))
}

/// The reservation, locked until the transaction ends: nobody else changes it
/// meanwhile.
pub fn locked_reservation(
    sql: &mut dyn Sql,
    id: &str,
    now: i64,
) -> Result<Option<StoredReservation>> {
    sql.execute(
        "UPDATE cinema_reservations SET id = id WHERE id = $1",
        &[Param::Text(id)],
    )?;
    reservation(sql, id, now)
}

/// What changes about a reservation. Its seats are changed by [`super::seats`].
pub struct Revision<'a> {
    pub show_id: &'a str,
    pub seats: &'a [Seat],
    pub status: Status,
    pub expires_at: Option<i64>,
    /// Whether tickets for it are no longer valid.
    pub voids_tickets: bool,
    pub price: Option<&'a Quote>,
}

pub fn revise(sql: &mut dyn Sql, id: &str, revision: &Revision<'_>, now: i64) -> Result<()> {
    sql.execute(
        "UPDATE cinema_reservations SET show_id = $2, seats = $3, status = $4, expires_at = $5, \
         version = version + $6, changed_at = $7, price = $8 WHERE id = $1",
        &[
            Param::Text(id),
            Param::Text(revision.show_id),
            Param::Text(&join(revision.seats)),
            Param::Text(revision.status.as_str()),
            Param::from(revision.expires_at),
            Param::Int(i64::from(revision.voids_tickets)),
            Param::Int(now),
            Param::Text(&Quote::to_text(revision.price)),
        ],
    )?;
    Ok(())
}

/// How many holds one call of [`delete_expired_holds`] deletes.
pub const HOLDS_PER_DELETION: usize = 100;

/// Deletes holds that expired before an instant, some at a time, and what is left of
/// their seats. Returns how many.
pub fn delete_expired_holds(sql: &mut dyn Sql, before: i64) -> Result<usize> {
    let holds = sql.query(
        "SELECT id, show_id FROM cinema_reservations WHERE expires_at IS NOT NULL \
         AND expires_at < $1 AND status = 'held' ORDER BY expires_at LIMIT $2",
        &[Param::Int(before), Param::Int(HOLDS_PER_DELETION as i64)],
    )?;
    for hold in &holds {
        let (id, show_id) = (hold.text(0)?, hold.text(1)?);
        sql.execute(
            "DELETE FROM cinema_taken_seats WHERE show_id = $1 AND reservation_id = $2",
            &[Param::Text(&show_id), Param::Text(&id)],
        )?;
        sql.execute(
            "DELETE FROM cinema_waiting WHERE hold_id = $1",
            &[Param::Text(&id)],
        )?;
        sql.execute(
            "DELETE FROM cinema_reservations WHERE id = $1 AND status = 'held' \
             AND expires_at < $2",
            &[Param::Text(&id), Param::Int(before)],
        )?;
    }
    Ok(holds.len())
}

/// The screenings of which a hold expired after one instant and until another, and when
/// the next hold expires.
pub fn expiring(sql: &mut dyn Sql, after: i64, until: i64) -> Result<(Vec<String>, Option<i64>)> {
    let shows = sql.query(
        "SELECT DISTINCT show_id FROM cinema_reservations WHERE expires_at IS NOT NULL \
         AND expires_at > $1 AND expires_at <= $2 AND status = 'held'",
        &[Param::Int(after), Param::Int(until)],
    )?;
    let shows: Result<Vec<String>> = shows.iter().map(|row| row.text(0)).collect();
    let next = sql.query_one(
        "SELECT MIN(expires_at) FROM cinema_reservations WHERE expires_at IS NOT NULL \
         AND expires_at > $1 AND status = 'held'",
        &[Param::Int(until)],
    )?;
    Ok((shows?, next.map_or(Ok(None), |row| row.opt_int(0))?))
}
