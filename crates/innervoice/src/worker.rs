//! What all work beside the calls has in common: it goes on in rounds, survives
//! one that fails, and is done by one process at a time.
//!
//! A round looks with a cheap read whether anything is due; only then is the
//! lease taken that says which process does it. The rows decide in any case: a
//! message is claimed, a reminder moved on, by an `UPDATE` that only one wins.
//!
//! Messages are sent in `outbox::sending`, reminders fire in `reminders`, a
//! calendar server is told in `caldav`.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::FutureExt as _;
use kit::{Presence, Result, Store, lease, sql::Budget, time::Clock};
use tokio_util::sync::CancellationToken;

use crate::state::CounterState;

/// It only spares work, so nobody has to wait for it long.
const LEASE_MS: i64 = 5_000;
pub const EVERY: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
const FIRST_RETRY_MS: i64 = 2_000;
const LONGEST_RETRY_MS: i64 = 10 * 60_000;

pub struct Worker {
    pub state: Arc<CounterState>,
    pub clock: Clock,
    presence: Arc<Presence>,
    /// Cancelled when nothing new is to be begun.
    pub stop: CancellationToken,
}

impl Worker {
    pub fn new(
        state: &Arc<CounterState>,
        clock: &Clock,
        presence: &Arc<Presence>,
        stop: &CancellationToken,
    ) -> Self {
        Self {
            state: Arc::clone(state),
            clock: clock.clone(),
            stop: stop.clone(),
            presence: Arc::clone(presence),
        }
    }

    /// Round after round, until it is stopped.
    pub async fn repeat<F: Future<Output = Result<()>>>(
        &self,
        lease: &'static str,
        round: impl Fn() -> F,
    ) {
        let mut pause = EVERY;
        loop {
            // A round is never broken off: a message half sent would be a claim
            // that has to run out first.
            // Nor does one that panics end the work for all that come after it.
            pause = match AssertUnwindSafe(round()).catch_unwind().await {
                Ok(Ok(())) => EVERY,
                Ok(Err(error)) => {
                    tracing::warn!(%error, cause = ?error.cause, lease, "a round failed");
                    (pause * 2).min(LONGEST_PAUSE)
                }
                Err(_) => {
                    tracing::error!(lease, "a round panicked");
                    (pause * 2).min(LONGEST_PAUSE)
                }
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.stop.cancelled() => break,
            }
        }
        let holder = self.holder();
        let given_back = self
            .store()
            .transaction(Budget::default(), move |sql| {
                lease::release(sql, lease, &holder)
            })
            .await;
        if let Err(error) = given_back {
            tracing::warn!(%error, lease, "a lease was not given back; it runs out by itself");
        }
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        &self.state.store
    }

    pub fn now(&self) -> i64 {
        self.clock.now().as_millisecond()
    }

    pub fn holder(&self) -> String {
        self.presence.name().to_owned()
    }

    /// Whether this process is the one that does it.
    pub async fn holds(&self, name: &'static str) -> Result<bool> {
        let (holder, now) = (self.presence.name(), self.now());
        lease::take(self.store(), name, holder, now, LEASE_MS).await
    }
}

/// Two seconds, four, eight, …, ten minutes.
pub fn pause_after(attempts: i64) -> i64 {
    let doublings = u32::try_from(attempts.saturating_sub(1))
        .unwrap_or(0)
        .min(20);
    FIRST_RETRY_MS
        .saturating_mul(1_i64 << doublings)
        .min(LONGEST_RETRY_MS)
}
