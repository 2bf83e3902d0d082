//! The rows, one file for each kind.

pub mod caldav;
pub mod contacts;
pub mod events;
pub mod outbox;
pub mod reminders;

use kit::{Param, Result, Sql};

/// Whether `caller` made something and nobody else changed it since.
fn is_of(caller: &str, made_by: &str, changed_by: Option<&str>) -> bool {
    made_by == caller && changed_by.is_none_or(|by| by == caller)
}

/// Whether there are no rows of this kind.
pub fn is_empty(sql: &mut dyn Sql, kind: RowKind) -> Result<bool> {
    let table = match kind {
        RowKind::Message => "innervoice_outbox",
        RowKind::Reminder => "innervoice_reminders",
        RowKind::Contact => "innervoice_contacts",
    };
    let any = sql.query_one(&format!("SELECT 1 FROM {table} LIMIT 1"), &[])?;
    Ok(any.is_none())
}

#[derive(Debug, Clone, Copy)]
pub enum RowKind {
    Message,
    Reminder,
    Contact,
}

/// How many rows there are, counted up to the limit `$2`.
fn count(sql: &mut dyn Sql, rows: &str, params: &[Param<'_>]) -> Result<i64> {
    let text = format!("SELECT COUNT(*) FROM ({rows} LIMIT $2) AS counted");
    sql.query_one(&text, params)?
        .map_or(Ok(0), |row| row.int(0))
}

/// A `LIKE` pattern for texts that contain `folded`.
pub fn containing(folded: &str) -> String {
    format!("%{}%", escaped(folded))
}

/// A text for a `LIKE` pattern with `ESCAPE '!'`.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '%' | '_' | '!') {
            escaped.push('!');
        }
        escaped.push(letter);
    }
    escaped
}
