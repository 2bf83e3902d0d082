//! The outbox, and every attempt to send from it.
//!
//! A row is claimed before it is sent and settled afterwards. An expired claim, or
//! one whose holder is gone, belongs to a process that died. What may safely be
//! sent twice is queued again; a text message is not.

use kit::{Param, Result, Row, Sql};

/// Begins the ids of the desk's notices.
pub const NOTICE: &str = "ntc_";

#[derive(Debug, Clone)]
pub struct OutboxItem {
    pub id: String,
    pub channel: String,
    pub recipient_name: Option<String>,
    pub address: String,
    pub subject: String,
    pub body: String,
    pub status: String,
    pub attempts: i64,
    pub undo_until: i64,
    pub next_attempt_at: Option<i64>,
    pub last_error: Option<String>,
    pub sent_at: Option<i64>,
    pub created_at: i64,
    /// Who sent it.
    pub caller: String,
}

const COLUMNS: &str = "id, channel, recipient_name, address, subject, body, status, \
    attempts, undo_until, next_attempt_at, last_error, sent_at, created_at, caller";

impl OutboxItem {
    fn of(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.text(0)?,
            channel: row.text(1)?,
            recipient_name: row.opt_text(2)?,
            address: row.text(3)?,
            subject: row.text(4)?,
            body: row.text(5)?,
            status: row.text(6)?,
            attempts: row.int(7)?,
            undo_until: row.int(8)?,
            next_attempt_at: row.opt_int(9)?,
            last_error: row.opt_text(10)?,
            sent_at: row.opt_int(11)?,
            created_at: row.int(12)?,
            caller: row.text(13)?,
        })
    }

    /// The name, if it is known, and the address.
    pub fn recipient(&self) -> String {
        match &self.recipient_name {
            Some(name) => format!("{name} <{}>", self.address),
            None => self.address.clone(),
        }
    }
}

pub struct NewItem<'a> {
    pub id: &'a str,
    pub origin: &'a str,
    pub firing_id: Option<&'a str>,
    pub channel: &'a str,
    pub contact_id: Option<&'a str>,
    pub recipient_name: Option<&'a str>,
    pub address: &'a str,
    pub subject: &'a str,
    pub body: &'a str,
    /// Not sent before this.
    pub not_before: i64,
    pub caller: &'a str,
    pub created_at: i64,
}

/// Adds it, unless there is one with its id.
pub fn insert(sql: &mut dyn Sql, new: &NewItem<'_>) -> Result<()> {
    sql.execute(
        "INSERT INTO innervoice_outbox (id, origin, firing_id, channel, contact_id, \
         recipient_name, address, subject, body, status, attempts, undo_until, next_attempt_at, \
         caller, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'queued', 0, $10, $10, $11, $12) \
         ON CONFLICT (id) DO NOTHING",
        &[
            Param::Text(new.id),
            Param::Text(new.origin),
            new.firing_id.into(),
            Param::Text(new.channel),
            new.contact_id.into(),
            new.recipient_name.into(),
            Param::Text(new.address),
            Param::Text(new.subject),
            Param::Text(new.body),
            Param::Int(new.not_before),
            Param::Text(new.caller),
            Param::Int(new.created_at),
        ],
    )?;
    Ok(())
}

/// The message of that id, and those to the other recipients of the same call: if
/// it is `msg_x`, theirs are `msg_x-2`, `msg_x-3`, …
pub fn group(sql: &mut dyn Sql, id: &str) -> Result<Vec<OutboxItem>> {
    let rows = sql.query(
        &format!(
            "SELECT {COLUMNS} FROM innervoice_outbox \
             WHERE (id = $1 OR id LIKE $2 ESCAPE '!') AND origin = 'message' ORDER BY id"
        ),
        &[
            Param::Text(id),
            Param::Text(&format!("{}-%", super::escaped(id))),
        ],
    )?;
    rows.iter().map(OutboxItem::of).collect()
}

/// Newest first, with one status or all.
pub fn messages(sql: &mut dyn Sql, status: Option<&str>, most: i64) -> Result<Vec<OutboxItem>> {
    let rows = sql.query(
        &format!(
            "SELECT {COLUMNS} FROM innervoice_outbox WHERE origin = 'message' \
             AND ($1 = '' OR status = $1) ORDER BY created_at DESC, id LIMIT $2"
        ),
        &[Param::Text(status.unwrap_or_default()), Param::Int(most)],
    )?;
    rows.iter().map(OutboxItem::of).collect()
}

