//! Waiting for messages: what an agent wants, what is new for it, and who else waits.

use std::time::Duration;

use tokio::sync::watch;

use super::{messages::MessageRef, rooms::Member};
use crate::model::{members::Status, message::MessageLine};

/// Names in the warning that everybody waits. Few: every waiting call holds them.
const NAMED: usize = 10;

/// What an agent waits for.
#[derive(Debug, Clone)]
pub struct WaitFilter {
    /// Only messages that mention it.
    pub mentions: bool,
    /// Only replies to the message with this id, and later mentions.
    pub reply_to: Option<String>,
    pub limit: usize,
}

/// Where an agent stands, in the terms of its store.
pub enum Reached {
    InFiles(Position),
    InRow(RowPosition),
}

/// The read position of an agent in a database.
pub struct RowPosition {
    pub room: i64,
    /// Of the position that this one continues.
    pub version: i64,
    pub read: i64,
    pub mention: i64,
    pub delivered: String,
}

/// How far an agent has read, and how far it has seen its mentions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Position {
    pub read: Option<MessageRef>,
    pub mention: Option<MessageRef>,
    /// Other messages that were delivered, beyond `read`.
    pub delivered: Vec<MessageRef>,
}

/// How far a waiting call has looked, so that it does not read the same messages again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LookedUpTo {
    /// Numbers mean the same messages for as long as this does not change.
    pub generation: u64,
    pub count: usize,
}

/// What an agent has not read yet.
pub struct News {
    /// Oldest first.
    pub messages: Vec<MessageLine>,
    /// Where the agent stands once it has these.
    pub reached: Reached,
    /// More that are wanted are unread.
    pub has_more: bool,
    /// How many are left unread then.
    pub left: usize,
    /// How many messages the room has.
    pub total: usize,
    /// Nothing before this is wanted, if there are no messages.
    pub looked: LookedUpTo,
    /// If there are no messages and everybody who is online waits.
    pub everybody: Option<AllWaiting>,
}

/// Everybody who is online in a room, if there are several and all of them wait.
pub struct AllWaiting {
    pub count: usize,
    /// Some of them.
    pub names: Vec<String>,
    /// Who began to wait last.
    pub last: Option<String>,
}

impl AllWaiting {
    pub fn among(members: &[Member]) -> Option<Self> {
        let online = members.iter().filter(|m| m.status == Status::Online);
        let (waiting, busy): (Vec<_>, Vec<_>) = online.partition(|member| member.is_waiting);
        let last = waiting
            .iter()
            .max_by_key(|member| (member.active_at, &member.name));
        let names = waiting.iter().map(|member| member.name.clone());
        (waiting.len() > 1 && busy.is_empty()).then(|| Self {
            count: waiting.len(),
            last: last.map(|member| member.name.clone()),
            names: names.take(NAMED).collect(),
        })
    }
}

/// Wakes a waiting call. Between wake-ups it looks from time to time.
pub struct Wakeups {
    /// Changes when there may be news: look at once.
    pub news: watch::Receiver<u64>,
    /// Changes when somebody began or ended to wait: look soon. `None`: `news` changes
    /// then as well.
    pub presence: Option<watch::Receiver<u64>>,
    pub look_every: Duration,
}

impl Wakeups {
    /// What changes from here on is a wake-up.
    pub fn mark_seen(&mut self) {
        self.news.borrow_and_update();
        if let Some(presence) = &mut self.presence {
            presence.borrow_and_update();
        }
    }
}

/// An agent waits for as long as this lives.
pub struct Waiting(Option<Box<dyn FnOnce() + Send>>);

impl Waiting {
    /// `end` runs where nothing may block, for example when a call is cancelled.
    pub fn until_dropped(end: impl FnOnce() + Send + 'static) -> Self {
        Self(Some(Box::new(end)))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(end) = self.0.take() {
            end();
        }
    }
}
