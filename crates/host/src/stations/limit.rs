//! How many requests may a caller make?
//!
//! Exactly N in any 60 seconds, per caller and counter: the times of the last N
//! admitted requests are kept, and a request passes when the oldest of them is a
//! minute old. A token bucket would let nearly 2N through in the first minute.
//!
//! Several desks on one PostgreSQL share the count. There each of the N is a
//! row, a slot that a request takes for a minute, by the server's clock; whoever
//! finds none is refused, and its desk refuses by itself from then on until the
//! next slot is due.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use kit::{About, Result, Store, sql::Budget};

use crate::{settings::Limits, state::DeskState};

const WINDOW: Duration = Duration::from_secs(60);
const WINDOW_MS: i64 = 60_000;

/// What a caller is told to wait when the shared count can't be read: it is let
/// through by nobody.
const UNREADABLE_MS: u64 = 1_000;

/// A caller's id and a counter's name.
type Who = (Arc<str>, &'static str);

pub struct Limiter {
    per_minute: HashMap<String, usize>,
    admitted: Mutex<HashMap<Who, VecDeque<Instant>>>,
    /// Until when there is no slot for a caller, as far as this desk knows.
    full: Mutex<HashMap<Who, Instant>>,
    state: Arc<DeskState>,
}

impl Limiter {
    /// What the configuration says comes before what a counter's document does.
    pub fn new(limits: &Limits, counters: &[About], state: &Arc<DeskState>) -> Self {
        let own = counters.iter().filter_map(|about| {
            let limit = about.ways.requests_per_minute?;
            Some((about.name.to_owned(), limit as usize))
        });
        let mut per_minute: HashMap<String, usize> = own.collect();
        let configured = limits.requests_per_minute.iter();
        per_minute.extend(configured.map(|(counter, limit)| (counter.clone(), *limit as usize)));
        per_minute.retain(|_, limit| *limit > 0);
        Self {
            per_minute,
            admitted: Mutex::default(),
            full: Mutex::default(),
            state: Arc::clone(state),
        }
    }

    /// `Err` with the milliseconds to wait. A refused request does not count.
    pub async fn admit(&self, caller: &Arc<str>, counter: &'static str) -> Result<(), u64> {
        // The common case, no limit, takes no lock.
        let Some(limit) = self.per_minute.get(counter) else {
            return Ok(());
        };
        match self.state.opened().map(|state| &state.store) {
            Some(store) if store.engine() == "postgres" => {
                self.admit_shared(store, caller, counter, *limit).await
            }
            _ => self.admit_at(caller, counter, *limit, Instant::now()),
        }
    }

    async fn admit_shared(
        &self,
        store: &Arc<dyn Store>,
        caller: &Arc<str>,
        counter: &'static str,
        limit: usize,
    ) -> Result<(), u64> {
        let who = (Arc::clone(caller), counter);
        let full = |map: &Mutex<HashMap<Who, Instant>>| {
            let map = map.lock().unwrap_or_else(PoisonError::into_inner);
            let until = map.get(&who)?;
            until.checked_duration_since(Instant::now())
        };
        if let Some(wait) = full(&self.full).filter(|wait| !wait.is_zero()) {
            return Err(millis(wait));
        }
        match take_slot(store, &who, limit).await {
            Ok(None) => Ok(()),
            Ok(Some(wait_ms)) => {
                let mut full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
                let now = Instant::now();
                full.retain(|_, until| *until > now);
                full.insert(who, now + Duration::from_millis(wait_ms));
                Err(wait_ms)
            }
            Err(error) => {
                tracing::error!(cause = ?error.cause, "the shared limit could not be read");
                Err(UNREADABLE_MS)
            }
        }
    }

    fn admit_at(
        &self,
        caller: &Arc<str>,
        counter: &'static str,
        limit: usize,
        now: Instant,
    ) -> Result<(), u64> {
        let mut admitted = self.admitted.lock().unwrap_or_else(PoisonError::into_inner);
        let times = admitted.entry((Arc::clone(caller), counter)).or_default();
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
        Err(millis(wait))
    }
}

fn millis(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1)
}

/// Takes a slot, or says how many milliseconds it is until the next one is due.
async fn take_slot(store: &Arc<dyn Store>, who: &Who, limit: usize) -> Result<Option<u64>> {
    let ((caller, counter), limit) = (who.clone(), i64::try_from(limit).unwrap_or(i64::MAX));
    store
        .transaction(Budget::default(), move |sql| {
            let (caller, counter) = ((&*caller).into(), counter.into());
            // By the server's clock, which all desks share. A slot that somebody
            // else is just taking is not waited for: it is as good as taken.
            const TAKE: &str = "UPDATE desk_slots
                 SET at_ms = CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)
                 WHERE (caller, counter, slot) = (
                     SELECT caller, counter, slot FROM desk_slots
                     WHERE caller = $1 AND counter = $2 AND slot < $3
                       AND at_ms <= CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - $4
                     ORDER BY at_ms LIMIT 1 FOR UPDATE SKIP LOCKED)";
            let taken = [caller, counter, limit.into(), WINDOW_MS.into()];
            if sql.execute(TAKE, &taken)? == 1 {
                return Ok(None);
            }
            // A caller's first request, or a limit that was raised.
            sql.execute(
                "INSERT INTO desk_slots (caller, counter, slot, at_ms)
                 SELECT $1, $2, slot, 0 FROM generate_series(0, $3 - 1) AS slot
                 ON CONFLICT DO NOTHING",
                &[caller, counter, limit.into()],
            )?;
            if sql.execute(TAKE, &taken)? == 1 {
                return Ok(None);
            }
            let row = sql.query_one(
                "SELECT MIN(at_ms) + $4 - CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)
                 FROM desk_slots WHERE caller = $1 AND counter = $2 AND slot < $3",
                &taken,
            )?;
            let wait = row.map(|row| row.opt_int(0)).transpose()?.flatten();
            // Negative: slots are free that others hold locked for a moment.
            let wait = wait.and_then(|wait| u64::try_from(wait).ok()).unwrap_or(0);
            Ok(Some(wait.max(1)))
        })
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn admits_exactly_the_limit_in_any_minute() {
        let limits = Limits {
            requests_per_minute: [("innervoice".to_owned(), 100)].into(),
            ..Limits::default()
        };
        let limiter = Limiter::new(&limits, &[], &Arc::new(DeskState::none()));
        let start = Instant::now();
        let mut passed = Vec::new();
        for tick in 0..3_000u64 {
            let at = start + Duration::from_millis(tick * 50);
            if limiter
                .admit_at(&"key".into(), "innervoice", 100, at)
                .is_ok()
            {
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
        let limiter = Limiter::new(&Limits::default(), &[], &Arc::new(DeskState::none()));
        let now = Instant::now();
        assert_eq!(limiter.admit_at(&"a".into(), "c", 1, now), Ok(()));
        assert_eq!(
            limiter.admit_at(&"a".into(), "c", 1, now + Duration::from_secs(20)),
            Err(40_000)
        );
        assert_eq!(limiter.admit_at(&"b".into(), "c", 1, now), Ok(()));
        assert_eq!(limiter.admit_at(&"a".into(), "c", 1, now + WINDOW), Ok(()));
    }
}
