//! Pages of messages, and search.

use std::io;

use jiff::Timestamp;
use kit::Result;

use super::{
    Log,
    index::{Files, Index},
    message_ref::MessageRef,
};
use crate::{
    errors,
    model::{
        message::{Glance, Line, folded},
        names::canonical,
    },
};

/// A page ends before it grows larger than this, with a cursor to go on. An
/// answer repeats it as text, and clients refuse answers over 1 MB.
const PAGE_BYTES: usize = 110_000;
/// How many more messages are read for a page of mentions, since some only seem to
/// mention the agent.
const SEEMING: usize = 64;
/// How many messages are searched at a time. In between, others can use the index.
const SEARCHED_AT_ONCE: usize = 128;

/// Where a page of messages starts, counted from the newest.
pub enum Start {
    Offset(usize),
    /// Older than the last message of another page.
    Cursor(MessageRef),
    /// Older than the message with this id.
    BeforeMessage(String),
    /// Sent before this time.
    BeforeTime(Timestamp),
}

pub struct Pick<'a> {
    pub start: Start,
    pub limit: usize,
    /// Only messages that mention this agent.
    pub mentions_of: Option<&'a str>,
}

pub struct Page {
    pub messages: Vec<Line>,
    pub has_more: bool,
    /// The oldest of them.
    pub next: Option<MessageRef>,
}

pub struct Search {
    /// Folded; all must be there.
    pub terms: Vec<String>,
    pub agent: Option<String>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub limit: usize,
}

/// What was found, newest first.
#[derive(Default)]
pub struct SearchHits {
    pub lines: Vec<(Line, usize)>,
    bytes: usize,
    /// There was more than fits.
    pub has_more: bool,
}

impl SearchHits {
    /// Adds a line of so many bytes if it fits; returns whether it did.
    pub fn add(&mut self, line: Line, bytes: usize, limit: usize) -> bool {
        let is_first = self.lines.is_empty();
        self.has_more |= self.lines.len() >= limit || !is_first && self.bytes + bytes > PAGE_BYTES;
        if self.has_more {
            return false;
        }
        self.bytes += bytes;
        self.lines.push((line, bytes));
        true
    }

    /// The newest of both, up to a limit and a page's size.
    pub fn merge(self, other: Self, limit: usize) -> Self {
        let has_more = self.has_more || other.has_more;
        let mut lines = self.lines;
        lines.extend(other.lines);
        lines.sort_by_key(|(line, _)| std::cmp::Reverse(line.time()));
        let mut merged = Self::default();
        for (line, bytes) in lines {
            if !merged.add(line, bytes, limit) {
                break;
            }
        }
        merged.has_more |= has_more;
        merged
    }
}

impl Log {
    /// Newest first.
    pub fn page(&self, pick: &Pick<'_>) -> Result<Page> {
        let time = match pick.start {
            Start::BeforeTime(time) => Some((time, self.first_since(time)?)),
            _ => None,
        };
        let page = self.look(|index, files| {
            let found = match (&pick.start, time) {
                (Start::Offset(offset), _) => Some(Err(*offset)),
                (Start::Cursor(last), _) => {
                    let last = index.locate(last.clone(), files)?;
                    last.map(|last| Ok(last.number))
                }
                (Start::BeforeMessage(id), _) => index.find(id, files)?.map(Ok),
                (Start::BeforeTime(_), time) => time.map(|(_, number)| Ok(number)),
            };
            let Some(until) = found else {
                return Ok(None);
            };
            let only = Only {
                mentioning: pick.mentions_of,
                before: time.map(|(time, _)| time),
            };
            let read = match pick.mentions_of {
                None => {
                    let until = until.unwrap_or_else(|offset| index.count().saturating_sub(offset));
                    read_each(index, files, (0..until).rev(), pick.limit, only)?
                }
                Some(agent) => {
                    let all = || index.mentions_of(agent, 0);
                    let until = match until {
                        Ok(number) => all().take_while(|mention| *mention < number).count(),
                        // Also over messages that only seem to mention the agent.
                        Err(offset) => all().count().saturating_sub(offset),
                    };
                    let from = until.saturating_sub(pick.limit + SEEMING);
                    let numbers: Vec<usize> = all().take(until).skip(from).collect();
                    let numbers = numbers.into_iter().rev();
                    let mut read = read_each(index, files, numbers, pick.limit, only)?;
                    read.has_more |= from > 0;
                    read
                }
            };
            let last = read.messages.last();
            Ok(Some(Page {
                has_more: read.has_more,
                next: last.map(|(number, line)| index.message_ref(&line.id, *number)),
                messages: read.messages.into_iter().map(|(_, line)| line).collect(),
            }))
        })?;
        page.ok_or_else(|| match &pick.start {
            Start::BeforeMessage(id) => errors::message_not_found(id),
            _ => kit::page::unknown_cursor(),
        })
    }

