//! `read_status.json`: how far each agent has read, in the original server's
//! format. Positions only move forward, so the order in which processes write
//! them does not matter.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;
use kit::Result;

use super::{
    cached::Cached,
    dir::READS,
    log::{
        Log,
        index::{Files, Index},
    },
    room_dir::RoomDir,
};
use crate::{
    errors,
    model::{message::written, reads::Reads, remember::remember},
    store::{messages::MessageRef, waiting::Position},
};

/// How many read positions a room keeps. Those of members are always kept.
const REMEMBERED: usize = 2_000;

/// How many delivered messages beyond the read position are remembered. Older ones are
/// delivered again.
const MOST_DELIVERED: usize = 100;

/// What an agent has not read, by the numbers of messages.
#[derive(Debug, Clone)]
pub struct Unread {
    /// All messages before this one are read,
    pub first: usize,
    /// and so are all mentions before this one,
    pub first_mention: usize,
    /// and these.
    pub delivered: Vec<usize>,
}

impl Unread {
    /// How many messages of others are unread. A message that only seems to mention
    /// the agent (one in 65,536 that mention somebody else) is not counted.
    pub fn count(&self, agent: &str, index: &Index) -> usize {
        let all = index.count_by_others(agent, self.first);
        if self.first_mention <= self.first && self.delivered.is_empty() {
            return all;
        }
        let mentions = index.mentions_of(agent, self.first);
        let mentions = mentions.take_while(|number| *number < self.first_mention);
        let mentions = mentions.filter(|number| index.is_by_others(agent, *number));
        let mut read: Vec<usize> = mentions.collect();
        let delivered = self.delivered.iter().copied();
        read.extend(delivered.filter(|number| *number >= self.first));
        read.sort_unstable();
        read.dedup();
        all.saturating_sub(read.len())
    }
}

pub struct ReadPositions {
    at: Arc<RoomDir>,
    log: Arc<Log>,
    file: Cached<Reads>,
    /// Positions known to this process. They may be ahead of the file.
    known: Mutex<HashMap<String, Position>>,
}

impl ReadPositions {
    /// Touches no file.
    pub fn new(at: &Arc<RoomDir>, log: &Arc<Log>) -> Self {
        Self {
            at: Arc::clone(at),
            log: Arc::clone(log),
            file: Cached::new(READS),
            known: Mutex::default(),
        }
    }

    pub fn load(&self) -> Result<Arc<Reads>> {
        self.file.load(&self.at.path()?).map_err(errors::storage)
    }

