//! Pages of messages.

use std::io;

use jiff::Timestamp;
use kit::Result;

use super::{
    Log,
    index::{Files, Index},
};
use crate::{
    errors,
    model::message::{MessageLine, SearchedLine},
    store::messages::{FilledPage, Page, Pick, Start},
};

/// A message may be older than those written before it, by another clock. After so
/// many that are too old no others are looked for.
const TOO_OLD: usize = 256;
/// How many more messages are read for a page of mentions, since some only seem to
/// mention the agent.
const SEEMING: usize = 64;
/// How many messages are looked at at a time. In between, others can use the index.
pub const LOOKED_AT_ONCE: usize = 128;

impl Log {
    /// Newest first.
    pub fn page(&self, pick: &Pick) -> Result<Page> {
        let before = match pick.start {
            Start::BeforeTime(time) => Some((time, self.first_since(time)?)),
            _ => None,
        };
        let since = pick.since.map(|since| self.oldest_since(since));
        let since = since.transpose()?.unwrap_or_default();
        self.look(|index, files| {
            let after = match &pick.after {
                None => 0,
                Some(id) => match index.find(id, files)? {
                    Some(number) => number + 1,
                    None => return Ok(Err(errors::message_not_found(id))),
                },
            };
            let until = match (&pick.start, before) {
                (Start::Offset(offset), _) => Err(*offset),
                (Start::Cursor(last), _) => match index.locate(last.clone(), files)? {
                    Some(last) => Ok(last.number),
                    None => return Ok(Err(kit::page::unknown_cursor())),
                },
                (Start::BeforeMessage(id), _) => match index.find(id, files)? {
                    Some(number) => Ok(number),
                    None => return Ok(Err(errors::message_not_found(id))),
                },
                (Start::BeforeTime(_), before) => Ok(before.map_or(0, |(_, number)| number)),
            };
            read_page(pick, (index, files), after.max(since), until).map(Ok)
        })?
    }

    /// The number after the newest message that was sent before a time. Lines are
    /// not always in the order of their times, so that all that are newer are
    /// looked at.
    fn first_since(&self, time: Timestamp) -> Result<usize> {
        let mut until = self.count()?;
        self.visit_times(until, |number, sent| {
            let is_older = sent.is_some_and(|sent| sent < time);
            if !is_older {
                until = number;
            }
            !is_older
        })?;
        Ok(until)
    }

    /// The number of the oldest message that was sent at a time or later.
    fn oldest_since(&self, time: Timestamp) -> Result<usize> {
        let count = self.count()?;
        let (mut oldest, mut too_old) = (count, 0);
        self.visit_times(count, |number, sent| {
            if sent.is_some_and(|sent| sent >= time) {
                (oldest, too_old) = (number, 0);
            } else {
                too_old += 1;
            }
            too_old < TOO_OLD
        })?;
        Ok(oldest)
    }

    /// Visits the times of the messages before `number`, newest first, until `visit`
    /// returns `false`.
    fn visit_times(
        &self,
        mut number: usize,
        mut visit: impl FnMut(usize, Option<Timestamp>) -> bool,
    ) -> Result<()> {
        let mut goes_on = true;
        while goes_on && number > 0 {
            self.look(|index, files| {
                let mut reader = index.reader(files);
                let from = number.saturating_sub(LOOKED_AT_ONCE);
                while goes_on && number > from {
                    number -= 1;
                    let text = reader.text(number)?.unwrap_or_default();
                    goes_on = visit(
                        number,
                        SearchedLine::parse(text).and_then(|line| line.time()),
                    );
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// A page of the messages from `from` on, which ends before the number `until` or
/// skips so many of the newest.
fn read_page(
    pick: &Pick,
    (index, files): (&Index, &Files),
    from: usize,
    until: Result<usize, usize>,
) -> io::Result<Page> {
    let only = LineFilter {
        mentioning: pick.mentions_of.as_deref(),
        before: match pick.start {
            Start::BeforeTime(time) => Some(time),
            _ => None,
        },
        since: pick.since,
        ..LineFilter::default()
    };
    let read = match &pick.mentions_of {
        None => {
            let until = until.unwrap_or_else(|offset| index.count().saturating_sub(offset));
            read_each(index, files, (from..until).rev(), pick.limit, only)?
        }
        Some(agent) => {
            let all = || index.mentions_of(agent, from);
            let until = match until {
                Ok(number) => all().take_while(|mention| *mention < number).count(),
                // Also over messages that only seem to mention the agent.
                Err(offset) => all().count().saturating_sub(offset),
            };
            let skipped = until.saturating_sub(pick.limit + SEEMING);
            let numbers: Vec<usize> = all().take(until).skip(skipped).collect();
            let numbers = numbers.into_iter().rev();
            let mut read = read_each(index, files, numbers, pick.limit, only)?;
            read.has_more |= skipped > 0;
            read
        }
    };
    let last = read.messages.last();
    Ok(Page {
        has_more: read.has_more,
        next: last.map(|(number, line)| index.message_ref(&line.id, *number)),
        messages: read.messages.into_iter().map(|(_, line)| line).collect(),
        total: index.count(),
    })
}

/// Which of the candidates are meant.
#[derive(Clone, Copy, Default)]
pub struct LineFilter<'a> {
    pub mentioning: Option<&'a str>,
    /// Without the messages before a number that mention an agent.
    pub without_mentions: Option<(&'a str, usize)>,
    /// Answers to a message of an agent: replies to it, and mentions of the agent.
    pub answers: Option<(&'a str, &'a str)>,
    pub before: Option<Timestamp>,
    pub since: Option<Timestamp>,
}

impl LineFilter<'_> {
    fn is_meant(&self, number: usize, line: &MessageLine) -> bool {
        let is_before = |time| line.time().is_some_and(|sent| sent < time);
        let is_since = |time| line.time().is_some_and(|sent| sent >= time);
        let is_left = |(agent, before)| number >= before || !line.mentions(agent);
        let is_answer = |(id, agent)| line.reply_to.as_deref() == Some(id) || line.mentions(agent);
        self.mentioning.is_none_or(|agent| line.mentions(agent))
            && self.without_mentions.is_none_or(is_left)
            && self.answers.is_none_or(is_answer)
            && self.before.is_none_or(is_before)
            && self.since.is_none_or(is_since)
    }
}

/// The messages with these numbers in this order, as many as fit into an answer.
pub fn read_each(
    index: &Index,
    files: &Files,
    numbers: impl Iterator<Item = usize>,
    limit: usize,
    only: LineFilter<'_>,
) -> io::Result<FilledPage> {
    let mut filling = FilledPage::new(limit);
    let mut reader = index.reader(files);
    for number in numbers {
        let text = reader.text(number)?.unwrap_or_default();
        let line = MessageLine::parse(text).filter(|line| only.is_meant(number, line));
        if let Some(line) = line
            && !filling.add(number, text, line)
        {
            break;
        }
    }
    Ok(filling)
}
