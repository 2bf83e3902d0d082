//! What all handlers share: the store, the limits on sending, waiting and
//! searching, and the threads that may block.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use jiff::Timestamp;
use kit::Result;

use tokio::sync::Semaphore;

use crate::{Settings, errors, model::message::MINUTE_MS, store::Store, wait_limits::Waits};

/// Counts are written to the files after this long, so that a burst is counted once,
const COUNTS_LAG: Duration = Duration::from_millis(200);
/// and no more often than this: senders wait for the disk meanwhile.
const COUNTS_EVERY: Duration = Duration::from_secs(2);
/// How many searches run at once; others wait for their turn.
const SEARCHES: usize = 8;
/// Beyond this many agents, those who sent nothing in the last minute are forgotten.
const REMEMBERED: usize = 1_000;

pub struct CounterState {
    pub settings: Settings,
    pub store: Arc<Store>,
    pub waits: Waits,
    /// Permits to search, which takes a processor for as long as it lasts.
    pub searches: Semaphore,
    sends: Mutex<HashMap<String, VecDeque<i64>>>,
    counts_coming: AtomicBool,
    counted: Mutex<Option<Instant>>,
}

impl CounterState {
    pub fn new(settings: Settings) -> Self {
        Self {
            store: Arc::new(Store::new(settings.clone())),
            waits: Waits::new(&settings),
            searches: Semaphore::new(SEARCHES),
            settings,
            sends: Mutex::default(),
            counts_coming: AtomicBool::new(false),
            counted: Mutex::default(),
        }
    }

    /// Runs file work where it holds nobody else up.
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
    /// wait. This limit is for all rooms, through this process. Messages to one
    /// room through other processes are counted when the message is written.
    pub fn may_send(&self, agent: &str, now: Timestamp) -> Result<()> {
        let most = self.settings.sends_per_minute;
        if most == 0 {
            return Ok(());
        }
        let now = now.as_millisecond();
        let mut sends = self.sends.lock().unwrap_or_else(PoisonError::into_inner);
        if sends.len() > REMEMBERED {
            sends.retain(|_, times| times.back().is_some_and(|last| now - last < MINUTE_MS));
        }
        let times = sends.entry(agent.to_owned()).or_default();
        while times.front().is_some_and(|first| now - first >= MINUTE_MS) {
            times.pop_front();
        }
        if times.len() >= most as usize {
            let oldest = times.front().copied().unwrap_or(now);
            return Err(errors::rate_limited(most, oldest + MINUTE_MS - now));
        }
        times.push_back(now);
        Ok(())
    }

    /// Takes back what was counted at `now`: the message was not sent.
    pub fn has_not_sent(&self, agent: &str, now: Timestamp) {
        let now = now.as_millisecond();
        let mut sends = self.sends.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(times) = sends.get_mut(agent)
            && let Some(at) = times.iter().rposition(|time| *time == now)
        {
            times.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_over_its_limit_learns_how_long_to_wait() {
        let state = CounterState::new(Settings {
            sends_per_minute: 3,
            ..Settings::default()
        });
        let at = |ms| Timestamp::from_millisecond(ms).unwrap();
        for ms in [0, 10_000, 20_000] {
            state.may_send("a", at(ms)).unwrap();
        }
        let refused = state.may_send("a", at(30_000)).unwrap_err();
        assert_eq!(refused.code, "RATE_LIMITED");
        assert_eq!(refused.details.unwrap()["retry_after_ms"], 30_000);
        state.may_send("b", at(30_000)).unwrap();
        state.may_send("a", at(60_000)).unwrap();
        assert!(state.may_send("a", at(60_001)).is_err());
    }
}