/// The caller's newest message, the first if it went to several people.
pub fn newest(sql: &mut dyn Sql, caller: &str) -> Result<Option<String>> {
    let row = sql.query_one(
        "SELECT id FROM innervoice_outbox WHERE origin = 'message' AND caller = $1 \
         ORDER BY created_at DESC, id DESC LIMIT 1",
        &[Param::Text(caller)],
    )?;
    let id = row.map(|row| row.text(0)).transpose()?;
    let first = |id: String| match id.split_once('-') {
        Some((first, _)) => first.to_owned(),
        None => id,
    };
    Ok(id.map(first))
}

/// How many messages of a caller are not sent yet, counted up to `most`.
pub fn waiting_of(sql: &mut dyn Sql, caller: &str, most: i64) -> Result<i64> {
    super::count(
        sql,
        "SELECT 1 FROM innervoice_outbox \
         WHERE caller = $1 AND status = 'queued' AND origin = 'message'",
        &[Param::Text(caller), Param::Int(most)],
    )
}

/// `false` if it is being sent, or was sent.
pub fn cancel(sql: &mut dyn Sql, id: &str) -> Result<bool> {
    let changed = sql.execute(
        "UPDATE innervoice_outbox SET status = 'cancelled', next_attempt_at = NULL \
         WHERE id = $1 AND origin = 'message' AND status = 'queued'",
        &[Param::Text(id)],
    )?;
    Ok(changed == 1)
}

/// No attempt is planned further ahead, so a later time means that the clock was
/// set back.
const FARTHEST_MS: i64 = 60 * 60 * 1000;
const LONGEST_PAUSE_MS: i64 = FARTHEST_MS - 5 * 60 * 1000;

/// Ids of what is due on these channels.
pub fn due(sql: &mut dyn Sql, channels: &[&str], now: i64, most: i64) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    for channel in channels {
        let rows = sql.query(
            "SELECT id FROM innervoice_outbox WHERE channel = $1 AND status = 'queued' \
             AND (next_attempt_at <= $2 OR next_attempt_at > $3) \
             ORDER BY next_attempt_at, id LIMIT $4",
            &[
                Param::Text(channel),
                Param::Int(now),
                Param::Int(now + FARTHEST_MS),
                Param::Int(most),
            ],
        )?;
        for row in &rows {
            ids.push(row.text(0)?);
        }
    }
    Ok(ids)
}

/// Claims a row for sending; `None` if another process did, or it was cancelled.
pub fn claim(
    sql: &mut dyn Sql,
    id: &str,
    holder: &str,
    now: i64,
    until: i64,
) -> Result<Option<OutboxItem>> {
    let claimed = sql.execute(
        "UPDATE innervoice_outbox SET status = 'sending', attempts = attempts + 1, \
         claimed_by = $2, claimed_until = $3, next_attempt_at = NULL \
         WHERE id = $1 AND status = 'queued'",
        &[Param::Text(id), Param::Text(holder), Param::Int(until)],
    )?;
    if claimed != 1 {
        return Ok(None);
    }
    sql.execute(
        "INSERT INTO innervoice_attempts (outbox_id, number, started_at) \
         SELECT id, attempts, CAST($2 AS BIGINT) FROM innervoice_outbox WHERE id = $1",
        &[Param::Text(id), Param::Int(now)],
    )?;
    let row = sql.query_one(
        &format!("SELECT {COLUMNS} FROM innervoice_outbox WHERE id = $1"),
        &[Param::Text(id)],
    )?;
    row.as_ref().map(OutboxItem::of).transpose()
}

/// The outcome of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Sent,
    /// Not sent, or safe to send twice.
    Retry(String),
    /// The same, and the other side wants to be left alone for so many milliseconds.
    RetryAfter(String, i64),
    /// It can't be sent.
    Failed(String),
    /// It may have been sent.
    Unknown(String),
}

impl Outcome {
    fn names(&self) -> (&'static str, &'static str) {
        match self {
            Self::Sent => ("sent", "sent"),
            Self::Retry(_) | Self::RetryAfter(..) => ("queued", "retry"),
            Self::Failed(_) => ("failed", "failed"),
            Self::Unknown(_) => ("unknown", "unknown"),
        }
    }

    fn detail(&self) -> Option<&str> {
        match self {
            Self::Sent => None,
            Self::Retry(why)
            | Self::RetryAfter(why, _)
            | Self::Failed(why)
            | Self::Unknown(why) => Some(why),
        }
    }

