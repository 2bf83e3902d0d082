//! What a CalDAV server knows of the events.

use kit::{Param, Result, Sql};

use super::events::{COLUMNS, Event};

/// An event that the server has yet to be told of.
pub struct Due {
    pub event: Event,
    /// Of the copy that we left there.
    pub etag: Option<String>,
    pub attempts: i64,
}

/// What came of telling it.
pub enum Outcome {
    Done {
        etag: Option<String>,
    },
    /// Somebody else changed the server's copy, which is left as it is.
    Conflict,
    Retry(String),
}

/// Events that were changed since, as far back as `since`.
pub fn due(sql: &mut dyn Sql, now: i64, since: i64, most: i64) -> Result<Vec<Due>> {
    let columns: Vec<String> = COLUMNS
        .split(", ")
        .map(|name| format!("e.{name}"))
        .collect();
    let rows = sql.query(
        &format!(
            "SELECT {}, c.etag, COALESCE(c.attempts, 0) FROM innervoice_events e \
             LEFT JOIN innervoice_caldav c ON c.event_id = e.id \
             WHERE e.ends_at >= $2 AND e.sequence > COALESCE(c.sequence, -1) \
             AND (c.next_attempt_at IS NULL OR c.next_attempt_at <= $1) \
             ORDER BY e.updated_at, e.id LIMIT $3",
            columns.join(", ")
        ),
        &[Param::Int(now), Param::Int(since), Param::Int(most)],
    )?;
    let read = |row: &kit::Row| {
        Ok(Due {
            event: Event::of(row)?,
            etag: row.opt_text(11)?,
            attempts: row.int(12)?,
        })
    };
    rows.iter().map(read).collect()
}

pub fn settle(sql: &mut dyn Sql, due: &Due, outcome: &Outcome, next: i64) -> Result<()> {
    let (sequence, etag, word, attempts, next, error) = match outcome {
        Outcome::Done { etag } => (due.event.sequence, etag.as_deref(), "done", 0, None, None),
        Outcome::Conflict => (
            due.event.sequence,
            due.etag.as_deref(),
            "conflict",
            0,
            None,
            None,
        ),
        // The one that was settled before stays.
        Outcome::Retry(why) => (
            -1,
            due.etag.as_deref(),
            "waiting",
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
