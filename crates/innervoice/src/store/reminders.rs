//! Reminders, and when they fired.

use jiff::{Timestamp, tz::TimeZone};
use kit::{Param, Result, Row, Sql};

use crate::model::{
    exceptions::Exceptions,
    repeat::{Rule, Start, Steps, TooCostly},
    series::Series,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reminder {
    pub id: String,
    pub note: String,
    pub starts_local: String,
    pub starts_at: i64,
    pub zone: String,
    pub rule: Option<String>,
    pub status: String,
    pub next_fire_at: Option<i64>,
    pub created_at: i64,
    /// Counts the changes of its text and times.
    pub version: i64,
    /// Who made it.
    pub caller: String,
    /// Who changed it last, if anybody did.
    pub changed_by: Option<String>,
    pub exceptions: Exceptions,
}

const COLUMNS: &str = "id, note, starts_local, starts_at, zone, rule, status, next_fire_at, \
    created_at, version, caller, changed_by, exceptions";

impl Reminder {
    fn of(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.text(0)?,
            note: row.text(1)?,
            starts_local: row.text(2)?,
            starts_at: row.int(3)?,
            zone: row.text(4)?,
            rule: row.opt_text(5)?,
            status: row.text(6)?,
            next_fire_at: row.opt_int(7)?,
            created_at: row.int(8)?,
            version: row.int(9)?,
            caller: row.text(10)?,
            changed_by: row.opt_text(11)?,
            exceptions: Exceptions::read(row.opt_text(12)?.as_deref()),
        })
    }

    pub fn zone(&self) -> TimeZone {
        kit::time::zone(&self.zone).unwrap_or(TimeZone::UTC)
    }

    pub fn start(&self) -> Start {
        let zone = self.zone();
        match self.starts_local.parse() {
            Ok(local) => Start { local, zone },
            Err(_) => Start::new(timestamp(self.starts_at), &zone),
        }
    }

    /// Whether this caller made it and nobody else changed it.
    pub fn is_of(&self, caller: &str) -> bool {
        super::is_of(caller, &self.caller, self.changed_by.as_deref())
    }

    /// The next times after `after`, at most `count`.
    pub fn times_after(
        &self,
        after: i64,
        count: usize,
        steps: &Steps,
    ) -> Result<Vec<i64>, TooCostly> {
        let times = self.series().between(after, i64::MAX, count, steps);
        let times: Vec<i64> = times.into_iter().map(|one| one.start).collect();
        match times.len() < count && steps.ran_out() {
            true => Err(TooCostly {
                found: times.into_iter().map(timestamp).collect(),
            }),
            false => Ok(times),
        }
    }

    pub fn series(&self) -> Series<'_> {
        Series {
            first: self.starts_at,
            start: self.start(),
            rule: self.rule.as_deref().and_then(|rule| Rule::parse(rule).ok()),
            exceptions: &self.exceptions,
        }
    }
}

fn timestamp(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
}

pub fn insert(sql: &mut dyn Sql, reminder: &Reminder) -> Result<()> {
    sql.execute(
        "INSERT INTO innervoice_reminders (id, note, starts_local, starts_at, zone, rule, status, \
         next_fire_at, caller, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, 'active', $7, $8, $9, $9)",
        &[
            Param::Text(&reminder.id),
            Param::Text(&reminder.note),
            Param::Text(&reminder.starts_local),
            Param::Int(reminder.starts_at),
            Param::Text(&reminder.zone),
            reminder.rule.as_deref().into(),
            reminder.next_fire_at.into(),
            Param::Text(&reminder.caller),
            Param::Int(reminder.created_at),
        ],
    )?;
    Ok(())
}

/// Changes it if it is still as in `before`; `false` if it was changed or has
/// fired meanwhile.
pub fn update(
    sql: &mut dyn Sql,
    before: &Reminder,
    after: &Reminder,
    by: &str,
    now: i64,
) -> Result<bool> {
    let exceptions = after.exceptions.text();
    let changed = sql.execute(
        "UPDATE innervoice_reminders SET note = $2, starts_local = $3, starts_at = $4, zone = $5, \
         rule = $6, next_fire_at = $7, updated_at = $8, changed_by = $9, exceptions = $12, \
         version = version + 1 \
         WHERE id = $1 AND version = $10 AND next_fire_at = $11 AND status = 'active'",
        &[
            Param::Text(&before.id),
            Param::Text(&after.note),
            Param::Text(&after.starts_local),
            Param::Int(after.starts_at),
            Param::Text(&after.zone),
            after.rule.as_deref().into(),
            after.next_fire_at.into(),
            Param::Int(now),
            Param::Text(by),
            Param::Int(before.version),
            before.next_fire_at.into(),
            exceptions.as_deref().into(),
        ],
    )?;
    Ok(changed == 1)
}

/// Cancels it if it was not changed meanwhile; `false` if it was, or is over.
pub fn cancel(sql: &mut dyn Sql, reminder: &Reminder, now: i64) -> Result<bool> {
    let changed = sql.execute(
        "UPDATE innervoice_reminders SET status = 'cancelled', next_fire_at = NULL, \
         updated_at = $2, version = version + 1 \
         WHERE id = $1 AND version = $3 AND status = 'active'",
        &[
            Param::Text(&reminder.id),
            Param::Int(now),
            Param::Int(reminder.version),
        ],
    )?;
    Ok(changed == 1)
}

/// How many active reminders a caller has, counted up to `most`.
pub fn active_of(sql: &mut dyn Sql, caller: &str, most: i64) -> Result<i64> {
    super::count(
        sql,
        "SELECT 1 FROM innervoice_reminders WHERE caller = $1 AND status = 'active'",
        &[Param::Text(caller), Param::Int(most)],
    )
}