    /// What is wrong with the file, or was, in words.
    pub fn warnings(&self) -> Result<Vec<String>> {
        let found = self.file.warnings(&self.at.path()?);
        found.map_err(errors::storage)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Position>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_of(&self, agent: &str) -> Position {
        self.known().get(agent).cloned().unwrap_or_default()
    }

    pub fn of(
        &self,
        agent: &str,
        index: &Index,
        files: &Files,
        reads: &Reads,
    ) -> io::Result<Unread> {
        let before = self.known_of(agent);
        let Position {
            read,
            mention,
            delivered,
            ..
        } = before.clone();
        // If the message is gone, the position is the beginning: everything that is there
        // came later.
        let located = |message: Option<MessageRef>| match message {
            Some(message) => index.locate(message, files),
            None => Ok(None),
        };
        let mut known = Position {
            read: located(read)?,
            mention: located(mention)?,
            ..Position::default()
        };
        for message in delivered {
            known.delivered.extend(located(Some(message))?);
        }
        if let Some(status) = reads.get(agent) {
            let read = Some(status.last_read_message_id.as_str()).filter(|id| !id.is_empty());
            move_to_id(&mut known.read, read, index, files)?;
            let mention = status.last_mention_message_id.as_deref();
            move_to_id(&mut known.mention, mention, index, files)?;
            for id in &status.delivered_message_ids {
                if known.delivered.iter().all(|message| message.id != *id)
                    && let Some(number) = index.find(id, files)?
                {
                    known.delivered.push(index.message_ref(id, number));
                }
            }
        }
        let after = |last: &Option<MessageRef>| last.as_ref().map_or(0, |last| last.number + 1);
        let (first, mention) = (after(&known.read), after(&known.mention));
        known.delivered.retain(|message| message.number >= first);
        let unread = Unread {
            first,
            first_mention: mention.max(first),
            delivered: known.delivered.iter().map(|it| it.number).collect(),
        };
        let mut all = self.known();
        // Not if it was moved meanwhile: what was delivered would be delivered again.
        if all.get(agent).is_none_or(|now| *now == before) {
            remember(&mut all, agent, known);
        }
        Ok(unread)
    }

    /// How many messages of others the agent has not read.
    pub fn unread(&self, agent: &str) -> Result<usize> {
        let reads = self.load()?;
        self.log.look(|index, files| {
            let unread = self.of(agent, index, files, &reads)?;
            Ok(unread.count(agent, index))
        })
    }

    /// Moves an agent's position in this process's memory, at once and without
    /// failing; [`Self::save`] writes it down.
    pub fn advance(&self, agent: &str, to: Position) {
        let mut all = self.known();
        let mut known = all.get(agent).cloned().unwrap_or_default();
        move_on(&mut known.read, to.read);
        move_on(&mut known.mention, to.mention);
        known.delivered.extend(to.delivered);
        known.delivered.sort_by_key(|message| message.number);
        known.delivered.dedup_by(|a, b| a.id == b.id);
        let over = known.delivered.len().saturating_sub(MOST_DELIVERED);
        known.delivered.drain(..over);
        remember(&mut all, agent, known);
    }

    /// Writes an agent's position down. Those of members are kept in any case.
    pub fn save(
        &self,
        agent: &str,
        now: Timestamp,
        is_member: impl Fn(&str) -> bool,
    ) -> Result<()> {
        let held = self.at.lock()?;
        let directory = self.at.path()?;
        // The original does not name this lock by its file.
        let name = format!("read-status-{}", self.at.name);
        held.change(self.at.data.dir.root(), &name, |lock| {
            let mut reads = self.with_known(agent, now)?;
            reads.keep_last(REMEMBERED, &is_member);
            let saved = self.file.save_under(lock, &directory, &reads);
            saved.map_err(errors::storage)
        })
    }

    /// What the file says, with this agent's position as it is known here.
    fn with_known(&self, agent: &str, now: Timestamp) -> Result<Reads> {
        let reads = self.load()?;
        // Merges what other processes wrote meanwhile.
        self.log
            .look(|index, files| self.of(agent, index, files, &reads))?;
        let known = self.known_of(agent);
        let mut reads = Reads::clone(&reads);
        let mut status = reads.get(agent).cloned().unwrap_or_default();
        status.agent_name = agent.to_owned();
        if let Some(read) = known.read {
            status.last_read_message_id = read.id;
        }
        status.last_read_timestamp = written(now);
        status.last_mention_message_id = known.mention.map(|last| last.id);
        status.delivered_message_ids = known.delivered.into_iter().map(|it| it.id).collect();
        reads.set(agent, status);
        Ok(reads)
    }
}

fn move_on(known: &mut Option<MessageRef>, to: Option<MessageRef>) {
    if let Some(to) = to
        && known.as_ref().is_none_or(|known| known.number < to.number)
    {
        *known = Some(to);
    }
}

fn move_to_id(
    known: &mut Option<MessageRef>,
    id: Option<&str>,
    index: &Index,
    files: &Files,
) -> io::Result<()> {
    let Some(id) = id else { return Ok(()) };
    if known.as_ref().is_none_or(|known| known.id != id) {
        let number = index.find(id, files)?;
        move_on(known, number.map(|number| index.message_ref(id, number)));
    }
    Ok(())
}
