//! Lists of reservations for people: those of a screening, and those of the console.

use kit::{Error, Param, Result, Row, Sql};

use super::shows;
use crate::model::{Show, Status};

pub struct ListedBooking {
    pub id: String,
    pub show: Show,
    /// Their names, such as `C5, C6`.
    pub seats: String,
    pub status: Status,
    pub caller: String,
    pub created_at: i64,
}

/// Who owns seats of a screening, newest first, without the sample data.
pub fn bookings_of_show(
    sql: &mut dyn Sql,
    show_id: &str,
    now: i64,
    most: i64,
) -> Result<Vec<ListedBooking>> {
    let which = "r.show_id = $3 AND r.is_demo = 0";
    list(sql, which, (now, most), Some(show_id))
}

/// What people at the console have booked for screenings to come, newest first.
pub fn bookings_at_console(sql: &mut dyn Sql, now: i64, most: i64) -> Result<Vec<ListedBooking>> {
    // The caller as in the index.
    let which = "r.caller = 'console' AND s.starts_at > $1";
    list(sql, which, (now, most), None)
}

fn list(
    sql: &mut dyn Sql,
    which: &str,
    (now, most): (i64, i64),
    show_id: Option<&str>,
) -> Result<Vec<ListedBooking>> {
    let mut params = vec![Param::Int(now), Param::Int(most)];
    params.extend(show_id.map(Param::Text));
    let rows = sql.query(
        &format!(
            "SELECT {}, r.id, r.seats, r.status, r.caller, r.created_at, r.expires_at \
             FROM {} JOIN cinema_reservations r ON r.show_id = s.id \
             WHERE {which} AND r.status IN ('held', 'confirmed') \
             AND (r.expires_at IS NULL OR r.expires_at > $1) \
             ORDER BY r.created_at DESC, r.id LIMIT $2",
            shows::COLUMNS,
            shows::TABLES,
        ),
        &params,
    )?;
    rows.iter().map(|row| read(row, now)).collect()
}

fn read(row: &Row, now: i64) -> Result<ListedBooking> {
    let at = shows::WIDTH;
    let (id, stored) = (row.text(at)?, row.text(at + 2)?);
    let status = Status::read(&stored, row.opt_int(at + 5)?, now);
    let status = status.ok_or_else(|| Error::internal(format!("status of {id}: {stored}")))?;
    Ok(ListedBooking {
        id,
        show: shows::read(row)?,
        seats: row.text(at + 1)?,
        status,
        caller: row.text(at + 3)?,
        created_at: row.int(at + 4)?,
    })
}
