//! What all background work has in common: it runs in rounds, survives a round
//! that fails, and is done by one process at a time.
//!
//! A round checks with a cheap read whether anything is due. Only then it takes
//! the lease that decides which process does the work. The lease only saves work:
//! a message is claimed, and a reminder is advanced, by an `UPDATE` that only one
//! process wins.
//!
//! Messages are sent in `outbox::sending`, reminders fire in `reminders`, events
//! are written to a calendar server in `caldav::rounds`.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::FutureExt as _;
use kit::{Presence, Result, Store, error::UNAVAILABLE, hold, lease, sql::Budget, time::Clock};
use tokio_util::sync::CancellationToken;

use crate::state::CounterState;

/// Short, because the lease only saves work.
const LEASE_MS: i64 = 5_000;
pub const EVERY: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
const FIRST_RETRY_MS: i64 = 2_000;
const LONGEST_RETRY_MS: i64 = 10 * 60_000;

pub struct Worker {
    pub state: Arc<CounterState>,
    pub clock: Clock,
    presence: Arc<Presence>,
    /// Cancelled when no new work may begin.
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

    /// Runs round after round until it is stopped.
    pub async fn repeat<F: Future<Output = Result<()>>>(
        &self,
        lease: &'static str,
        round: impl Fn() -> F,
    ) {
        let mut pause = EVERY;
        let mut is_away = false;
        loop {
            // A round is never aborted: a message that is being sent would have to
            // wait for its claim to expire. A round that panics does not end the
            // later ones.
            pause = match AssertUnwindSafe(round()).catch_unwind().await {
                Ok(Ok(())) => {
                    is_away = false;
                    EVERY
                }
                // The store itself has waited, and the work begins soon after it is back.
                Ok(Err(error)) if error.code == UNAVAILABLE => {
                    if !std::mem::replace(&mut is_away, true) {
                        tracing::warn!(%error, cause = ?error.cause, lease, "background work waits for the database");
                    }
                    EVERY
                }
                Ok(Err(error)) => {
                    tracing::warn!(%error, cause = ?error.cause, lease, "background work failed; it is retried");
                    (pause * 2).min(LONGEST_PAUSE)
                }
                Err(_) => {
                    tracing::error!(lease, "background work panicked; it is retried");
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
            tracing::warn!(%error, lease, "the lease was not released; it expires by itself");
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

    /// Takes or renews the lease; `false` while another process holds it, or while a
    /// person has yet to release everything that goes to the outside.
    pub async fn holds(&self, name: &'static str) -> Result<bool> {
        if hold::of(self.store(), hold::OUTSIDE).await?.is_some() {
            return Ok(false);
        }
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
