//! What all handlers share: the store, and the limits on sending, waiting and
//! searching.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use jiff::Timestamp;
use kit::{Result, WaitLimit, minute_limit::MinuteLimit};
use tokio::sync::Semaphore;

use crate::{
    Settings, errors,
    model::{names::RoomName, remember::remember},
    store::RoomStore,
};

/// How many searches run at once; others wait for their turn.
const SEARCHES: usize = 8;
/// How many agents' messages of the last minute are counted.
const MOST_SENDERS: usize = 10_000;

pub struct CounterState {
    pub store: Arc<dyn RoomStore>,
    pub waits: WaitLimit,
    /// Permits to search, which takes a processor for as long as it lasts.
    pub searches: Semaphore,
    sends_per_minute: u32,
    /// Messages per agent to all rooms, through this process. Messages to one room
    /// through other processes are counted when the message is written.
    sends: MinuteLimit<String>,
    /// Whom this process warned that everybody waits, and which messages the room had.
    warned: Mutex<HashMap<String, (u64, usize)>>,
}

impl CounterState {
    pub fn new(settings: &Settings, store: Arc<dyn RoomStore>) -> Self {
        Self {
            store,
            waits: WaitLimit::new(
                settings.max_waits_per_caller.get(),
                settings.max_waits.get(),
            ),
            searches: Semaphore::new(SEARCHES),
            sends: MinuteLimit::new(settings.sends_per_minute, MOST_SENDERS),
            sends_per_minute: settings.sends_per_minute,
            warned: Mutex::default(),
        }
    }

    #[cfg(test)]
    pub fn on_files(settings: Settings) -> Self {
        Self::new(&settings, crate::store::open(&settings, None))
    }

    /// Counts a message against the agent's limit per minute, or says how long to
    /// wait.
    pub fn may_send(&self, agent: &str, now: Timestamp) -> Result<()> {
        let admitted = self.sends.admit(agent.to_owned(), now.as_millisecond());
        admitted.map_err(|wait| {
            let wait = i64::try_from(wait).unwrap_or(i64::MAX);
            errors::rate_limited(self.sends_per_minute, wait)
        })
    }

    /// Takes back what was counted at `now`: the message was not sent.
    pub fn has_not_sent(&self, agent: &str, now: Timestamp) {
        self.sends
            .take_back(&agent.to_owned(), now.as_millisecond());
    }

    /// Whether to warn `agent` that everybody waits: not again before the room has got
    /// another message. `messages`: which it has now, and how many.
    pub fn warn_once(&self, room: &RoomName, agent: &str, messages: (u64, usize)) -> bool {
        // No name contains a slash.
        let whom = format!("{room}/{agent}");
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = warned.get(&whom) == Some(&messages);
        remember(&mut warned, &whom, messages);
        !is_known
    }
}
