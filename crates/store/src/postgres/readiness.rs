//! Whether a load balancer should send calls to this process.
//!
//! While there is no primary, calls wait for it, and for that long the process is ready.
//! All desks lose their primary at the same moment: a balancer that took them out at once
//! would refuse the calls that could have waited.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How long a probe may take.
pub(super) const PROBE: Duration = Duration::from_secs(1);

/// Whether the server takes no writes. The transaction that asks is always read-only.
pub(super) const IS_READ_ONLY: &str =
    "SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on'";

pub(super) struct Readiness {
    /// How long calls wait for a primary.
    patience: Duration,
    /// Since when probes fail.
    failing: Mutex<Option<Instant>>,
}

impl Readiness {
    pub fn new(patience: Duration) -> Self {
        Self {
            patience,
            failing: Mutex::default(),
        }
    }

    /// Whether something that is wrong since then can't be waited for any more.
    pub fn is_over(&self, since: Instant) -> bool {
        since.elapsed() >= self.patience
    }

    /// Notes the outcome of a probe. Returns whether to be ready.
    pub fn note(&self, has_answered: bool) -> bool {
        let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        if has_answered {
            *failing = None;
            return true;
        }
        !self.is_over(*failing.get_or_insert_with(Instant::now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_may_fail_for_as_long_as_calls_wait() {
        let patience = Duration::from_secs(60);
        let readiness = Readiness::new(patience);
        assert!(readiness.note(false));
        assert!(readiness.note(false));
        *readiness.failing.lock().unwrap() = Instant::now().checked_sub(patience);
        assert!(!readiness.note(false));
        assert!(readiness.note(true));
        assert!(readiness.note(false), "it counts from the first failure");
        assert!(!Readiness::new(Duration::ZERO).note(false));
    }
}