pub fn find(sql: &mut dyn Sql, id: &str) -> Result<Option<Reminder>> {
    let row = sql.query_one(
        &format!("SELECT {COLUMNS} FROM innervoice_reminders WHERE id = $1"),
        &[Param::Text(id)],
    )?;
    row.as_ref().map(Reminder::of).transpose()
}

/// Active reminders in the order of their times, then the others if wanted.
pub fn list(sql: &mut dyn Sql, with_past: bool, most: i64) -> Result<Vec<Reminder>> {
    let which = if with_past {
        ""
    } else {
        "WHERE status = 'active'"
    };
    let rows = sql.query(
        &format!(
            "SELECT {COLUMNS} FROM innervoice_reminders {which} \
             ORDER BY CASE WHEN status = 'active' THEN 0 ELSE 1 END, next_fire_at, \
             updated_at DESC, id LIMIT $1"
        ),
        &[Param::Int(most)],
    )?;
    rows.iter().map(Reminder::of).collect()
}

/// Reminders that are due.
pub fn due(sql: &mut dyn Sql, now: i64, most: i64) -> Result<Vec<Reminder>> {
    let rows = sql.query(
        &format!(
            "SELECT {COLUMNS} FROM innervoice_reminders WHERE next_fire_at <= $1 \
             ORDER BY next_fire_at, id LIMIT $2"
        ),
        &[Param::Int(now), Param::Int(most)],
    )?;
    rows.iter().map(Reminder::of).collect()
}

/// Advances it to `next` if it is still what was read; `false` if another process
/// did so, or it was changed. This makes it fire only once.
pub fn advance(
    sql: &mut dyn Sql,
    reminder: &Reminder,
    next: Option<i64>,
    now: i64,
) -> Result<bool> {
    let status = if next.is_some() { "active" } else { "done" };
    let changed = sql.execute(
        "UPDATE innervoice_reminders SET next_fire_at = $3, status = $4, updated_at = $5 \
         WHERE id = $1 AND next_fire_at = $2 AND version = $6 AND status = 'active'",
        &[
            Param::Text(&reminder.id),
            reminder.next_fire_at.into(),
            next.into(),
            Param::Text(status),
            Param::Int(now),
            Param::Int(reminder.version),
        ],
    )?;
    Ok(changed == 1)
}

#[derive(Debug, Clone)]
pub struct Firing {
    pub id: String,
    pub reminder_id: String,
    pub note: String,
    pub due_at: i64,
    pub fired_at: i64,
    pub outcome: &'static str,
    pub coalesced: i64,
}

/// `false` if it already fired for that time, because the clock was set back.
pub fn record(sql: &mut dyn Sql, firing: &Firing) -> Result<bool> {
    let inserted = sql.execute(
        "INSERT INTO innervoice_firings (id, reminder_id, note, due_at, fired_at, outcome, \
         coalesced) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
        &[
            Param::Text(&firing.id),
            Param::Text(&firing.reminder_id),
            Param::Text(&firing.note),
            Param::Int(firing.due_at),
            Param::Int(firing.fired_at),
            Param::Text(firing.outcome),
            Param::Int(firing.coalesced),
        ],
    )?;
    Ok(inserted == 1)
}

/// Deletes all firings of a reminder but the newest `most`, with what they sent,
/// unless it is not sent yet.
pub fn forget_old(sql: &mut dyn Sql, id: &str, most: i64) -> Result<()> {
    let newest_old = sql.query_one(
        "SELECT due_at FROM innervoice_firings WHERE reminder_id = $1 \
         ORDER BY due_at DESC LIMIT 1 OFFSET $2",
        &[Param::Text(id), Param::Int(most)],
    )?;
    let Some(newest_old) = newest_old else {
        return Ok(());
    };
    let old = "FROM innervoice_firings WHERE reminder_id = $1 AND due_at <= $2";
    let sent = format!(
        "FROM innervoice_outbox WHERE status NOT IN ('queued', 'sending') \
         AND firing_id IN (SELECT id {old})"
    );
    for statement in [
        format!("DELETE FROM innervoice_attempts WHERE outbox_id IN (SELECT id {sent})"),
        format!("DELETE {sent}"),
        format!("DELETE {old}"),
    ] {
        sql.execute(
            &statement,
            &[Param::Text(id), Param::Int(newest_old.int(0)?)],
        )?;
    }
    Ok(())
}

/// What was told since then, newest first: note and time.
pub fn fired_since(sql: &mut dyn Sql, since: i64, most: i64) -> Result<Vec<(String, i64)>> {
    let rows = sql.query(
        "SELECT note, fired_at FROM innervoice_firings WHERE fired_at > $1 AND outcome <> 'missed' \
         ORDER BY fired_at DESC, id LIMIT $2",
        &[Param::Int(since), Param::Int(most)],
    )?;
    rows.iter()
        .map(|row| Ok((row.text(0)?, row.int(1)?)))
        .collect()
}

/// The last firing: due time, firing time, outcome and how many it includes.
pub fn last_firing(sql: &mut dyn Sql, id: &str) -> Result<Option<(i64, i64, String, i64)>> {
    let row = sql.query_one(
        "SELECT due_at, fired_at, outcome, coalesced FROM innervoice_firings \
         WHERE reminder_id = $1 ORDER BY due_at DESC LIMIT 1",
        &[Param::Text(id)],
    )?;
    row.map(|row| Ok((row.int(0)?, row.int(1)?, row.text(2)?, row.int(3)?)))
        .transpose()
}
