//! The seats that have an owner. The primary key of `cinema_taken_seats` decides who
//! was first.

use std::collections::HashMap;

use kit::{Error, Param, Result, Row, Sql};

use crate::model::seat::Seat;

/// Far fewer than either engine allows.
const SHOWS_PER_STATEMENT: usize = 200;

/// Takes seats for a reservation, until `expires_at` or for good. `false` when one of
/// them has another owner: then some may be taken and others not, and the caller must
/// let the transaction fail, or release them all.
///
/// Nothing is checked beforehand: the primary key decides who is first. A seat whose
/// hold has expired gets its new owner in the same statement. The seats are sorted so
/// that two transactions never wait for each other.
pub fn take(
    sql: &mut dyn Sql,
    show_id: &str,
    reservation_id: &str,
    seats: &[Seat],
    expires_at: Option<i64>,
    now: i64,
) -> Result<bool> {
    let mut seats: Vec<&Seat> = seats.iter().collect();
    seats.sort();
    let mut params = vec![
        Param::Text(show_id),
        Param::Text(reservation_id),
        Param::from(expires_at),
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
             WHERE cinema_taken_seats.expires_at <= $4 \
             OR cinema_taken_seats.reservation_id = excluded.reservation_id",
            rows.join(", ")
        ),
        &params,
    )?;
    Ok(usize::try_from(taken).is_ok_and(|taken| taken == seats.len()))
}

/// Gives up seats of a reservation, and returns how many it still owned. A seat that
/// has passed to somebody else stays with them.
pub fn release(
    sql: &mut dyn Sql,
    show_id: &str,
    reservation_id: &str,
    seats: &[Seat],
) -> Result<u64> {
    let mut params = vec![Param::Text(show_id), Param::Text(reservation_id)];
    let mut conditions = Vec::with_capacity(seats.len());
    for seat in seats {
        params.push(Param::Text(&seat.row));
        params.push(Param::Int(i64::from(seat.number)));
        let (row, number) = (params.len() - 1, params.len());
        conditions.push(format!("(seat_row = ${row} AND seat_number = ${number})"));
    }
    if conditions.is_empty() {
        return Ok(0);
    }
    sql.execute(
        &format!(
            "DELETE FROM cinema_taken_seats WHERE show_id = $1 AND reservation_id = $2 AND ({})",
            conditions.join(" OR ")
        ),
        &params,
    )
}

/// Keeps all seats of a hold until another time, or for good. Returns how many it still
/// owns: fewer than it had if the hold expired and somebody took some.
pub fn keep_until(
    sql: &mut dyn Sql,
    show_id: &str,
    reservation_id: &str,
    expires_at: Option<i64>,
) -> Result<u64> {
    sql.execute(
        "UPDATE cinema_taken_seats SET expires_at = $3 WHERE show_id = $1 AND reservation_id = $2",
        &[
            Param::Text(show_id),
            Param::Text(reservation_id),
            Param::from(expires_at),
        ],
    )
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

/// Whether a seat is booked, or only held for some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owned {
    Booked,
    Held,
}

/// The seats of a screening that have an owner now.
pub fn owned_seats(sql: &mut dyn Sql, show_id: &str, now: i64) -> Result<Vec<(Seat, Owned)>> {
    sql.query(
        "SELECT seat_row, seat_number, expires_at FROM cinema_taken_seats WHERE show_id = $1 \
         AND (expires_at IS NULL OR expires_at > $2)",
        &[Param::Text(show_id), Param::Int(now)],
    )?
    .iter()
    .map(|row| {
        let owned = match row.opt_int(2)? {
            None => Owned::Booked,
            Some(_) => Owned::Held,
        };
        Ok((seat(row)?, owned))
    })
    .collect()
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

pub(super) fn seat(row: &Row) -> Result<Seat> {
    Ok(Seat {
        row: row.text(0)?,
        number: row.int(1)?.try_into().map_err(Error::internal)?,
    })
}
