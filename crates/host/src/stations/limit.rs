//! How many requests may a caller make?
//!
//! Exactly N in any 60 seconds, per caller and counter: the times of the last N
//! admitted requests are kept, and a request passes when the oldest of them is a
//! minute old. A token bucket would let nearly 2N through in the first minute.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::settings::Limits;

const WINDOW: Duration = Duration::from_secs(60);

pub struct Limiter {
    per_minute: HashMap<String, usize>,
    admitted: Mutex<HashMap<(String, String), VecDeque<Instant>>>,
}

impl Limiter {
    pub fn new(limits: &Limits) -> Self {
        Self {
            per_minute: limits
                .requests_per_minute
                .iter()
                .filter(|(_, limit)| **limit > 0)
                .map(|(counter, limit)| (counter.clone(), *limit as usize))
                .collect(),
            admitted: Mutex::default(),
        }
    }

    /// `Err` with the milliseconds to wait. A refused request does not count.
    pub fn admit(&self, caller: &str, counter: &str) -> Result<(), u64> {
        // The common case, no limit, takes no lock.
        match self.per_minute.get(counter) {
            None => Ok(()),
            Some(limit) => self.admit_at(caller, counter, *limit, Instant::now()),
        }
    }

    fn admit_at(&self, caller: &str, counter: &str, limit: usize, now: Instant) -> Result<(), u64> {
        let mut admitted = self.admitted.lock().unwrap_or_else(PoisonError::into_inner);
        let times = admitted
            .entry((caller.to_owned(), counter.to_owned()))
            .or_default();
        while times
            .front()
            .is_some_and(|first| now.duration_since(*first) >= WINDOW)
        {
            times.pop_front();
        }
        if times.len() < limit {
            times.push_back(now);
            return Ok(());
        }
        let wait = times.front().map_or(WINDOW, |first| {
            WINDOW.saturating_sub(now.duration_since(*first))
        });
        Err(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn admits_exactly_the_limit_in_any_minute() {
        let limiter = Limiter::new(&Limits {
            requests_per_minute: [("innervoice".to_owned(), 100)].into(),
        });
        let start = Instant::now();
        let mut passed = Vec::new();
        for tick in 0..3_000u64 {
            let at = start + Duration::from_millis(tick * 50);
            if limiter.admit_at("key", "innervoice", 100, at).is_ok() {
                passed.push(at);
            }
        }
        for (index, at) in passed.iter().enumerate() {
            let within = passed[index..]
                .iter()
                .take_while(|t| **t - *at < WINDOW)
                .count();
            assert!(within <= 100);
        }
        assert_eq!(
            passed.len(),
            300,
            "150 seconds hold three full minutes' worth"
        );
    }

    #[test]
    fn says_how_long_to_wait_and_counts_callers_apart() {
        let limiter = Limiter::new(&Limits::default());
        let now = Instant::now();
        assert_eq!(limiter.admit_at("a", "c", 1, now), Ok(()));
        assert_eq!(
            limiter.admit_at("a", "c", 1, now + Duration::from_secs(20)),
            Err(40_000)
        );
        assert_eq!(limiter.admit_at("b", "c", 1, now), Ok(()));
        assert_eq!(limiter.admit_at("a", "c", 1, now + WINDOW), Ok(()));
    }
}
