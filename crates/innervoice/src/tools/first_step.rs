//! What to do first, where there is nothing at all yet.

use kit::{Result, Sql, context::Language};

use crate::store::{self, Kind};

/// Continues the sentence of an empty list; nothing where only this list is empty.
pub fn after(sql: &mut dyn Sql, kind: Kind, language: Language) -> Result<&'static str> {
    if !store::is_empty(sql, kind)? {
        return Ok("");
    }
    Ok(match (language, kind) {
        (Language::English, Kind::Event) => " calendar_create adds the first event.",
        (Language::English, Kind::Message) => " message_send sends the first.",
        (Language::English, Kind::Reminder) => " reminder_create sets the first.",
        (Language::English, Kind::Contact) => {
            " The address book is empty; `madoguchi import innervoice FILE` fills it."
        }
        (Language::Japanese, Kind::Event) => "calendar_createで最初の予定を追加できます。",
        (Language::Japanese, Kind::Message) => "message_sendで最初のメッセージを送れます。",
        (Language::Japanese, Kind::Reminder) => {
            "reminder_createで最初のリマインダーを設定できます。"
        }
        (Language::Japanese, Kind::Contact) => {
            "アドレス帳は空です。`madoguchi import innervoice FILE`で取り込めます。"
        }
    })
}
