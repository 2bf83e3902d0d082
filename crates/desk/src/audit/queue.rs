//! Between the calls and the one writer.
//!
//! A call takes a place before it runs and leaves its record in it when it ends,
//! so that leaving it never waits, not even when a call is dropped half-way. When
//! all places are taken, new calls wait: nothing is lost while the trail can be
//! written.
//!
//! A record that nobody waits for does not wake the writer by itself: the first
//! one does, and the writer lets others gather for [`GATHER`]. So a thousand
//! reads a second cost fifty wake-ups.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::{Semaphore, oneshot, watch};

use super::entry::Entry;

/// How many records may wait, those of calls under way included.
pub const PLACES: usize = 16 * 1024;

const GATHER: Duration = Duration::from_millis(20);
/// This many are not kept waiting.
const MANY: usize = 2048;

pub struct Queue {
    state: Mutex<State>,
    wake: Condvar,
    places: Semaphore,
    /// Whether the trail can't be written at present.
    failing: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    waiting: Waiting,
    urgent: bool,
}

/// What the writer takes at once.
#[derive(Default)]
pub struct Waiting {
    pub entries: Vec<Entry>,
    /// Told whether everything queued before them is on disk.
    pub told: Vec<oneshot::Sender<bool>>,
    /// Somebody is about to change something: the segment must be there.
    pub begin: bool,
    /// End a segment that is due, if nobody is using it.
    pub tidy: bool,
    pub close: bool,
}

/// A place for one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Taken,
    /// The trail can't be written and all places are full.
    None,
}

impl Queue {
    #[expect(clippy::new_without_default, reason = "one is made on purpose")]
    pub fn new() -> Self {
        Self {
            state: Mutex::default(),
            wake: Condvar::new(),
            places: Semaphore::new(PLACES),
            failing: watch::Sender::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_failing(&self) -> bool {
        *self.failing.borrow()
    }

    /// Returns whether that is news.
    pub fn set_failing(&self, failing: bool) -> bool {
        self.failing
            .send_if_modified(|now| std::mem::replace(now, failing) != failing)
    }

    pub async fn place(&self) -> Place {
        if self.try_place() == Place::Taken {
            return Place::Taken;
        }
        let mut failing = self.failing.subscribe();
        tokio::select! {
            permit = self.places.acquire() => {
                permit.map_or(Place::None, |permit| {
                    permit.forget();
                    Place::Taken
                })
            }
            _ = failing.wait_for(|failing| *failing) => Place::None,
        }
    }

    pub fn try_place(&self) -> Place {
        match self.places.try_acquire() {
            Ok(permit) => {
                permit.forget();
                Place::Taken
            }
            Err(_) => Place::None,
        }
    }

    pub fn give_back(&self, places: usize) {
        self.places.add_permits(places);
    }

    /// Whether no call holds a place.
    pub fn is_idle(&self) -> bool {
        self.places.available_permits() == PLACES
    }

    /// Leaves a record in a place that was taken.
    pub fn push(&self, entry: Entry) {
        let mut state = self.lock();
        let first = state.waiting.entries.is_empty();
        state.waiting.entries.push(entry);
        if state.waiting.entries.len() == MANY {
            state.urgent = true;
        }
        let wake = first || state.urgent;
        drop(state);
        if wake {
            self.wake.notify_one();
        }
    }

    /// The same, for somebody who waits until it is on disk.
    pub fn push_durable(&self, entry: Entry) -> oneshot::Receiver<bool> {
        self.tell(|waiting| waiting.entries.push(entry))
    }

    pub fn begin(&self) -> oneshot::Receiver<bool> {
        self.tell(|waiting| waiting.begin = true)
    }

    pub fn tidy(&self) -> oneshot::Receiver<bool> {
        self.tell(|waiting| waiting.tidy = true)
    }

    pub fn close(&self) -> oneshot::Receiver<bool> {
        self.tell(|waiting| waiting.close = true)
    }

    fn tell(&self, what: impl FnOnce(&mut Waiting)) -> oneshot::Receiver<bool> {
        let (send, receive) = oneshot::channel();
        let mut state = self.lock();
        what(&mut state.waiting);
        state.waiting.told.push(send);
        state.urgent = true;
        drop(state);
        self.wake.notify_one();
        receive
    }

    /// For the writer: waits until there is something to do, at most `idle`.
    pub fn take(&self, idle: Option<Duration>) -> Waiting {
        let mut state = self.lock();
        if !state.urgent && state.waiting.entries.is_empty() {
            let empty = |state: &mut State| !state.urgent && state.waiting.entries.is_empty();
            state = match idle {
                None => self
                    .wake
                    .wait_while(state, empty)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(idle) => {
                    let waited = self.wake.wait_timeout_while(state, idle, empty);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        if !state.urgent && !state.waiting.entries.is_empty() {
            let calm = |state: &mut State| !state.urgent;
            let waited = self.wake.wait_timeout_while(state, GATHER, calm);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.urgent = false;
        std::mem::take(&mut state.waiting)
    }
}
