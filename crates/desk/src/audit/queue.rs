//! The queue between the calls and the one writer.
//!
//! A call reserves a place before it runs and pushes its record when it ends. So
//! pushing never waits, not even when a call is dropped half-way. When the queue is
//! full, new calls wait: no record is lost while the trail can be written.
//!
//! The first record that nobody waits for wakes the writer, which then collects
//! more for [`GATHER`]. So a thousand reads per second cost fifty wake-ups.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::{Semaphore, oneshot, watch};

use super::entry::AuditEntry;

/// How many records may wait, including those of calls in flight.
pub const CAPACITY: usize = 16 * 1024;

const GATHER: Duration = Duration::from_millis(20);
/// This many records are written without waiting for more.
const URGENT_FROM: usize = 2048;

pub struct Queue {
    state: Mutex<QueueState>,
    wake: Condvar,
    places: Semaphore,
    /// Whether writing the trail fails at present.
    failing: watch::Sender<bool>,
}

#[derive(Default)]
struct QueueState {
    waiting: Batch,
    urgent: bool,
}

/// What the writer takes from the queue at once.
#[derive(Default)]
pub struct Batch {
    pub entries: Vec<AuditEntry>,
    /// They learn whether everything queued before is written.
    pub waiters: Vec<oneshot::Sender<bool>>,
    /// Some of them wait until it is on disk.
    pub sync: bool,
    /// Some records are of changes, whose rows are on disk already.
    pub changes: bool,
    /// A call is about to change something: the segment must exist.
    pub begin: bool,
    /// End a segment that is due, if no call is in flight.
    pub tidy: bool,
    pub close: bool,
}

/// The answer to reserving a place for one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reservation {
    Reserved,
    /// The trail can't be written and the queue is full.
    Full,
}

impl Queue {
    pub fn new() -> Self {
        Self {
            state: Mutex::default(),
            wake: Condvar::new(),
            places: Semaphore::new(CAPACITY),
            failing: watch::Sender::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_failing(&self) -> bool {
        *self.failing.borrow()
    }

    /// Returns whether this changed anything.
    pub fn set_failing(&self, failing: bool) -> bool {
        self.failing
            .send_if_modified(|now| std::mem::replace(now, failing) != failing)
    }

    pub async fn reserve(&self) -> Reservation {
        if self.try_reserve() == Reservation::Reserved {
            return Reservation::Reserved;
        }
        let mut failing = self.failing.subscribe();
        tokio::select! {
            permit = self.places.acquire() => {
                permit.map_or(Reservation::Full, |permit| {
                    permit.forget();
                    Reservation::Reserved
                })
            }
            _ = failing.wait_for(|failing| *failing) => Reservation::Full,
        }
    }

    pub fn try_reserve(&self) -> Reservation {
        match self.places.try_acquire() {
            Ok(permit) => {
                permit.forget();
                Reservation::Reserved
            }
            Err(_) => Reservation::Full,
        }
    }

    pub fn release(&self, places: usize) {
        self.places.add_permits(places);
    }

    /// Whether no place is reserved.
    pub fn is_idle(&self) -> bool {
        self.places.available_permits() == CAPACITY
    }

    /// Adds a record. Its place must have been reserved.
    pub fn push(&self, entry: AuditEntry) {
        let mut state = self.lock();
        let first = state.waiting.entries.is_empty();
        state.waiting.entries.push(entry);
        if state.waiting.entries.len() == URGENT_FROM {
            state.urgent = true;
        }
        let wake = first || state.urgent;
        drop(state);
        if wake {
            self.wake.notify_one();
        }
    }

    /// The same, for a caller who waits until the record is on disk.
    pub fn push_durable(&self, entry: AuditEntry) -> oneshot::Receiver<bool> {
        self.request_sync(|waiting| waiting.entries.push(entry))
    }

    /// The same, for a caller who waits until the record is in the file.
    pub fn push_written(&self, entry: AuditEntry) -> oneshot::Receiver<bool> {
        self.request(|waiting| {
            waiting.entries.push(entry);
            waiting.changes = true;
        })
    }

    pub fn begin(&self) -> oneshot::Receiver<bool> {
        self.request_sync(|waiting| waiting.begin = true)
    }

    pub fn tidy(&self) -> oneshot::Receiver<bool> {
        self.request_sync(|waiting| waiting.tidy = true)
    }

    pub fn close(&self) -> oneshot::Receiver<bool> {
        self.request_sync(|waiting| waiting.close = true)
    }

    fn request_sync(&self, what: impl FnOnce(&mut Batch)) -> oneshot::Receiver<bool> {
        self.request(|waiting| {
            what(waiting);
            waiting.sync = true;
        })
    }

    fn request(&self, what: impl FnOnce(&mut Batch)) -> oneshot::Receiver<bool> {
        let (send, receive) = oneshot::channel();
        let mut state = self.lock();
        what(&mut state.waiting);
        state.waiting.waiters.push(send);
        state.urgent = true;
        drop(state);
        self.wake.notify_one();
        receive
    }

    /// For the writer: waits until there is something to do, for `idle` at most.
    pub fn take(&self, idle: Option<Duration>) -> Batch {
        let mut state = self.lock();
        if !state.urgent && state.waiting.entries.is_empty() {
            let empty = |state: &mut QueueState| !state.urgent && state.waiting.entries.is_empty();
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
            let calm = |state: &mut QueueState| !state.urgent;
            let waited = self.wake.wait_timeout_while(state, GATHER, calm);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.urgent = false;
        std::mem::take(&mut state.waiting)
    }
}
