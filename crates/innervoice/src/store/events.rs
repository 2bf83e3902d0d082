//! Events of the calendar.

use jiff::{Timestamp, tz::TimeZone};
use kit::{Param, Result, Row, Sql};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub id: String,
    pub title: String,
    pub description: String,
    pub location: String,
    pub starts_at: i64,
    pub ends_at: i64,
    pub zone: String,
    pub sequence: i64,
    pub cancelled_at: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
    /// Who made it.
    pub caller: String,
    /// Who changed it last, if anybody did.
    pub changed_by: Option<String>,
}

pub const COLUMNS: &str = "id, title, description, location, starts_at, ends_at, zone, sequence, \
    cancelled_at, created_at, updated_at, caller, changed_by";

impl Event {
    pub fn of(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.text(0)?,
            title: row.text(1)?,
            description: row.text(2)?,
            location: row.text(3)?,
            starts_at: row.int(4)?,
            ends_at: row.int(5)?,
            zone: row.text(6)?,
            sequence: row.int(7)?,
            cancelled_at: row.opt_int(8)?,
            created_at: row.int(9)?,
            updated_at: row.int(10)?,
            caller: row.text(11)?,
            changed_by: row.opt_text(12)?,
        })
    }

    pub fn zone(&self) -> TimeZone {
        kit::time::zone(&self.zone).unwrap_or(TimeZone::UTC)
    }

    pub fn start(&self) -> Timestamp {
        Timestamp::from_millisecond(self.starts_at).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    pub fn minutes(&self) -> i64 {
        (self.ends_at - self.starts_at) / 60_000
    }

    /// Whether this caller made it and nobody else changed it.
    pub fn is_of(&self, caller: &str) -> bool {
        super::is_of(caller, &self.caller, self.changed_by.as_deref())
    }
}

pub fn insert(sql: &mut dyn Sql, event: &Event) -> Result<()> {
    sql.execute(
        "INSERT INTO innervoice_events (id, title, description, location, starts_at, ends_at, \
         zone, sequence, caller, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9, $9)",
        &[
            Param::Text(&event.id),
            Param::Text(&event.title),
            Param::Text(&event.description),
            Param::Text(&event.location),
            Param::Int(event.starts_at),
            Param::Int(event.ends_at),
            Param::Text(&event.zone),
            Param::Text(&event.caller),
            Param::Int(event.created_at),
        ],
    )?;
    Ok(())
}

/// Changes it if nobody else did meanwhile; `false` if somebody did.
pub fn update(sql: &mut dyn Sql, event: &Event, by: &str, now: i64) -> Result<bool> {
    let changed = sql.execute(
        "UPDATE innervoice_events SET title = $2, description = $3, location = $4, \
         starts_at = $5, ends_at = $6, zone = $7, sequence = sequence + 1, updated_at = $8, \
         changed_by = $9 WHERE id = $1 AND sequence = $10 AND cancelled_at IS NULL",
        &[
            Param::Text(&event.id),
            Param::Text(&event.title),
            Param::Text(&event.description),
            Param::Text(&event.location),
            Param::Int(event.starts_at),
            Param::Int(event.ends_at),
            Param::Text(&event.zone),
            Param::Int(now),
            Param::Text(by),
            Param::Int(event.sequence),
        ],
    )?;
    Ok(changed == 1)
}

/// Cancels it if nobody changed it meanwhile; `false` if somebody did.
pub fn cancel(sql: &mut dyn Sql, event: &Event, now: i64) -> Result<bool> {
    let changed = sql.execute(
        "UPDATE innervoice_events SET cancelled_at = $2, updated_at = $2, sequence = sequence + 1 \
         WHERE id = $1 AND sequence = $3 AND cancelled_at IS NULL",
        &[
            Param::Text(&event.id),
            Param::Int(now),
            Param::Int(event.sequence),
        ],
    )?;
    Ok(changed == 1)
}

pub fn find(sql: &mut dyn Sql, id: &str) -> Result<Option<Event>> {
    let row = sql.query_one(
        &format!("SELECT {COLUMNS} FROM innervoice_events WHERE id = $1"),
        &[Param::Text(id)],
    )?;
    row.as_ref().map(Event::of).transpose()
}

/// How many of a caller's events are not over, counted up to `most`.
pub fn coming_of(sql: &mut dyn Sql, caller: &str, now: i64, most: i64) -> Result<i64> {
    super::count(
        sql,
        "SELECT 1 FROM innervoice_events \
         WHERE caller = $1 AND ends_at > $3 AND cancelled_at IS NULL",
        &[Param::Text(caller), Param::Int(most), Param::Int(now)],
    )
}

/// The longest duration of an event.
const LONGEST_MS: i64 = crate::errors::LONGEST_MINUTES * 60_000;

/// Events that are not cancelled and overlap the range.
pub fn between(sql: &mut dyn Sql, from: i64, to: i64, most: i64) -> Result<Vec<Event>> {
    let rows = sql.query(
        &format!(
            "SELECT {COLUMNS} FROM innervoice_events \
             WHERE starts_at >= $3 AND starts_at < $2 AND ends_at > $1 AND cancelled_at IS NULL \
             ORDER BY starts_at, id LIMIT $4"
        ),
        &[
            Param::Int(from),
            Param::Int(to),
            Param::Int(from.saturating_sub(LONGEST_MS)),
            Param::Int(most),
        ],
    )?;
    rows.iter().map(Event::of).collect()
}

/// For a feed: cancelled events too, so that subscribers remove them.
pub fn for_feed(sql: &mut dyn Sql, from: i64, most: i64) -> Result<Vec<Event>> {
    let rows = sql.query(
        &format!(
            "SELECT {COLUMNS} FROM innervoice_events WHERE starts_at >= $1 \
             ORDER BY starts_at, id LIMIT $2"
        ),
        &[Param::Int(from), Param::Int(most)],
    )?;
    rows.iter().map(Event::of).collect()
}
