//! A circuit breaker: keeps calls away from a server that does not answer, and
//! tries it again after a pause.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// This many failures in a row open it.
const FAILURES: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

#[derive(Default)]
pub struct Breaker(Mutex<BreakerState>);

#[derive(Default)]
struct BreakerState {
    failures: u32,
    /// No call goes out before this time.
    open_until: Option<Instant>,
}

impl Breaker {
    /// Whether a call may go out now. After a pause one caller may try; the others
    /// wait for the result.
    pub fn allows(&self, now: Instant) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match state.open_until {
            None => true,
            Some(until) if now < until => false,
            Some(_) => {
                state.open_until = Some(now + FIRST_PAUSE);
                true
            }
        }
    }

    /// Returns whether the breaker was open until now.
    pub fn succeeded(&self) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *state).open_until.is_some()
    }

    pub fn failed(&self, now: Instant) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.failures = state.failures.saturating_add(1);
        if state.failures >= FAILURES {
            let doublings = (state.failures - FAILURES).min(8);
            let pause = FIRST_PAUSE * 2_u32.pow(doublings);
            state.open_until = Some(now + pause.min(LONGEST_PAUSE));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_after_failures_in_a_row_and_closes_by_itself() {
        let breaker = Breaker::default();
        let start = Instant::now();
        for _ in 0..2 {
            breaker.failed(start);
        }
        breaker.succeeded();
        for _ in 0..2 {
            breaker.failed(start);
        }
        assert!(breaker.allows(start), "two failures are no pattern");
        breaker.failed(start);
        assert!(!breaker.allows(start));
        let later = start + FIRST_PAUSE;
        assert!(breaker.allows(later), "one may try");
        assert!(!breaker.allows(later), "and only one");
        breaker.succeeded();
        assert!(breaker.allows(later));
    }

    #[test]
    fn pauses_grow_up_to_a_bound() {
        let breaker = Breaker::default();
        let start = Instant::now();
        for _ in 0..100 {
            breaker.failed(start);
        }
        let soon = start + LONGEST_PAUSE - Duration::from_millis(1);
        assert!(!breaker.allows(soon));
        assert!(breaker.allows(start + LONGEST_PAUSE));
    }
}
