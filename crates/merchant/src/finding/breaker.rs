//! Keeps calls away from a server that does not answer, and tries it again now
//! and then.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// So many failures in a row open it.
const FAILURES: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

#[derive(Default)]
pub struct Breaker(Mutex<State>);

#[derive(Default)]
struct State {
    failures: u32,
    /// Nobody is let through before then.
    closed_until: Option<Instant>,
}

impl Breaker {
    /// Whether a call may go out now. After a pause one caller is let through
    /// to try; the others wait for what becomes of it.
    pub fn lets_through(&self, now: Instant) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match state.closed_until {
            None => true,
            Some(until) if now < until => false,
            Some(_) => {
                state.closed_until = Some(now + FIRST_PAUSE);
                true
            }
        }
    }

    /// Returns whether calls were kept away until now.
    pub fn succeeded(&self) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *state).closed_until.is_some()
    }

    pub fn failed(&self, now: Instant) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.failures = state.failures.saturating_add(1);
        if state.failures >= FAILURES {
            let doublings = (state.failures - FAILURES).min(8);
            let pause = FIRST_PAUSE * 2_u32.pow(doublings);
            state.closed_until = Some(now + pause.min(LONGEST_PAUSE));
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
        assert!(breaker.lets_through(start), "two failures are no pattern");
        breaker.failed(start);
        assert!(!breaker.lets_through(start));
        let later = start + FIRST_PAUSE;
        assert!(breaker.lets_through(later), "one may try");
        assert!(!breaker.lets_through(later), "and only one");
        breaker.succeeded();
        assert!(breaker.lets_through(later));
    }

    #[test]
    fn pauses_grow_up_to_a_bound() {
        let breaker = Breaker::default();
        let start = Instant::now();
        for _ in 0..100 {
            breaker.failed(start);
        }
        let soon = start + LONGEST_PAUSE - Duration::from_millis(1);
        assert!(!breaker.lets_through(soon));
        assert!(breaker.lets_through(start + LONGEST_PAUSE));
    }
}
