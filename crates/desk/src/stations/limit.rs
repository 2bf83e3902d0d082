//! How many requests may a caller make?
//!
//! Exactly N in any 60 seconds, per caller and counter, for all processes on the
//! same data together: the times of the last N admitted requests are kept, and a
//! request passes when the oldest of them is a minute old. A token bucket would
//! let nearly 2N through in the first minute.
//!
//! The count is shared: in files beside the embedded database (`file_count.rs`,
//! `ring.rs`), or in rows on PostgreSQL (`postgres_count.rs`). Once a caller has
//! reached its limit, this desk refuses without asking the shared count until the
//! next request is due.

mod admission;
mod file_count;
mod postgres_count;
mod ring;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use admission::{Admission, CallerAtCounter};
use file_count::FileCount;
use kit::{About, Result, time::Clock};

use crate::{settings::Limits, state::DeskState};

/// What a caller is told to wait when the shared count can't be read: until then
/// nobody is let through.
pub const UNREADABLE_MS: u64 = 1_000;

/// Why a request does not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAdmitted {
    OverLimit {
        retry_after_ms: u64,
    },
    /// The database with the count can't be reached.
    Unavailable,
}

pub struct Limiter {
    per_minute: HashMap<String, u64>,
    /// Until when a caller has no requests left, as far as this desk knows.
    full: Mutex<HashMap<CallerAtCounter, Instant>>,
    /// `None`: the count is in rows.
    files: Option<Arc<FileCount>>,
    state: Arc<DeskState>,
}

impl Limiter {
    /// The configuration wins over what a counter's document says.
    pub fn new(limits: &Limits, counters: &[About], state: &Arc<DeskState>, clock: &Clock) -> Self {
        let own = counters.iter().filter_map(|about| {
            let limit = about.conventions.requests_per_minute?;
            Some((about.name.to_owned(), u64::from(limit)))
        });
        let mut per_minute: HashMap<String, u64> = own.collect();
        let configured = limits.requests_per_minute.iter();
        per_minute.extend(configured.map(|(counter, limit)| (counter.clone(), u64::from(*limit))));
        per_minute.retain(|_, limit| *limit > 0);
        let directory = state.limits_directory();
        Self {
            per_minute,
            full: Mutex::default(),
            files: directory.map(|directory| Arc::new(FileCount::new(directory, clock))),
            state: Arc::clone(state),
        }
    }

    /// A refused request does not count.
    pub async fn admit(&self, caller: &Arc<str>, counter: &'static str) -> Result<(), NotAdmitted> {
        // The common case, no limit, takes no lock.
        let Some(limit) = self.per_minute.get(counter) else {
            return Ok(());
        };
        let who = (Arc::clone(caller), counter);
        let full = |retry_after_ms| NotAdmitted::OverLimit { retry_after_ms };
        self.check_full(&who).map_err(full)?;
        match self.take(&who, *limit).await {
            Ok(Admission::Admitted) => Ok(()),
            Ok(Admission::RetryAfter(wait_ms)) => {
                self.set_full(who, wait_ms);
                Err(full(wait_ms))
            }
            Err(error) if error.code == kit::error::UNAVAILABLE => Err(NotAdmitted::Unavailable),
            Err(error) => {
                tracing::error!(cause = ?error.cause, "the shared limit could not be read");
                self.set_full(who, UNREADABLE_MS);
                Err(full(UNREADABLE_MS))
            }
        }
    }

    async fn take(&self, who: &CallerAtCounter, limit: u64) -> Result<Admission> {
        let Some(files) = &self.files else {
            let state = self.state.get().await?;
            return postgres_count::take(&state.store, who, limit).await;
        };
        files.take(who, limit).await
    }

    fn check_full(&self, who: &CallerAtCounter) -> Result<(), u64> {
        let full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        let until = full.get(who);
        match until.and_then(|until| until.checked_duration_since(Instant::now())) {
            None => Ok(()),
            Some(wait) => Err(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1)),
        }
    }

    fn set_full(&self, who: CallerAtCounter, wait_ms: u64) {
        let mut full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        full.retain(|_, until| *until > now);
        full.insert(who, now + Duration::from_millis(wait_ms));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nobody_passes_while_requests_cannot_be_counted() {
        let limits = Limits {
            requests_per_minute: [("innervoice".to_owned(), 100)].into(),
            ..Limits::default()
        };
        let state = Arc::new(DeskState::none());
        let limiter = Limiter::new(&limits, &[], &state, &Clock::system());
        assert_eq!(
            limiter.admit(&"key".into(), "innervoice").await,
            Err(NotAdmitted::OverLimit {
                retry_after_ms: UNREADABLE_MS
            })
        );
        assert_eq!(limiter.admit(&"key".into(), "cinema").await, Ok(()));
    }
}
