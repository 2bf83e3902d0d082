//! One room that this process has looked into: its messages, its members and how
//! far they have read.

use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use kit::{Result, time::Clock};
use tokio::sync::watch;

use super::{
    data::DataDir,
    log::{Log, index::Index, message_ref::MessageRef, pages},
    members::Members,
    read_positions::{Position, ReadPositions},
    registry::RoomRegistry,
    room_dir::RoomDir,
    send_queue::Queue,
};
use crate::{
    errors,
    model::{members::Profile, message::Line, names::RoomName},
};

pub struct Room {
    pub name: RoomName,
    pub(super) at: Arc<RoomDir>,
    pub log: Arc<Log>,
    pub reads: Arc<ReadPositions>,
    pub members: Members,
    pub(super) queue: Mutex<Queue>,
    changed: watch::Sender<u64>,
}

/// What an agent has not read yet.
pub struct News {
    /// Oldest first.
    pub messages: Vec<Line>,
    /// Where the agent stands once it has these.
    pub position: Position,
    /// How many are left unread then.
    pub left: usize,
}

impl Room {
    /// Touches no file.
    pub fn new(name: RoomName, data: &Arc<DataDir>, registry: &Arc<RoomRegistry>) -> Self {
        let at = Arc::new(RoomDir {
            name: name.clone(),
            data: Arc::clone(data),
            registry: Arc::clone(registry),
        });
        let log = Arc::new(Log::new(&at));
        let reads = Arc::new(ReadPositions::new(&at, &log));
        Self {
            name,
            members: Members::new(&at, &log, &reads),
            at,
            log,
            reads,
            queue: Mutex::default(),
            changed: watch::Sender::new(0),
        }
    }

    /// Wakes everybody who waits in this room, to look again.
    pub fn bump(&self) {
        self.changed.send_modify(|version| *version += 1);
    }

    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// After a change of members or messages: the counts in the files follow,
    /// and whoever waits looks again.
    pub fn has_changed(&self) {
        self.at.data.mark_uncounted(&self.name);
        self.bump();
    }

    /// Returns whether the agent was a member already, and had been offline.
    pub fn enter(&self, agent: &str, profile: Option<Profile>, now: Timestamp) -> Result<bool> {
        let again = self.members.enter(agent, profile, now)?;
        self.has_changed();
        Ok(again)
    }

    pub fn leave(&self, agent: &str) -> Result<()> {
        self.members.leave(agent)?;
        self.has_changed();
        Ok(())
    }

    /// The oldest of what the agent has not read, or of the mentions it has not seen.
    pub fn news(&self, agent: &str, mentions: bool, limit: usize) -> Result<News> {
        let reads = self.reads.load()?;
        self.log.look(|index, files| {
            let (read, seen) = self.reads.of(agent, index, files, &reads)?;
            let messages = if mentions {
                let unseen = index.mentions_of(agent, seen);
                let others = unseen.filter(|number| index.is_by_others(agent, *number));
                let only = pages::Only {
                    mentioning: Some(agent),
                    before: None,
                };
                pages::read_each(index, files, others, limit, only)?
            } else {
                let others = index.by_others(agent, read);
                pages::read_each(index, files, others, limit, pages::Only::default())?
            }
            .messages;
            let last = messages.last();
            let left = match (mentions, last) {
                (false, Some((number, _))) => number + 1,
                _ => read,
            };
            Ok(News {
                position: position_at(index, last, mentions),
                messages: messages.into_iter().map(|(_, line)| line).collect(),
                left: index.count_by_others(agent, left),
            })
        })
    }

    /// Marks everything up to a message as read, or everything there is.
    /// Returns how many are unread then.
    pub fn mark_read(&self, agent: &str, up_to: Option<&str>, now: Timestamp) -> Result<usize> {
        let reads = self.reads.load()?;
        let last = self.log.look(|index, files| {
            self.reads.of(agent, index, files, &reads)?;
            let number = match up_to {
                Some(id) => index.find(id, files)?,
                None => index.count().checked_sub(1),
            };
            let Some(number) = number else {
                return Ok(None);
            };
            let line = index.reader(files).line(number)?;
            Ok(line.map(|line| index.message_ref(&line.id, number)))
        })?;
        match (last, up_to) {
            (None, Some(id)) => return Err(errors::message_not_found(id)),
            (None, None) => return Ok(0),
            (read, _) => {
                let mention = None;
                self.reads.advance(agent, Position { read, mention });
            }
        }
        self.save_position(agent, now)?;
        self.reads.unread(agent)
    }

    pub fn save_position(&self, agent: &str, now: Timestamp) -> Result<()> {
        let members = self.members.load()?;
        let is_member = |name: &str| members.users.get(name).is_some();
        self.reads.save(agent, now, is_member)
    }

    /// Notes that `agent` waits, until the returned mark is dropped.
    pub fn waiting(self: &Arc<Self>, agent: &str, until: Timestamp, clock: &Clock) -> Waiting {
        self.members.begin_waiting(agent);
        let mark = Waiting {
            room: Arc::clone(self),
            agent: agent.to_owned(),
            clock: clock.clone(),
        };
        let noted = self.members.note_waiting(agent, Some(until), clock.now());
        if let Err(error) = noted {
            tracing::warn!(%error, cause = ?error.cause, "it could not be noted that an agent waits");
        }
        mark
    }
}

fn position_at(index: &Index, last: Option<&(usize, Line)>, mentions: bool) -> Position {
    let last: Option<MessageRef> = last.map(|(number, line)| index.message_ref(&line.id, *number));
    let (read, mention) = if mentions { (None, last) } else { (last, None) };
    Position { read, mention }
}

/// An agent waits for as long as this lives.
pub struct Waiting {
    room: Arc<Room>,
    agent: String,
    clock: Clock,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.room.members.end_waiting(&self.agent) {
            return;
        }
        let room = Arc::clone(&self.room);
        let agent = std::mem::take(&mut self.agent);
        let clock = self.clock.clone();
        // Dropped where nothing may block, for example when a call is cancelled.
        let work = move || {
            if !room.members.is_waiting(&agent) {
                let _ = room.members.note_waiting(&agent, None, clock.now());
            }
        };
        self.room.at.data.blocking.run_later(work);
    }
}
