//! One room that this process has looked into: its messages, its members and how
//! far they have read.

use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use kit::{Error, Result, time::Clock};
use tokio::sync::watch;

use super::{
    data::DataDir,
    log::{
        Log,
        pages::{self, LineFilter},
    },
    members::Members,
    read_positions::ReadPositions,
    registry::RoomRegistry,
    room_dir::RoomDir,
    send_queue::Queue,
};
use crate::{
    errors,
    model::{members::Profile, message::MessageLine, names::RoomName},
    store::waiting::{LookedUpTo, News, Position, Reached, WaitFilter, Waiting},
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

    /// Why `agent`, who was a member, is none. While a room is deleted, its directory goes
    /// before the room is taken off the list.
    pub fn why_not_in(&self, agent: &str) -> Error {
        match self.at.path() {
            Ok(path) if !path.exists() => errors::room_not_found(self.name.as_str(), None),
            _ => self.members.not_in_room(agent),
        }
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

    /// The oldest of the unread messages that are wanted. `looked`: of an earlier look
    /// that found none.
    pub fn news(
        &self,
        agent: &str,
        wanted: &WaitFilter,
        looked: Option<LookedUpTo>,
    ) -> Result<News> {
        let reads = self.reads.load()?;
        self.log.look(|index, files| {
            let mut unread = self.reads.of(agent, index, files, &reads)?;
            let looked = looked.filter(|looked| looked.generation == index.generation());
            let first = match (&wanted.reply_to, looked) {
                (_, Some(looked)) => unread.first.max(looked.count),
                (None, None) => unread.first,
                (Some(id), None) => match index.find(id, files)? {
                    Some(number) => unread.first.max(number + 1),
                    None => return Ok(Err(errors::message_not_found(id))),
                },
            };
            let only = LineFilter {
                mentioning: wanted.mentions.then_some(agent),
                without_mentions: Some((agent, unread.first_mention)),
                answers: wanted.reply_to.as_deref().map(|id| (id, agent)),
                ..LineFilter::default()
            };
            let is_new = |number: &usize| !unread.delivered.contains(number);
            let read = if wanted.mentions {
                let mentions = index.mentions_of(agent, first.max(unread.first_mention));
                let others = mentions.filter(|number| index.is_by_others(agent, *number));
                pages::read_each(index, files, others.filter(is_new), wanted.limit, only)?
            } else {
                let others = index.by_others(agent, first).filter(is_new);
                pages::read_each(index, files, others, wanted.limit, only)?
            };
            let message =
                |(number, line): &(usize, MessageLine)| index.message_ref(&line.id, *number);
            let mut position = Position::default();
            if wanted.reply_to.is_some() {
                position.delivered = read.messages.iter().map(message).collect();
                let numbers = read.messages.iter().map(|(number, _)| *number);
                unread.delivered.extend(numbers);
            } else if let Some(last) = read.messages.last() {
                let after = last.0 + 1;
                match wanted.mentions {
                    true => unread.first_mention = after,
                    false => unread.first = after,
                }
                let last = Some(message(last));
                match wanted.mentions {
                    true => position.mention = last,
                    false => position.read = last,
                }
            }
            Ok(Ok(News {
                reached: Reached::InFiles(position),
                messages: read.messages.into_iter().map(|(_, line)| line).collect(),
                has_more: read.has_more,
                left: unread.count(agent, index),
                total: index.count(),
                looked: LookedUpTo {
                    generation: index.generation(),
                    count: index.count(),
                },
                everybody: None,
            }))
        })?
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
                let position = Position {
                    read,
                    ..Position::default()
                };
                self.reads.advance(agent, position);
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
        let mark = self.until_dropped(agent, clock);
        let noted = self.members.note_waiting(agent, Some(until), clock.now());
        if let Err(error) = noted {
            tracing::warn!(%error, cause = ?error.cause, "it could not be noted that an agent waits");
        }
        mark
    }

    fn until_dropped(self: &Arc<Self>, agent: &str, clock: &Clock) -> Waiting {
        let (room, agent, clock) = (Arc::clone(self), agent.to_owned(), clock.clone());
        Waiting::until_dropped(move || {
            if !room.members.end_waiting(&agent) {
                return;
            }
            let blocking = room.at.data.blocking.clone();
            blocking.run_later(move || {
                if !room.members.is_waiting(&agent) {
                    let _ = room.members.note_waiting(&agent, None, clock.now());
                }
            });
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, model::owners::Actor, store::files::FileStore};

    #[test]
    fn a_wait_for_answers_reads_each_message_once() {
        let directory = tempfile::tempdir().unwrap();
        let store = FileStore::new(Settings {
            data_dir: directory.path().to_owned(),
            ..Settings::default()
        });
        let (name, now) = (RoomName::parse("a").unwrap(), Timestamp::now());
        store.create(&Actor::Local, &name, None, now).unwrap();
        let room = store.room(&name).unwrap();
        let log = room.at.path().unwrap().join("messages.jsonl");
        let line = |id: &str, reply_to: &str| {
            format!(
                r#"{{"id":"{id}","agentName":"x","message":"hi","replyTo":"{reply_to}"}}{}"#,
                "\n"
            )
        };
        let wanted = WaitFilter {
            mentions: false,
            reply_to: Some("1".into()),
            limit: 10,
        };
        let ids = |looked| {
            let news = room.news("y", &wanted, looked).unwrap();
            let ids = news.messages.iter().map(|line| line.id.clone());
            (ids.collect::<Vec<_>>(), news.looked)
        };
        let mut lines = line("1", "") + &line("2", "other");
        std::fs::write(&log, &lines).unwrap();
        let (found, looked) = ids(None);
        assert_eq!((found.len(), looked.count), (0, 2));
        lines += &(line("3", "1") + &line("4", "1"));
        std::fs::write(&log, &lines).unwrap();
        assert_eq!(ids(Some(looked)).0, ["3", "4"]);
        // What was looked at is not read again,
        let later = LookedUpTo { count: 3, ..looked };
        assert_eq!(ids(Some(later)).0, ["4"]);
        // unless the messages are others now.
        std::fs::write(&log, line("1", "") + &line("5", "1")).unwrap();
        assert_eq!(ids(Some(later)).0, ["5"]);
    }
}
