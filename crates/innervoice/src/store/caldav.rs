//! What was written to the CalDAV server.

use kit::{Param, Result, Sql};

use super::events::{self, COLUMNS, Event, WIDTH};

/// An event that is not on the server yet, in its newest version.
pub struct Due {
    pub event: Event,
    /// The tag of the copy that we wrote.
    pub etag: Option<String>,
    pub attempts: i64,
    /// The user decided to replace the copy with that tag.
    pub overwrites: bool,
}

/// The outcome of a write.
pub enum Outcome {
    Done {
        etag: Option<String>,
    },
    /// Somebody else changed or deleted the copy. It is not touched; this is the
    /// copy, if it exists.
    Conflict(ServerChange, Option<ServerCopy>),
    Retry(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerChange {
    Changed,
    Deleted,
}

/// The copy of an event on the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerCopy {
    pub etag: Option<String>,
    pub text: String,
}

/// Longer copies are cut, since nobody reads more. The tag covers all of the copy,
/// so a change in the part that was cut is still detected.
const LONGEST_COPY: usize = 32 * 1024;

/// Whether the server has an event.
#[derive(Debug, PartialEq, Eq)]
pub enum SyncStatus {
    Done,
    /// Not written yet, and why the last attempt failed.
    Waiting(Option<String>),
    Conflict(ServerChange),
}

const DELETED: &str = "deleted";

pub fn standing(sql: &mut dyn Sql, event: &Event) -> Result<SyncStatus> {
    let row = sql.query_one(
        "SELECT sequence, outcome, last_error FROM innervoice_caldav WHERE event_id = $1",
        &[Param::Text(&event.id)],
    )?;
    let Some(row) = row else {
        return Ok(SyncStatus::Waiting(None));
    };
    let (sequence, outcome, said) = (row.int(0)?, row.text(1)?, row.opt_text(2)?);
    Ok(match outcome.as_str() {
        "waiting" | "overwrite" if sequence < event.sequence => SyncStatus::Waiting(said),
        _ if sequence < event.sequence => SyncStatus::Waiting(None),
        "conflict" if said.as_deref() == Some(DELETED) => {
            SyncStatus::Conflict(ServerChange::Deleted)
        }
        "conflict" => SyncStatus::Conflict(ServerChange::Changed),
        _ => SyncStatus::Done,
    })
}

/// Cancelled events whose copy is still on the server, because somebody changed it.
pub fn left_there(sql: &mut dyn Sql, from: i64, to: i64, most: i64) -> Result<Vec<Event>> {
    let rows = sql.query(
        &format!(
            "SELECT {} FROM innervoice_events e \
             JOIN innervoice_caldav c ON c.event_id = e.id AND c.outcome = 'conflict' \
             WHERE e.starts_at < $2 AND {} AND e.cancelled_at IS NOT NULL \
             AND c.sequence >= e.sequence ORDER BY e.starts_at, e.id LIMIT $3",
            columns(),
            events::not_over("$1")
        ),
        &[Param::Int(from), Param::Int(to), Param::Int(most)],
    )?;
    rows.iter().map(Event::of).collect()
}

/// The server's copy that an overwrite of this event would replace: `None` when
/// there is no conflict, `Some(None)` when somebody deleted the copy.
pub fn in_conflict(sql: &mut dyn Sql, event: &Event) -> Result<Option<Option<ServerCopy>>> {
    let row = sql.query_one(
        "SELECT their_etag, their_copy FROM innervoice_caldav \
         WHERE event_id = $1 AND outcome = 'conflict' AND sequence >= $2",
        &[Param::Text(&event.id), Param::Int(event.sequence)],
    )?;
    let read = |row: kit::Row| {
        let etag = row.opt_text(0)?;
        let text = row.opt_text(1)?;
        Ok(text.map(|text| ServerCopy { etag, text }))
    };
    row.map(read).transpose()
}

/// Lets the next write replace this copy, and no other. `false` when the conflict
/// is by now about another copy.
pub fn overwrite(sql: &mut dyn Sql, id: &str, copy: Option<&ServerCopy>) -> Result<bool> {
    let etag = copy.and_then(|copy| copy.etag.as_deref());
    let changed = sql.execute(
        "UPDATE innervoice_caldav SET etag = their_etag, outcome = 'overwrite', \
         next_attempt_at = NULL, their_etag = NULL, their_copy = NULL \
         WHERE event_id = $1 AND outcome = 'conflict' AND COALESCE(their_etag, '') = $2",
        &[Param::Text(id), Param::Text(etag.unwrap_or_default())],
    )?;
    Ok(changed == 1)
}

fn columns() -> String {
    let columns: Vec<String> = COLUMNS
        .split(", ")
        .map(|name| format!("e.{name}"))
        .collect();
    columns.join(", ")
}

/// Events that the server does not have yet and that end after `since`.
pub fn due(sql: &mut dyn Sql, now: i64, since: i64, most: i64) -> Result<Vec<Due>> {
    let rows = sql.query(
        &format!(
            "SELECT {}, c.etag, COALESCE(c.attempts, 0), COALESCE(c.outcome, '') \
             FROM innervoice_events e \
             LEFT JOIN innervoice_caldav c ON c.event_id = e.id \
             WHERE {} AND e.sequence > COALESCE(c.sequence, -1) \
             AND (c.next_attempt_at IS NULL OR c.next_attempt_at <= $1) \
             ORDER BY e.updated_at, e.id LIMIT $3",
            columns(),
            events::not_over("$2")
        ),
        &[Param::Int(now), Param::Int(since), Param::Int(most)],
    )?;
    let read = |row: &kit::Row| {
        Ok(Due {
            event: Event::of(row)?,
            etag: row.opt_text(WIDTH)?,
            attempts: row.int(WIDTH + 1)?,
            overwrites: row.text(WIDTH + 2)? == "overwrite",
        })
    };
    rows.iter().map(read).collect()
}

pub fn settle(sql: &mut dyn Sql, due: &Due, outcome: &Outcome, next: i64) -> Result<()> {
    let (sequence, etag, word, attempts, next, error) = match outcome {
        Outcome::Done { etag } => (due.event.sequence, etag.as_deref(), "done", 0, None, None),
        Outcome::Conflict(theirs, _) => (
            due.event.sequence,
            due.etag.as_deref(),
            "conflict",
            0,
            None,
            (*theirs == ServerChange::Deleted).then_some(DELETED),
        ),
        // The version on record stays.
        Outcome::Retry(why) => (
            -1,
            due.etag.as_deref(),
            if due.overwrites {
                "overwrite"
            } else {
                "waiting"
            },
            due.attempts + 1,
            Some(next),
            Some(why.as_str()),
        ),
    };
    let copy = match outcome {
        Outcome::Conflict(_, copy) => copy.as_ref(),
        Outcome::Done { .. } | Outcome::Retry(_) => None,
    };
    let text = copy.map(|copy| {
        let end = copy.text.floor_char_boundary(LONGEST_COPY);
        copy.text.get(..end).unwrap_or_default()
    });
    sql.execute(
        "INSERT INTO innervoice_caldav \
         (event_id, sequence, etag, outcome, attempts, next_attempt_at, last_error, \
         their_etag, their_copy) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
         ON CONFLICT (event_id) DO UPDATE SET etag = excluded.etag, outcome = excluded.outcome, \
         attempts = excluded.attempts, next_attempt_at = excluded.next_attempt_at, \
         last_error = excluded.last_error, their_etag = excluded.their_etag, \
         their_copy = excluded.their_copy, sequence = CASE WHEN excluded.sequence > \
         innervoice_caldav.sequence THEN excluded.sequence ELSE innervoice_caldav.sequence END",
        &[
            Param::Text(&due.event.id),
            Param::Int(sequence),
            etag.into(),
            Param::Text(word),
            Param::Int(attempts),
            next.into(),
            error.into(),
            copy.and_then(|copy| copy.etag.as_deref()).into(),
            text.into(),
        ],
    )?;
    Ok(())
}
