//! How many requests may a caller make?
//!
//! Exactly N in any 60 seconds, per caller and counter, for all processes on the
//! same data together: the times of the last N admitted requests are kept, and a
//! request passes when the oldest of them is a minute old. A token bucket would
//! let nearly 2N through in the first minute.
//!
//! On the embedded database the times are in a file beside it (`ring.rs`). On
//! PostgreSQL each of the N is a row, a slot that a request takes for a minute,
//! by the server's clock. Whoever finds none free is refused, and its desk
//! refuses by itself from then on until the next one is due.

mod ring;

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, Once, PoisonError},
    time::{Duration, Instant},
};

use kit::{About, Error, Result, Store, sql::Budget, time::Clock};
use ring::{Taken, WINDOW_MS};

use crate::{digest::sha256, settings::Limits, state::DeskState};

/// What a caller is told to wait when the shared count can't be read: it is let
/// through by nobody.
const UNREADABLE_MS: u64 = 1_000;

/// How long a request waits while another process holds the file. It holds it
/// for microseconds, unless it was stopped in the middle.
const PATIENCE: Duration = Duration::from_secs(1);
const TRY_AGAIN: Duration = Duration::from_millis(1);

/// A caller's id and a counter's name.
type Who = (Arc<str>, &'static str);

pub struct Limiter {
    per_minute: HashMap<String, usize>,
    /// Until when there is no slot for a caller, as far as this desk knows.
    full: Mutex<HashMap<Who, Instant>>,
    /// Requests of one caller in this process take turns: trying again is for
    /// what other processes do.
    turns: Mutex<HashMap<Who, Arc<tokio::sync::Mutex<()>>>>,
    swept: Once,
    state: Arc<DeskState>,
    clock: Clock,
}

impl Limiter {
    /// What the configuration says comes before what a counter's document does.
    pub fn new(limits: &Limits, counters: &[About], state: &Arc<DeskState>, clock: &Clock) -> Self {
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
            full: Mutex::default(),
            turns: Mutex::default(),
            swept: Once::new(),
            state: Arc::clone(state),
            clock: clock.clone(),
        }
    }

    /// `Err` with the milliseconds to wait. A refused request does not count.
    pub async fn admit(&self, caller: &Arc<str>, counter: &'static str) -> Result<(), u64> {
        // The common case, no limit, takes no lock.
        let Some(limit) = self.per_minute.get(counter) else {
            return Ok(());
        };
        let who = (Arc::clone(caller), counter);
        if let Some(wait) = self.is_full(&who) {
            return Err(wait);
        }
        let taken = match self.state.limits_directory() {
            Some(directory) => self.take_in_file(directory, &who, *limit).await,
            None => match self.state.get().await {
                Ok(state) => take_slot(&state.store, &who, *limit).await,
                Err(error) => Err(error),
            },
        };
        match taken {
            Ok(None) => Ok(()),
            Ok(Some(wait_ms)) => {
                self.set_full(who, wait_ms);
                Err(wait_ms)
            }
            Err(error) => {
                tracing::error!(cause = ?error.cause, "the shared limit could not be read");
                self.set_full(who, UNREADABLE_MS);
                Err(UNREADABLE_MS)
            }
        }
    }

    fn is_full(&self, who: &Who) -> Option<u64> {
        let full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = full.get(who)?.checked_duration_since(Instant::now())?;
        let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        Some(wait.max(1))
    }

    fn set_full(&self, who: Who, wait_ms: u64) {
        let mut full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        full.retain(|_, until| *until > now);
        full.insert(who, now + Duration::from_millis(wait_ms));
    }

    /// The milliseconds to wait, if it does not pass.
    async fn take_in_file(&self, directory: &Path, who: &Who, limit: usize) -> Result<Option<u64>> {
        let turn = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(turns.entry(who.clone()).or_default())
        };
        let _turn = turn.lock().await;
        // Those who had their turn before may have found that there is none left.
        if let Some(wait) = self.is_full(who) {
            return Ok(Some(wait));
        }
        self.swept.call_once(|| {
            let directory = directory.to_owned();
            tokio::task::spawn_blocking(move || ring::sweep(&directory));
        });
        let (caller, counter) = who;
        let digest = sha256(caller.as_bytes());
        let path = directory.join(ring::file_name(counter, &digest));
        let began = Instant::now();
        loop {
            let (file, clock) = (path.clone(), self.clock.clone());
            // It may have to wait for the disk.
            let taken = tokio::task::spawn_blocking(move || {
                ring::take(&file, limit as u64, || clock.now().as_millisecond())
            });
            match taken
                .await
                .map_err(Error::internal)?
                .map_err(Error::internal)?
            {
                Taken::Yes => return Ok(None),
                Taken::Wait(wait) => return Ok(Some(u64::try_from(wait).unwrap_or(1))),
                Taken::Busy if began.elapsed() < PATIENCE => tokio::time::sleep(TRY_AGAIN).await,
                Taken::Busy => {
                    let what = format!("another process holds {}", path.display());
                    return Err(Error::internal(what));
                }
            }
        }
    }
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

    /// Nobody knows how many passed elsewhere.
    #[tokio::test]
    async fn where_nothing_can_be_counted_nobody_passes() {
        let limits = Limits {
            requests_per_minute: [("innervoice".to_owned(), 100)].into(),
            ..Limits::default()
        };
        let state = Arc::new(DeskState::none());
        let limiter = Limiter::new(&limits, &[], &state, &Clock::system());
        assert_eq!(
            limiter.admit(&"key".into(), "innervoice").await,
            Err(UNREADABLE_MS)
        );
        assert_eq!(limiter.admit(&"key".into(), "cinema").await, Ok(()));
    }
}