    /// The pause until the next attempt, in milliseconds, where `usual` is due after so
    /// many attempts; `None`: there is none.
    pub fn pause(&self, usual: i64) -> Option<i64> {
        match self {
            Self::Retry(_) => Some(usual),
            Self::RetryAfter(_, wanted) => Some(usual.max((*wanted).min(LONGEST_PAUSE_MS))),
            Self::Sent | Self::Failed(_) | Self::Unknown(_) => None,
        }
    }
}

/// Records how an attempt ended; `false` if the claim expired and another process
/// took the row over.
pub fn settle(
    sql: &mut dyn Sql,
    id: &str,
    holder: &str,
    outcome: &Outcome,
    next_attempt_at: Option<i64>,
    now: i64,
) -> Result<bool> {
    let (status, name) = outcome.names();
    let sent_at = matches!(outcome, Outcome::Sent).then_some(now);
    let changed = sql.execute(
        "UPDATE innervoice_outbox SET status = $3, last_error = $4, next_attempt_at = $5, \
         sent_at = $6, claimed_by = NULL, claimed_until = NULL \
         WHERE id = $1 AND status = 'sending' AND claimed_by = $2",
        &[
            Param::Text(id),
            Param::Text(holder),
            Param::Text(status),
            outcome.detail().into(),
            next_attempt_at.into(),
            sent_at.into(),
        ],
    )?;
    if changed != 1 {
        return Ok(false);
    }
    sql.execute(
        "UPDATE innervoice_attempts SET ended_at = $2, outcome = $3, detail = $4 \
         WHERE outbox_id = $1 AND number = (SELECT attempts FROM innervoice_outbox WHERE id = $1)",
        &[
            Param::Text(id),
            Param::Int(now),
            Param::Text(name),
            outcome.detail().into(),
        ],
    )?;
    Ok(true)
}

/// Renews a claim; `false` if another process has it by now.
pub fn renew(sql: &mut dyn Sql, id: &str, holder: &str, until: i64) -> Result<bool> {
    let changed = sql.execute(
        "UPDATE innervoice_outbox SET claimed_until = $3 \
         WHERE id = $1 AND status = 'sending' AND claimed_by = $2",
        &[Param::Text(id), Param::Text(holder), Param::Int(until)],
    )?;
    Ok(changed == 1)
}

/// The processes that hold a claim.
pub fn holders(sql: &mut dyn Sql) -> Result<Vec<String>> {
    let rows = sql.query(
        "SELECT DISTINCT claimed_by FROM innervoice_outbox WHERE claimed_until IS NOT NULL",
        &[],
    )?;
    rows.iter().map(|row| row.text(0)).collect()
}

/// Whether any claim expired.
pub fn has_run_out(sql: &mut dyn Sql, now: i64) -> Result<bool> {
    let row = sql.query_one(
        "SELECT id FROM innervoice_outbox WHERE claimed_until <= $1 OR claimed_until > $2 LIMIT 1",
        &[Param::Int(now), Param::Int(now + FARTHEST_MS)],
    )?;
    Ok(row.is_some())
}

/// Recovers the rows of processes that are `gone` and of expired claims. A text
/// message may have been sent and is not sent again; everything else is.
pub fn recover(sql: &mut dyn Sql, gone: &[String], now: i64) -> Result<()> {
    recover_where(
        sql,
        "claimed_until <= $1 OR claimed_until > $2",
        &[Param::Int(now), Param::Int(now + FARTHEST_MS)],
    )?;
    for holder in gone {
        let params = [Param::Int(now), Param::Text(holder)];
        recover_where(sql, "claimed_by = $2", &params)?;
    }
    Ok(())
}

/// `$1` is the current time.
fn recover_where(sql: &mut dyn Sql, abandoned: &str, params: &[Param<'_>]) -> Result<()> {
    sql.execute(
        &format!(
            "UPDATE innervoice_outbox SET \
             status = CASE WHEN channel = 'sms' THEN 'unknown' ELSE 'queued' END, \
             next_attempt_at = CASE WHEN channel = 'sms' THEN NULL ELSE CAST($1 AS BIGINT) END, \
             claimed_by = NULL, claimed_until = NULL, \
             last_error = 'The program ended while it was being sent.' \
             WHERE status = 'sending' AND ({abandoned})"
        ),
        params,
    )?;
    Ok(())
}
