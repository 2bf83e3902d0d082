//! New rows of messages and mentions.

use kit::{Error, Param, Result, Sql, sql::values};

use super::tables::number;
use crate::model::{
    mentions::MAX_MENTIONS,
    message::{MessageLine, folded},
    names::{SYSTEM, canonical},
};

/// Rows of one statement. Each number of rows is a statement of its own for the database.
const AT_ONCE: usize = 64;

/// A message as its row.
pub struct NewMessage {
    room: i64,
    number: i64,
    id: String,
    /// In its canonical spelling.
    pub agent: String,
    pub nth: i64,
    sent_at: Option<i64>,
    /// Empty for none, so that the database prepares one statement for all messages.
    client_id: String,
    reply_to: String,
    /// In a file, with the end of its line.
    pub bytes: i64,
    folded: String,
    line: String,
    mentions: Vec<String>,
}

impl NewMessage {
    pub fn new(room: i64, number: i64, nth: i64, line: &MessageLine) -> Result<Self> {
        let text = serde_json::to_string(line).map_err(Error::internal)?;
        Ok(Self::of_text(room, (number, nth), line, text))
    }

    /// `text`: the line as a file has it.
    pub fn of_text(room: i64, (at, nth): (i64, i64), line: &MessageLine, text: String) -> Self {
        let mentions = line.mentions.iter().take(MAX_MENTIONS);
        let mut mentions: Vec<String> = mentions
            .map(|name| storable(canonical(name).into_owned()))
            .collect();
        mentions.sort();
        mentions.dedup();
        Self {
            room,
            number: at,
            id: storable(line.id.clone()),
            agent: storable(canonical(&line.agent_name).into_owned()),
            nth,
            sent_at: line.time().map(|time| time.as_millisecond()),
            client_id: storable(line.client_message_id.clone().unwrap_or_default()),
            reply_to: storable(line.reply_to.clone().unwrap_or_default()),
            bytes: number(text.len() + 1),
            folded: storable(folded(&line.message)),
            line: text,
            mentions,
        }
    }
}

/// Databases can't store the character U+0000, which nobody searches for.
fn storable(text: String) -> String {
    match text.contains('\0') {
        true => text.replace('\0', ""),
        false => text,
    }
}

pub fn insert_messages(sql: &mut dyn Sql, messages: &[NewMessage]) -> Result<()> {
    for some in messages.chunks(AT_ONCE) {
        let insert = format!(
            "INSERT INTO rooms_messages (room, number, id, agent, nth, sent_at, client_id, \
             reply_to, bytes, folded, line) VALUES {}",
            values(some.len(), 11)
        );
        let mut params: Vec<Param<'_>> = Vec::with_capacity(some.len() * 11);
        for message in some {
            params.extend([
                message.room.into(),
                message.number.into(),
                (&message.id).into(),
                (&message.agent).into(),
                message.nth.into(),
                message.sent_at.into(),
                (&message.client_id).into(),
                (&message.reply_to).into(),
                message.bytes.into(),
                (&message.folded).into(),
                Param::from(&message.line),
            ]);
        }
        sql.execute(&insert, &params)?;
    }
    insert_mentions(sql, messages)
}

fn insert_mentions(sql: &mut dyn Sql, messages: &[NewMessage]) -> Result<()> {
    let mentions = messages.iter().flat_map(|message| {
        let mentions = message.mentions.iter();
        mentions.map(move |name| (message, name))
    });
    let mentions: Vec<(&NewMessage, &String)> = mentions.collect();
    for some in mentions.chunks(AT_ONCE) {
        let insert = format!(
            "INSERT INTO rooms_mentions (room, agent, number, by_other) VALUES {}",
            values(some.len(), 4)
        );
        let mut params: Vec<Param<'_>> = Vec::with_capacity(some.len() * 4);
        for (message, name) in some {
            let by_other = message.agent != **name && message.agent != SYSTEM;
            params.extend([
                message.room.into(),
                Param::from(*name),
                message.number.into(),
                i64::from(by_other).into(),
            ]);
        }
        sql.execute(&insert, &params)?;
    }
    Ok(())
}
