//! Hints for a counter without any data.

use kit::{Result, Sql};
use serde_json::{Map, Value};

use crate::store::{self, RowKind};

/// Why a list is empty, and what would fill it.
pub fn details(sql: &mut dyn Sql, kind: RowKind) -> Result<Map<String, Value>> {
    let (reason, hint) = match (store::is_empty(sql, kind)?, kind) {
        (true, RowKind::Message) => ("none_yet", "message_send sends the first."),
        (true, RowKind::Reminder) => ("none_yet", "reminder_create sets the first."),
        (true, RowKind::Contact) => ("none_yet", "`madoguchi import innervoice FILE` fills it."),
        (false, RowKind::Message) => ("none_of_that_status", "Leave status out."),
        (false, RowKind::Reminder) => ("none_active", "include_past shows the others."),
        (false, RowKind::Contact) => ("no_match", "Without query everybody is listed."),
    };
    let field = |text: &str| Value::String(text.to_owned());
    Ok(Map::from_iter([
        ("reason".to_owned(), field(reason)),
        ("hint".to_owned(), field(hint)),
    ]))
}
