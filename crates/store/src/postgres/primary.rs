//! Whether there is a primary, and who waits for it.
//!
//! While there is none, one task looks for it. Everybody else waits here, without a
//! connection and without a thread, for a limited time.

use std::{
    sync::{Arc, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

use kit::{Error, Result, error::UNAVAILABLE, sql::Budget};
use tokio::{
    sync::{Mutex, Semaphore, watch},
    time::{sleep, sleep_until, timeout},
};
use tokio_postgres::SimpleQueryMessage;

use super::{
    connect::Connector,
    error::connecting,
    pool::{Backend, Client, Pool},
};
use crate::failure;

/// More would only take memory: they could not all be served in time.
const MOST_WAITING: usize = 1_000;
const FIRST_PAUSE: Duration = Duration::from_millis(25);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// How long a new connection and its first answer may take, on a busy server too.
const PROBE_LIMIT: Duration = Duration::from_secs(4);
/// The limit of the first look for a missing primary. It doubles with every look.
const FIRST_LOOK: Duration = Duration::from_secs(1);
/// After this time without an answer, the server is asked whether it is there.
const SILENCE: Duration = Duration::from_secs(2);
/// How often a backend is found idle before its connection counts as dead.
const MOST_IDLE: u32 = 2;
/// The answer to that question holds for this long.
const ANSWER_HOLDS: Duration = Duration::from_secs(1);
/// How long somebody waits who has to know whether a commit succeeded, and has no
/// deadline.
const DOUBT: Duration = Duration::from_secs(30);

/// Clones share it.
#[derive(Clone)]
pub(super) struct Primary(Arc<Inner>);

struct Inner {
    pool: Pool,
    connector: Arc<Connector>,
    patience: Duration,
    /// `None` while there is a primary.
    missing: watch::Sender<Option<Missing>>,
    /// When the last one that was missing was found.
    found: std::sync::Mutex<Option<Instant>>,
    /// Since when writes are refused because the server takes none.
    refuses_writes: std::sync::Mutex<Option<Instant>>,
    places: Semaphore,
    /// When the server was last asked, and whether it answered.
    asked: Mutex<Option<(Instant, bool)>>,
}

/// Why there is no primary, and since when.
#[derive(Clone)]
struct Missing {
    cause: String,
    since: Instant,
}

/// What is wrong at present, for an operator.
pub(super) struct Trouble {
    pub text: &'static str,
    pub since: Instant,
}

/// Until when one piece of work waits. It starts when the primary is first missed.
pub(super) struct Patience {
    limit: Duration,
    until: Option<Instant>,
}

impl Patience {
    fn until(&mut self, budget: &Budget) -> Instant {
        let limit = self.limit;
        let until = *self.until.get_or_insert_with(|| Instant::now() + limit);
        budget
            .deadline
            .map_or(until, |deadline| deadline.min(until))
    }

    /// An unknown outcome is worth the whole time that the work has.
    pub fn extend(&mut self, budget: &Budget) {
        let longest = Instant::now() + DOUBT;
        self.until = Some(budget.deadline.unwrap_or(longest));
    }

    /// Whether it is over, or would be after a pause. Counts as the first miss.
    fn is_over(&mut self, budget: &Budget, pause: Duration) -> bool {
        Instant::now() + pause >= self.until(budget)
    }
}

impl Primary {
    pub fn new(pool: Pool, connector: &Arc<Connector>, patience: Duration) -> Self {
        Self(Arc::new(Inner {
            pool,
            connector: Arc::clone(connector),
            patience,
            missing: watch::Sender::new(None),
            found: std::sync::Mutex::default(),
            refuses_writes: std::sync::Mutex::default(),
            places: Semaphore::new(MOST_WAITING),
            asked: Mutex::default(),
        }))
    }

    pub fn patience(&self) -> Patience {
        Patience {
            limit: self.0.patience,
            until: None,
        }
    }

    pub fn is_missing(&self) -> bool {
        self.0.missing.borrow().is_some()
    }

    pub fn was_missing_within(&self, period: Duration) -> bool {
        let found = *locked(&self.0.found);
        self.is_missing() || found.is_some_and(|at| at.elapsed() < period)
    }

    pub fn trouble(&self) -> Option<Trouble> {
        let missing = self.0.missing.borrow();
        let missing = missing.as_ref().map(|missing| Trouble {
            text: "PostgreSQL has no primary that answers",
            since: missing.since,
        });
        let refusing = || {
            let since = *locked(&self.0.refuses_writes);
            since.map(|since| Trouble {
                text: "PostgreSQL answers, but takes no writes",
                since,
            })
        };
        missing.or_else(refusing)
    }

    /// The server took a write, or refused it because it takes none.
    pub fn takes_writes(&self, takes: bool) {
        let mut refusing = locked(&self.0.refuses_writes);
        match takes {
            true => *refusing = None,
            false if refusing.is_some() => {}
            false => {
                *refusing = Some(Instant::now());
                tracing::warn!("PostgreSQL takes no writes; calls that write wait for a primary");
            }
        }
    }

    /// Returns when the primary is missed.
    pub async fn missed(&self) {
        let mut missing = self.0.missing.subscribe();
        // It ends with the sender, which this holds.
        let _ = missing.wait_for(Option::is_some).await;
    }

    /// Waits until there is a primary, or the patience ends.
    pub async fn wait(&self, budget: &Budget, patience: &mut Patience) -> Result<()> {
        let mut missing = self.0.missing.subscribe();
        let Some(Missing { cause, .. }) = missing.borrow().clone() else {
            return Ok(());
        };
        let Ok(_place) = self.0.places.try_acquire() else {
            return Err(failure::unreachable("too many calls wait for the server"));
        };
        tokio::select! {
            biased;
            () = budget.cancel.cancelled() => Err(Error::cancelled()),
            _ = missing.wait_for(Option::is_none) => Ok(()),
            () = sleep_until(patience.until(budget).into()) => Err(failure::unreachable(cause)),
        }
    }

    /// Waits a moment before the next attempt; `false` when the patience has ended.
    pub async fn pause(&self, budget: &Budget, patience: &mut Patience, attempt: u32) -> bool {
        let pause = FIRST_PAUSE * 2_u32.saturating_pow(attempt.min(4));
        if patience.is_over(budget, pause) {
            return false;
        }
        let Ok(_place) = self.0.places.try_acquire() else {
            return false;
        };
        tokio::select! {
            () = budget.cancel.cancelled() => false,
            () = sleep(pause) => true,
        }
    }

    /// No connection could be made. Somebody looks for the primary from now on.
    pub fn miss(&self, error: &Error) {
        let cause = error.cause.as_ref().map(ToString::to_string);
        self.miss_because(&cause.unwrap_or_default());
    }

    fn miss_because(&self, cause: &str) {
        let first = self.0.missing.send_if_modified(|missing| {
            let since = missing.as_ref().map(|missing| missing.since);
            let new = Missing {
                cause: cause.to_owned(),
                since: since.unwrap_or_else(Instant::now),
            };
            missing.replace(new).is_none()
        });
        if first {
            tracing::warn!(cause, "PostgreSQL has no primary; calls wait for it");
            self.drop_idle();
            tokio::spawn(look(Arc::downgrade(&self.0)));
        }
    }

    /// A connection of the pool, without patience.
    pub async fn connection(&self) -> Option<Client> {
        self.0.pool.get(&Budget::default()).await.ok()
    }

    /// A connection broke. Those that wait in the pool may be broken too, and a new one
    /// costs less than a failed call.
    pub fn drop_idle(&self) {
        self.0.pool.drop_idle();
    }

    /// Returns when nothing more will come on the connection to `backend`: it does not
    /// work on anything, or the server does not answer new connections either. Not before
    /// [`SILENCE`], because a statement may take long.
    pub async fn silent(&self, backend: Option<&Backend>) {
        let mut idle = 0;
        while idle < MOST_IDLE {
            sleep(SILENCE).await;
            if self.is_missing() || !self.answers().await {
                return;
            }
            let is_idle = match backend {
                Some(backend) => self.0.is_idle(backend).await,
                None => false,
            };
            // Its answer may be on its way.
            idle = if is_idle { idle + 1 } else { 0 };
        }
        tracing::warn!("a connection to PostgreSQL was dead");
        if let Some(backend) = backend {
            let _ = self.0.ask(&backend.termination(), PROBE_LIMIT).await;
        }
    }

    /// Whether a new connection is answered.
    pub async fn answers(&self) -> bool {
        let mut asked = self.0.asked.lock().await;
        if let Some((at, answered)) = *asked
            && at.elapsed() < ANSWER_HOLDS
        {
            return answered;
        }
        let probed = self.0.probe(PROBE_LIMIT).await;
        if let Err(cause) = &probed {
            self.miss_because(cause);
        }
        *asked = Some((Instant::now(), probed.is_ok()));
        probed.is_ok()
    }
}

fn locked(time: &std::sync::Mutex<Option<Instant>>) -> MutexGuard<'_, Option<Instant>> {
    time.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Inner {
    /// A server that refuses for another reason than its absence is there.
    async fn probe(&self, limit: Duration) -> Result<(), String> {
        match self.ask("SELECT 1", limit).await {
            Err(error) if error.code == UNAVAILABLE => {
                let cause = error.cause.as_ref().map(ToString::to_string);
                Err(cause.unwrap_or_default())
            }
            _ => Ok(()),
        }
    }

    /// Whether the backend works on nothing, or has ended.
    async fn is_idle(&self, backend: &Backend) -> bool {
        let state = self.ask(&backend.activity(), PROBE_LIMIT).await;
        state.is_ok_and(|state| state.is_none_or(|state| state.starts_with("idle")))
    }

    /// Asks on a connection beside the pool, whose own may all wait for an answer.
    /// Returns the first value.
    async fn ask(&self, sql: &str, limit: Duration) -> Result<Option<String>> {
        let ask = async {
            let (client, driver) = self.connector.connect().await?;
            let answer = tokio::select! {
                answer = client.simple_query(sql) => answer,
                end = driver => end.map(|()| Vec::new()),
            };
            let answer = answer.map_err(|error| connecting(&error))?;
            Ok(answer.iter().find_map(|message| match message {
                SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                _ => None,
            }))
        };
        let late = || failure::unreachable("a new connection was not answered in time");
        timeout(limit, ask).await.unwrap_or_else(|_| Err(late()))
    }
}

/// Looks for the primary until it is there.
async fn look(inner: Weak<Inner>) {
    let started = Instant::now();
    let (mut pause, mut limit) = (FIRST_PAUSE, FIRST_LOOK);
    loop {
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
        let Some(inner) = inner.upgrade() else { return };
        if inner.pool.is_closed() {
            inner.missing.send_replace(None);
            return;
        }
        let probed = inner.probe(limit).await;
        limit = (limit * 2).min(PROBE_LIMIT);
        match probed {
            Ok(()) => {
                let seconds = started.elapsed().as_secs_f64();
                tracing::info!(seconds, "PostgreSQL has a primary again");
                *locked(&inner.found) = Some(Instant::now());
                inner.missing.send_replace(None);
                return;
            }
            Err(cause) => {
                // Nobody is woken: it is still missing.
                inner.missing.send_if_modified(|missing| {
                    if let Some(missing) = missing {
                        missing.cause = cause;
                    }
                    false
                });
            }
        }
    }
}
