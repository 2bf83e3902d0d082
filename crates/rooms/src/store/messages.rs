//! Messages that are sent, and pages of them.

use jiff::Timestamp;
use kit::{text, time::Clock};

use crate::model::{
    answer_size::{ANSWER_BYTES, bytes_in_answer},
    mentions::mentions,
    message::{Draft, MessageLine, written},
    names::{RoomName, canonical},
};

/// Random characters of an id: 80 bits.
const ID_LENGTH: usize = 16;
/// How many unknown names an answer lists.
const MOST_UNKNOWN: usize = 10;
/// Rooms that hold more messages than this are shortened by a fifth at a time: all that
/// stays may have to be written anew. Smaller ones are shortened to their limit exactly.
pub const LARGE: usize = 1_000;

/// How many messages stay in the log of a room that holds `most` when the oldest move to the
/// archive.
pub fn kept(most: usize) -> usize {
    match most > LARGE {
        true => most - most / 5,
        false => most,
    }
}

/// A message that an agent has reached, or a page has ended with: its id, and its number
/// in the room when that was of this generation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageRef {
    pub id: String,
    pub number: usize,
    pub generation: Option<u64>,
}

impl MessageRef {
    /// As an opaque cursor for callers.
    pub fn to_cursor(&self) -> String {
        format!("{}~{}", self.id, self.number)
    }

    /// Reads a cursor; an id by itself is one too.
    pub fn from_cursor(cursor: &str) -> Self {
        let parts = cursor.rsplit_once('~');
        let parts = parts.and_then(|(id, number)| Some((id, number.parse().ok()?)));
        let (id, number) = parts.unwrap_or((cursor, usize::MAX));
        Self {
            id: id.to_owned(),
            number,
            generation: None,
        }
    }
}

/// Where a page of messages starts, counted from the newest.
#[derive(Debug, Clone)]
pub enum Start {
    Offset(usize),
    /// Older than the last message of another page.
    Cursor(MessageRef),
    /// Older than the message with this id.
    BeforeMessage(String),
    /// Sent before this time.
    BeforeTime(Timestamp),
}

#[derive(Debug, Clone)]
pub struct Pick {
    pub start: Start,
    /// Only messages that are newer than the one with this id.
    pub after: Option<String>,
    /// Only messages sent at this time or later.
    pub since: Option<Timestamp>,
    pub limit: usize,
    /// Only messages that mention this agent.
    pub mentions_of: Option<String>,
}

pub struct Page {
    /// Newest first.
    pub messages: Vec<MessageLine>,
    pub has_more: bool,
    /// The oldest of them.
    pub next: Option<MessageRef>,
    /// How many messages the room has.
    pub total: usize,
}

/// The messages of an answer, with their numbers, up to a limit and the size of an answer;
/// at least one, so that paging always goes on.
pub struct FilledPage {
    limit: usize,
    bytes: usize,
    pub messages: Vec<(usize, MessageLine)>,
    pub has_more: bool,
}

impl FilledPage {
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            bytes: 0,
            messages: Vec::new(),
            has_more: false,
        }
    }

    /// Adds a message, whose JSON is `text`, if it fits. Returns whether it did.
    pub fn add(&mut self, number: usize, text: &[u8], mut line: MessageLine) -> bool {
        self.bytes += bytes_in_answer(text);
        let is_full = self.bytes > ANSWER_BYTES && !self.messages.is_empty();
        if is_full || self.messages.len() == self.limit {
            self.has_more = true;
            return false;
        }
        if self.bytes > ANSWER_BYTES {
            line.cut();
        }
        self.messages.push((number, line));
        true
    }
}

#[derive(Debug, Clone)]
pub struct Sent {
    pub line: MessageLine,
    /// It had been sent before, with the same clientMessageId.
    pub repeated: bool,
    /// What the sender has not read.
    pub unread: usize,
    pub unknown: Vec<UnknownMention>,
}

impl Sent {
    /// A message that was sent before.
    pub fn again(line: MessageLine) -> Self {
        Self {
            line,
            repeated: true,
            unread: 0,
            unknown: Vec::new(),
        }
    }

    /// A new message to a room with these members.
    pub fn new<'a>(
        room: &RoomName,
        draft: &Draft,
        clock: &Clock,
        members: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        let line = MessageLine {
            id: kit::ids::random("msg_", ID_LENGTH),
            room_name: room.to_string(),
            agent_name: draft.agent.clone(),
            mentions: mentions(&canonical(&draft.text), members.clone()),
            message: draft.text.clone(),
            timestamp: written(clock.now()),
            metadata: draft.metadata.clone(),
            reply_to: draft.reply_to.clone(),
            client_message_id: draft.client_id.clone(),
        };
        Self {
            unknown: unknown_mentions(&line, members),
            line,
            repeated: false,
            unread: 0,
        }
    }
}

/// A name that a message mentions and that no member has.
#[derive(Debug, Clone)]
pub struct UnknownMention {
    pub name: String,
    /// The member that was probably meant.
    pub nearest: Option<String>,
}

/// The first mentions that are no members.
fn unknown_mentions<'a>(
    line: &MessageLine,
    members: impl Iterator<Item = &'a str> + Clone,
) -> Vec<UnknownMention> {
    let is_unknown = |name: &&String| !members.clone().any(|member| member == name.as_str());
    let unknown = line.mentions.iter().filter(is_unknown);
    let unknown = unknown.take(MOST_UNKNOWN).map(|name| UnknownMention {
        name: name.clone(),
        nearest: text::nearest(name, members.clone()).map(str::to_owned),
    });
    unknown.collect()
}
