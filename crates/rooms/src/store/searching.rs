//! What is searched for, and what was found.
//!
//! Hits of all rooms are in the order of their times. Within a room they are in the
//! order of its messages, where clocks may have been set back. So a hit counts as no
//! newer than the ones before it in its room, and a page can end at any hit without
//! losing one.

use std::cmp::Reverse;

use jiff::Timestamp;

use super::messages::MessageRef;
use crate::model::{
    answer_size::ANSWER_BYTES,
    message::{MessageLine, SearchedLine, folded},
    names::canonical,
};

#[derive(Clone, Default)]
pub struct Search {
    /// Folded; all must be there.
    pub words: Vec<String>,
    pub agent: Option<String>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// Only what comes after another page.
    pub after: Option<SearchCursor>,
    pub limit: usize,
}

impl Search {
    pub fn fits(&self, line: &SearchedLine<'_>) -> bool {
        let other = |agent: &String| *agent != canonical(&line.agent_name);
        if self.agent.as_ref().is_some_and(other) {
            return false;
        }
        if self.since.is_some() || self.until.is_some() {
            let Some(time) = line.time() else {
                return false;
            };
            if self.since.is_some_and(|since| time < since)
                || self.until.is_some_and(|until| time > until)
            {
                return false;
            }
        }
        if self.words.is_empty() {
            return true;
        }
        let text = folded(&line.message);
        self.words.iter().all(|word| text.contains(word))
    }

    /// Whether anything but the words restricts it.
    pub fn has_filters(&self) -> bool {
        self.agent.is_some() || self.since.is_some() || self.until.is_some()
    }
}

/// The last hit of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchCursor {
    pub time: i64,
    pub room: String,
    pub message: MessageRef,
}

impl SearchCursor {
    /// As an opaque text for callers.
    pub fn write(&self) -> String {
        format!("{}.{}.{}", self.time, self.room, self.message.to_cursor())
    }

    pub fn parse(text: &str) -> Option<Self> {
        let (time, rest) = text.split_once('.')?;
        let (room, message) = rest.split_once('.')?;
        Some(Self {
            time: time.parse().ok()?,
            room: room.to_owned(),
            message: MessageRef::from_cursor(message),
        })
    }

    /// Whether a hit of another room was on a page before.
    pub fn was_shown(&self, time: i64, room: &str) -> bool {
        (Reverse(time), room) < (Reverse(self.time), &self.room)
    }
}

pub struct Hit {
    /// Names its room.
    pub line: MessageLine,
    pub number: usize,
    /// Milliseconds; no later than that of the hit before it in its room.
    pub time: i64,
    /// In an answer.
    pub bytes: usize,
}

impl Hit {
    fn order(&self) -> (Reverse<i64>, &str, Reverse<usize>) {
        (
            Reverse(self.time),
            &self.line.room_name,
            Reverse(self.number),
        )
    }
}

/// What was found, newest first.
#[derive(Default)]
pub struct SearchHits {
    pub hits: Vec<Hit>,
    bytes: usize,
    /// There was more than fits.
    pub has_more: bool,
}

impl SearchHits {
    /// Adds a hit if it fits; returns whether it did.
    pub fn add(&mut self, mut hit: Hit, limit: usize) -> bool {
        let is_first = self.hits.is_empty();
        self.has_more |=
            self.hits.len() >= limit || !is_first && self.bytes + hit.bytes > ANSWER_BYTES;
        if self.has_more {
            return false;
        }
        if hit.bytes > ANSWER_BYTES {
            hit.line.cut();
        }
        self.bytes += hit.bytes;
        self.hits.push(hit);
        true
    }

    /// The newest of both, up to a limit and a page's size.
    pub fn merge(mut self, mut other: Self, limit: usize) -> Self {
        // What follows the end of one that is cut is not known.
        self.end_with(&other);
        other.end_with(&self);
        let has_more = self.has_more || other.has_more;
        let mut hits = self.hits;
        hits.extend(other.hits);
        hits.sort_by(|a, b| a.order().cmp(&b.order()));
        let mut merged = Self::default();
        for hit in hits {
            if !merged.add(hit, limit) {
                break;
            }
        }
        merged.has_more |= has_more;
        merged
    }

    fn end_with(&mut self, other: &Self) {
        if let Some(end) = other.hits.last().filter(|_| other.has_more) {
            self.hits.retain(|hit| hit.order() <= end.order());
        }
    }

    /// Where the next page continues, if there is one.
    pub fn next(&self) -> Option<SearchCursor> {
        let last = self.hits.last().filter(|_| self.has_more)?;
        Some(SearchCursor {
            time: last.time,
            room: last.line.room_name.clone(),
            message: MessageRef {
                id: last.line.id.clone(),
                number: last.number,
                generation: None,
            },
        })
    }
}
