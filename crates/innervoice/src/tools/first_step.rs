//! Hints for a counter without any data.

use kit::{Result, Sql, context::Language};

use crate::store::{self, RowKind};

/// Continues the message of an empty list with a hint, if there are no rows of
/// this kind at all.
pub fn after(sql: &mut dyn Sql, kind: RowKind, language: Language) -> Result<&'static str> {
    if !store::is_empty(sql, kind)? {
        return Ok("");
    }
    Ok(match (language, kind) {
        (Language::English, RowKind::Event) => " calendar_create adds the first event.",
        (Language::English, RowKind::Message) => " message_send sends the first.",
        (Language::English, RowKind::Reminder) => " reminder_create sets the first.",
        (Language::English, RowKind::Contact) => {
            " The address book is empty; `madoguchi import innervoice FILE` fills it."
        }
        (Language::Japanese, RowKind::Event) => "calendar_createで最初の予定を追加できます。",
        (Language::Japanese, RowKind::Message) => "message_sendで最初のメッセージを送れます。",
        (Language::Japanese, RowKind::Reminder) => {
            "reminder_createで最初のリマインダーを設定できます。"
        }
        (Language::Japanese, RowKind::Contact) => {
            "アドレス帳は空です。`madoguchi import innervoice FILE`で取り込めます。"
        }
    })
}
