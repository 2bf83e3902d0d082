//! The rows, one file for each kind.

pub mod caldav;
pub mod contacts;
pub mod events;
pub mod outbox;
pub mod reminders;

use kit::{Param, Result, Sql};

/// Whether something is as `caller` made it: made by it, and changed by nobody
/// else since.
fn is_of(caller: &str, made_by: &str, changed_by: Option<&str>) -> bool {
    made_by == caller && changed_by.is_none_or(|by| by == caller)
}

/// Whether there is no row of a kind at all.
pub fn is_empty(sql: &mut dyn Sql, kind: Kind) -> Result<bool> {
    let table = match kind {
        Kind::Event => "innervoice_events",
        Kind::Message => "innervoice_outbox",
        Kind::Reminder => "innervoice_reminders",
        Kind::Contact => "innervoice_contacts",
    };
    let any = sql.query_one(&format!("SELECT 1 FROM {table} LIMIT 1"), &[])?;
    Ok(any.is_none())
}

#[derive(Debug, Clone, Copy)]
pub enum Kind {
    Event,
    Message,
    Reminder,
    Contact,
}

/// How many rows there are, counted up to a limit, which is `$2`.
fn count(sql: &mut dyn Sql, rows: &str, params: &[Param<'_>]) -> Result<i64> {
    let text = format!("SELECT COUNT(*) FROM ({rows} LIMIT $2) AS counted");
    sql.query_one(&text, params)?
        .map_or(Ok(0), |row| row.int(0))
}

/// A folded text for `LIKE`, with its own wildcards taken literally.
pub fn containing(folded: &str) -> String {
    let mut pattern = String::with_capacity(folded.len() + 2);
    pattern.push('%');
    for letter in folded.chars() {
        if matches!(letter, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}
