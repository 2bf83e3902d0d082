//! What all handlers share: the store, and the limits on sending, waiting and
//! searching.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use jiff::Timestamp;
use kit::{Result, Waits, minute_limit::MinuteLimit};

use tokio::sync::Semaphore;

use crate::{Settings, errors, store::Store};

/// How long after a change the counts are written, so that a burst is counted once,
const COUNTS_LAG: Duration = Duration::from_millis(200);
/// and how often at most: senders wait for the disk meanwhile.
const COUNTS_EVERY: Duration = Duration::from_secs(2);
/// How many searches run at once; others wait for their turn.
const SEARCHES: usize = 8;
/// How many agents' messages of the last minute are counted.
const MOST_SENDERS: usize = 10_000;

pub struct CounterState {
    pub settings: Settings,
    pub store: Arc<Store>,
    pub waits: Waits,
    /// Permits to search, which takes a processor for as long as it lasts.
    pub searches: Semaphore,
    /// Messages per agent to all rooms, through this process. Messages to one room
    /// through other processes are counted when the message is written.
    sends: MinuteLimit<String>,
    counts_coming: AtomicBool,
    counted: Mutex<Option<Instant>>,
}

impl CounterState {
    pub fn new(settings: Settings) -> Self {
        Self {
            store: Arc::new(Store::new(settings.clone())),
            waits: Waits::new(
                settings.max_waits_per_caller.get(),
                settings.max_waits.get(),
            ),
            searches: Semaphore::new(SEARCHES),
            sends: MinuteLimit::new(settings.sends_per_minute, MOST_SENDERS),
            settings,
            counts_coming: AtomicBool::new(false),
            counted: Mutex::default(),
        }
    }

    /// Runs file work on the threads that may block.
    pub async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let state = Arc::clone(self);
        self.store.blocking().run(move || work(&state)).await
    }

    /// Writes the counts soon, if any have changed.
    pub fn write_counts_soon(self: &Arc<Self>) {
        if !self.store.has_counts_to_write() || self.counts_coming.swap(true, Ordering::AcqRel) {
            return;
        }
        let state = Arc::clone(self);
        tokio::spawn(async move {
            let last = *state.counted.lock().unwrap_or_else(PoisonError::into_inner);
            let pause = last.map_or(COUNTS_LAG, |last| {
                COUNTS_EVERY.saturating_sub(last.elapsed()).max(COUNTS_LAG)
            });
            tokio::time::sleep(pause).await;
            *state.counted.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
            state.counts_coming.store(false, Ordering::Release);
            let written = state.blocking(|state| state.store.write_counts()).await;
            if let Err(error) = written {
                tracing::warn!(%error, cause = ?error.cause, "counts could not be written to the files");
            }
        });
    }

    /// Counts a message against the agent's limit per minute, or says how long to
    /// wait.
    pub fn may_send(&self, agent: &str, now: Timestamp) -> Result<()> {
        let admitted = self.sends.admit(agent.to_owned(), now.as_millisecond());
        admitted.map_err(|wait| {
            let wait = i64::try_from(wait).unwrap_or(i64::MAX);
            errors::rate_limited(self.settings.sends_per_minute, wait)
        })
    }

    /// Takes back what was counted at `now`: the message was not sent.
    pub fn has_not_sent(&self, agent: &str, now: Timestamp) {
        self.sends
            .take_back(&agent.to_owned(), now.as_millisecond());
    }
}
