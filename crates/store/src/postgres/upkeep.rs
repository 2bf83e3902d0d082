//! What a process does on PostgreSQL every few seconds: it sets its clock by the
//! server's, and looks whether a newer program has changed the tables in a way that it
//! can't go along with.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

use kit::{Result, counter::Migrations, sql::Budget, time::Clock};
use tokio::time::{sleep, timeout};
use tokio_postgres::{Error as DriverError, SimpleQueryMessage, SimpleQueryRow};

use super::{
    commits::{self, Commits},
    error::connecting,
    pool::{Client, Pool, WeakPool},
};
use crate::{failure, migrate};

const EVERY: Duration = Duration::from_secs(5);
const LIMIT: Duration = Duration::from_secs(2);
/// The limit of the first round. A pooler lets it wait while it has no server.
const FIRST_LIMIT: Duration = Duration::from_secs(5);
/// The server's time is known to half the time of the question. A slower answer is not
/// used, except the first.
const SLOW: Duration = Duration::from_millis(500);
/// How often, in rounds, lanes of ended processes are removed: every hour.
const PRUNE_EVERY: u32 = 720;

const TIME: &str = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)";

pub(super) struct Upkeep {
    clock: Clock,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// The steps of the tables that this program uses.
    migrations: Vec<Migrations>,
    trouble: Option<String>,
}

impl Upkeep {
    pub fn new(clock: &Clock) -> Arc<Self> {
        Arc::new(Self {
            clock: clock.clone(),
            known: Mutex::default(),
        })
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn clock(&self) -> Clock {
        self.clock.clone()
    }

    /// Why this program should be replaced, if it should.
    pub fn trouble(&self) -> Option<String> {
        self.known().trouble.clone()
    }

    /// This program uses tables with these steps.
    pub fn uses(&self, migrations: Migrations) {
        self.known().migrations.push(migrations);
    }

    /// The first round, on the first connection.
    pub async fn begin(&self, client: &Client, commits: &Commits) -> Result<()> {
        let round = async {
            self.set_clock(client, Duration::MAX).await?;
            let ready = rows(client, commits::IS_READY).await?;
            if ready.first().and_then(|row| row.get(0)) == Some("t") {
                commits.set_ready();
            }
            Ok(())
        };
        match timeout(FIRST_LIMIT, round).await {
            Ok(ended) => ended.map_err(|error: DriverError| connecting(&error)),
            Err(_) => Err(failure::unreachable(
                "the first statements were not answered in time",
            )),
        }
    }

    /// Starts the later rounds. They end with the pool.
    pub fn keep_on(self: &Arc<Self>, pool: &Pool) {
        tokio::spawn(rounds(Arc::downgrade(self), pool.downgrade()));
    }

    async fn round(&self, client: &Client, number: u32) -> Result<(), DriverError> {
        self.set_clock(client, SLOW).await?;
        self.check_age(client).await?;
        if number.is_multiple_of(PRUNE_EVERY) {
            client.batch_execute(commits::PRUNE).await?;
        }
        Ok(())
    }

    /// The server's time was taken somewhere between question and answer.
    async fn set_clock(&self, client: &Client, slowest: Duration) -> Result<(), DriverError> {
        let asked = Instant::now();
        let answer = rows(client, TIME).await?;
        let took = asked.elapsed();
        let microseconds = answer.first().and_then(|row| row.get(0)?.parse().ok());
        if let Some(microseconds) = microseconds
            && took <= slowest
        {
            self.clock.follow(microseconds, asked + took / 2);
        }
        Ok(())
    }

    /// Whether the tables still suit this program.
    async fn check_age(&self, client: &Client) -> Result<(), DriverError> {
        let found = rows(client, migrate::OLDEST_OF_ALL).await?;
        let mut known = self.known();
        let trouble = found.iter().find_map(|row| {
            let (owner, oldest) = (row.get(0)?, row.get(1)?.parse().ok()?);
            let own = known.migrations.iter().find(|own| own.owner == owner)?;
            (migrate::newest(own) < oldest).then(|| migrate::too_old_text(owner))
        });
        if let Some(trouble) = trouble.as_ref().filter(|_| known.trouble.is_none()) {
            tracing::error!("{trouble} {}", migrate::REPLACE);
        }
        known.trouble = trouble;
        Ok(())
    }
}

async fn rounds(upkeep: Weak<Upkeep>, pool: WeakPool) {
    for number in 1.. {
        sleep(EVERY).await;
        let (Some(upkeep), Some(pool)) = (upkeep.upgrade(), pool.upgrade()) else {
            return;
        };
        if pool.is_closed() {
            return;
        }
        // While the server is away, the clock goes on by itself.
        let Ok(Ok(client)) = timeout(LIMIT, pool.get(&Budget::default())).await else {
            continue;
        };
        let round = timeout(LIMIT, upkeep.round(&client, number)).await;
        // An answer that is still to come must not delay the next job.
        if !matches!(round, Ok(Ok(()))) {
            drop(Client::take(client));
        }
    }
}

/// Asks in one round trip, without a prepared statement.
async fn rows(client: &Client, sql: &str) -> Result<Vec<SimpleQueryRow>, DriverError> {
    let messages = client.simple_query(sql).await?;
    let row = |message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    };
    Ok(messages.into_iter().filter_map(row).collect())
}