    /// The number after the newest message that was sent before a time. Lines are
    /// not always in the order of their times, so that all that are newer are
    /// looked at.
    fn first_since(&self, time: Timestamp) -> Result<usize> {
        let mut until = self.count()?;
        while until > 0 {
            let is_older = self.look(|index, files| {
                let mut reader = index.reader(files);
                let from = until.saturating_sub(SEARCHED_AT_ONCE);
                while until > from {
                    let text = reader.text(until - 1)?.unwrap_or_default();
                    let sent = Glance::parse(text).and_then(|line| line.time());
                    if sent.is_some_and(|sent| sent < time) {
                        return Ok(true);
                    }
                    until -= 1;
                }
                Ok(false)
            })?;
            if is_older {
                break;
            }
        }
        Ok(until)
    }

    /// The matching messages, newest first, up to the limit and a page's size.
    pub fn search(&self, search: &Search, keep_on: impl Fn() -> Result<()>) -> Result<SearchHits> {
        let mut found = SearchHits::default();
        let mut until = self.count()?;
        while until > 0 {
            keep_on()?;
            // Reopened each time: a message keeps its number, not its file.
            let mut texts = Vec::new();
            self.look(|index, files| {
                let mut reader = index.reader(files);
                let from = until.saturating_sub(SEARCHED_AT_ONCE);
                while until > from && texts.len() < PAGE_BYTES {
                    until -= 1;
                    texts.extend_from_slice(reader.text(until)?.unwrap_or_default());
                    texts.push(b'\n');
                }
                Ok(())
            })?;
            let fitting = texts
                .split(|byte| *byte == b'\n')
                .filter(|text| Glance::parse(text).is_some_and(|glance| search.fits(&glance)));
            for text in fitting {
                if let Some(line) = Line::parse(text)
                    && !found.add(line, text.len(), search.limit)
                {
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }
}

impl Search {
    fn fits(&self, line: &Glance<'_>) -> bool {
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
        if self.terms.is_empty() {
            return true;
        }
        let text = folded(&line.message);
        self.terms.iter().all(|term| text.contains(term))
    }
}

/// Messages that were read, with their numbers.
#[derive(Default)]
pub struct ReadMessages {
    pub messages: Vec<(usize, Line)>,
    has_more: bool,
}

/// Which of the candidates are meant.
#[derive(Clone, Copy, Default)]
pub struct Only<'a> {
    pub mentioning: Option<&'a str>,
    pub before: Option<Timestamp>,
}

impl Only<'_> {
    fn is_meant(&self, line: &Line) -> bool {
        let mentions = |agent: &str| line.mentions.iter().any(|name| canonical(name) == agent);
        let is_before = |time| line.time().is_some_and(|sent| sent < time);
        self.mentioning.is_none_or(mentions) && self.before.is_none_or(is_before)
    }
}

/// The messages with these numbers in this order, up to a limit and a page's
/// size; at least one, so that paging always goes on.
pub fn read_each(
    index: &Index,
    files: &Files,
    numbers: impl Iterator<Item = usize>,
    limit: usize,
    only: Only<'_>,
) -> io::Result<ReadMessages> {
    let mut read = ReadMessages::default();
    let mut reader = index.reader(files);
    let mut bytes = 0;
    for number in numbers {
        let text = reader.text(number)?.unwrap_or_default();
        let line = Line::parse(text).filter(|line| only.is_meant(line));
        let Some(line) = line else { continue };
        bytes += text.len();
        let is_full = bytes > PAGE_BYTES && !read.messages.is_empty();
        if is_full || read.messages.len() == limit {
            read.has_more = true;
            break;
        }
        read.messages.push((number, line));
    }
    Ok(read)
}
