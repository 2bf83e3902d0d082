//! What a CalDAV server knows of the events.

use kit::{Param, Result, Sql};

use super::events::{COLUMNS, Event};

/// An event that the server has yet to be told of.
pub struct Due {
    pub event: Event,
    /// Of the copy that we left there.
    pub etag: Option<String>,
    pub attempts: i64,
    /// The user wants our version there, whatever the copy says.
    pub overwrites: bool,
}

/// What came of telling it.
pub enum Outcome {
    Done {
        etag: Option<String>,
    },
    /// Somebody else did this to the server's copy, which is left as it is.
    Conflict(Theirs),
    Retry(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theirs {
    Changed,
    Deleted,
}

/// How an event stands with the server.
#[derive(Debug, PartialEq, Eq)]
pub enum Standing {
    Done,
    /// It has yet to be told; why not yet, if it was tried.
    Waiting(Option<String>),
    Conflict(Theirs),
}

const DELETED: &str = "deleted";

pub fn standing(sql: &mut dyn Sql, event: &Event) -> Result<Standing> {
    let row = sql.query_one(
        "SELECT sequence, outcome, last_error FROM innervoice_caldav WHERE event_id = $1",
        &[Param::Text(&event.id)],
    )?;
    let Some(row) = row else {
        return Ok(Standing::Waiting(None));
    };
    let (sequence, outcome, said) = (row.int(0)?, row.text(1)?, row.opt_text(2)?);
    Ok(match outcome.as_str() {
        "waiting" | "overwrite" if sequence < event.sequence => Standing::Waiting(said),
        _ if sequence < event.sequence => Standing::Waiting(None),
        "conflict" if said.as_deref() == Some(DELETED) => Standing::Conflict(Theirs::Deleted),
        "conflict" => Standing::Conflict(Theirs::Changed),
        _ => Standing::Done,
    })
}

/// Cancelled events whose copy stays on the server, because somebody changed it.
pub fn left_there(sql: &mut dyn Sql, from: i64, to: i64, most: i64) -> Result<Vec<Event>> {
    let rows = sql.query(
        &format!(
            "SELECT {} FROM innervoice_events e \
             JOIN innervoice_caldav c ON c.event_id = e.id AND c.outcome = 'conflict' \
             WHERE e.starts_at < $2 AND e.ends_at > $1 AND e.cancelled_at IS NOT NULL \
             AND c.sequence >= e.sequence ORDER BY e.starts_at, e.id LIMIT $3",
            columns()
        ),
        &[Param::Int(from), Param::Int(to), Param::Int(most)],
    )?;
    rows.iter().map(Event::of).collect()
}

/// The next time the server is told, the copy in conflict is replaced.
pub fn overwrite(sql: &mut dyn Sql, id: &str) -> Result<()> {
    sql.execute(
        "UPDATE innervoice_caldav SET etag = NULL, outcome = 'overwrite', next_attempt_at = NULL \
         WHERE event_id = $1 AND outcome = 'conflict'",
        &[Param::Text(id)],
    )?;
    Ok(())
}

fn columns() -> String {
    let columns: Vec<String> = COLUMNS
        .split(", ")
        .map(|name| format!("e.{name}"))
        .collect();
    columns.join(", ")
}

/// Events that were changed since, as far back as `since`.
pub fn due(sql: &mut dyn Sql, now: i64, since: i64, most: i64) -> Result<Vec<Due>> {
    let rows = sql.query(
        &format!(
            "SELECT {}, c.etag, COALESCE(c.attempts, 0), COALESCE(c.outcome, '') \
             FROM innervoice_events e \
             LEFT JOIN innervoice_caldav c ON c.event_id = e.id \
             WHERE e.ends_at >= $2 AND e.sequence > COALESCE(c.sequence, -1) \
             AND (c.next_attempt_at IS NULL OR c.next_attempt_at <= $1) \
             ORDER BY e.updated_at, e.id LIMIT $3",
            columns()
        ),
        &[Param::Int(now), Param::Int(since), Param::Int(most)],
    )?;
    let read = |row: &kit::Row| {
        Ok(Due {
            event: Event::of(row)?,
            etag: row.opt_text(11)?,
            attempts: row.int(12)?,
            overwrites: row.text(13)? == "overwrite",
        })
    };
    rows.iter().map(read).collect()
}

pub fn settle(sql: &mut dyn Sql, due: &Due, outcome: &Outcome, next: i64) -> Result<()> {
    let (sequence, etag, word, attempts, next, error) = match outcome {
        Outcome::Done { etag } => (due.event.sequence, etag.as_deref(), "done", 0, None, None),
        Outcome::Conflict(theirs) => (
            due.event.sequence,
            due.etag.as_deref(),
            "conflict",
            0,
            None,
            (*theirs == Theirs::Deleted).then_some(DELETED),
        ),
        // The one that was settled before stays.
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
    sql.execute(
        "INSERT INTO innervoice_caldav \
         (event_id, sequence, etag, outcome, attempts, next_attempt_at, last_error) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) \
         ON CONFLICT (event_id) DO UPDATE SET etag = excluded.etag, outcome = excluded.outcome, \
         attempts = excluded.attempts, next_attempt_at = excluded.next_attempt_at, \
         last_error = excluded.last_error, sequence = CASE WHEN excluded.sequence > \
         innervoice_caldav.sequence THEN excluded.sequence ELSE innervoice_caldav.sequence END",
        &[
            Param::Text(&due.event.id),
            Param::Int(sequence),
            etag.into(),
            Param::Text(word),
            Param::Int(attempts),
            next.into(),
            error.into(),
        ],
    )?;
    Ok(())
}
