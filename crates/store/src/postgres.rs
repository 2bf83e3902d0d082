//! PostgreSQL: a pool of connections, a transaction for every job.
//!
//! Where to look: how a connection is made in `connect.rs`, how it is encrypted in
//! `tls.rs` and `certificates.rs`, where its password comes from in `password.rs`,
//! what is different behind PgBouncer in `pooler.rs`.
//!
//! Jobs are plain closures, so each runs on a blocking thread that waits for
//! its statements; the connections themselves are driven by the runtime.
//!
//! A write that loses its server is repeated on a new connection: at once if it was not
//! committed, and after looking (`commits.rs`) if it may have been. While there is no
//! primary, work waits for it (`primary.rs`).
//!
//! Write jobs run at READ COMMITTED, PostgreSQL's own default: what a job has
//! read may change before it writes, unless a constraint, `ON CONFLICT` or a
//! row lock (an `UPDATE` that comes first) stands guard.

mod access;
mod attempt;
mod certificates;
mod commits;
mod connect;
mod error;
mod password;
mod pool;
mod pooler;
mod primary;
mod readiness;
mod tls;
mod transaction;
mod upkeep;
mod value;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use kit::{
    Error, Result,
    counter::Migrations,
    error::{OUTCOME_UNKNOWN, UNAVAILABLE},
    sql::{Budget, PoolStatus, ReadJob},
    time::Clock,
};
use tokio::{runtime::Handle, task::spawn_blocking};

use self::{
    attempt::Attempt,
    commits::{Commits, Mark},
    pool::{Client, NoClient, Pool},
    primary::{Patience, Primary, Trouble},
    readiness::Readiness,
    transaction::{End, Transaction},
    upkeep::Upkeep,
};
pub(crate) use self::{
    connect::{Connector, Driver},
    error::connecting,
    pooler::is_pooled,
};
use crate::{
    failure,
    job::{self, Session, Work},
    migrate,
    options::Options,
};

/// How many servers a job may lose before it is given up. A job that brings the server
/// down must not do so for ever.
const MOST_LOSSES: u32 = 5;

/// The lock is shared by every Madoguchi on this database; its number is arbitrary.
/// The schema is only created if it is missing, since `CREATE SCHEMA` needs a right
/// that an operator may not have granted.
const PREPARE_SCHEMA: &str = "
SELECT pg_advisory_xact_lock(7020911263104125811);
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'madoguchi') THEN
        CREATE SCHEMA madoguchi;
    END IF;
END $$;
";

#[derive(Clone)]
pub(crate) struct Postgres {
    pool: Pool,
    primary: Primary,
    commits: Arc<Commits>,
    upkeep: Arc<Upkeep>,
    readiness: Arc<Readiness>,
    /// Whether the first connection went through a pooler such as PgBouncer.
    pub is_pooled: bool,
}

impl Postgres {
    pub async fn open(connector: &Arc<Connector>, options: &Options) -> Result<Self> {
        let pool = Pool::new(connector, options)?;
        let mut postgres = Self {
            primary: Primary::new(pool.clone(), connector, options.wait_for_primary),
            commits: Commits::new(),
            upkeep: Upkeep::new(&options.clock),
            readiness: Arc::new(Readiness::new(options.wait_for_primary)),
            pool,
            is_pooled: false,
        };
        let mut patience = postgres.primary.patience();
        loop {
            let client = postgres.client(&Budget::default(), &mut patience).await?;
            match postgres.upkeep.begin(&client, &postgres.commits).await {
                Ok(()) => {
                    postgres.is_pooled = client.is_pooled;
                    postgres.upkeep.keep_on(&postgres.pool);
                    return Ok(postgres);
                }
                // A pooler lets its clients in while it has no server itself.
                Err(error) if error.code == UNAVAILABLE => {
                    drop(Client::take(client));
                    postgres.primary.miss(&error);
                }
                Err(error) => return Err(error),
            }
        }
    }

    pub fn clock(&self) -> Clock {
        self.upkeep.clock()
    }

    pub fn was_away_within(&self, period: Duration) -> bool {
        self.primary.was_missing_within(period)
    }

    /// What is wrong at present, for an operator.
    pub fn trouble(&self) -> Option<String> {
        let trouble = self.primary.trouble();
        let trouble = trouble.map(|trouble| trouble.text.to_owned());
        trouble.or_else(|| self.upkeep.trouble())
    }

    /// See `readiness.rs`.
    pub async fn ready(&self) -> Result<(), String> {
        if let Some(trouble) = self.upkeep.trouble() {
            return Err(trouble);
        }
        let missed = self.primary.missed();
        let answer = tokio::select! {
            biased;
            () = missed => None,
            answer = self.takes_writes() => Some(answer),
        };
        // Else only the next write would find out, and nobody sends one to a desk that is
        // not ready.
        if let Some(Ok(takes_writes)) = answer {
            self.primary.takes_writes(takes_writes);
        }
        let is_late = answer.is_some_and(|answer| !self.readiness.note(answer.is_ok()));
        match self.primary.trouble() {
            Some(Trouble { text, since }) if self.readiness.is_over(since) => Err(text.to_owned()),
            _ if is_late => Err("PostgreSQL does not answer in time".to_owned()),
            _ => Ok(()),
        }
    }

    /// Asks the server.
    async fn takes_writes(&self) -> Result<bool> {
        let budget = Budget {
            deadline: Some(Instant::now() + readiness::PROBE),
            ..Budget::default()
        };
        let (send, receive) = std::sync::mpsc::channel();
        let job: ReadJob<'static> = Box::new(move |sql| {
            let row = sql.query_one(readiness::IS_READ_ONLY, &[])?;
            let _ = send.send(row.map(|row| row.int(0)).transpose()?);
            Ok(())
        });
        self.read(budget, job).await?;
        Ok(receive.try_recv() == Ok(Some(0)))
    }

    pub fn status(&self) -> PoolStatus {
        self.pool.status()
    }

    /// A connection to the primary. Waits for it within the patience.
    async fn client(&self, budget: &Budget, patience: &mut Patience) -> Result<Client> {
        loop {
            self.primary.wait(budget, patience).await?;
            let client = tokio::select! {
                biased;
                client = self.pool.get(budget) => client,
                // Others found out while this waited for its turn in the pool.
                () = self.primary.missed() => continue,
            };
            match client {
                Ok(client) => return Ok(client),
                Err(NoClient::NoServer(error)) => self.primary.miss(&error),
                // All connections may wait for a server that hangs.
                Err(NoClient::NoTurn(error)) if self.primary.answers().await => return Err(error),
                Err(NoClient::NoTurn(_)) => {}
                Err(NoClient::Crowded(error)) => {
                    if !self.primary.pause(budget, patience, 2).await {
                        return Err(error);
                    }
                }
                Err(NoClient::Other(error)) => return Err(error),
            }
        }
    }

    pub async fn read(&self, budget: Budget, job: ReadJob<'static>) -> Result<()> {
        let (budget, _guard) = job::cancel_on_drop(budget);
        let mut patience = self.primary.patience();
        let client = self.client(&budget, &mut patience).await?;
        let (handle, watched) = (Handle::current(), budget.clone());
        let primary = self.primary.clone();
        let task = spawn_blocking(move || {
            let transaction = Transaction::read(client, handle, primary);
            let mut session = Session::new(transaction, &watched);
            let outcome = session.read(job);
            // Nothing was written, so nobody waits for the end.
            session.engine.leave();
            outcome
        });
        tokio::select! {
            biased;
            outcome = task => outcome.unwrap_or_else(|error| Err(Error::internal(error))),
            error = job::exhausted(&budget) => Err(error),
        }
    }

    pub async fn write(&self, budget: Budget, work: Work) -> Result<()> {
        self.write_with(self.commits.mark(), budget, work).await
    }

    /// Without a mark, a commit whose answer is lost can't be looked up.
    async fn write_with(&self, mark: Option<Mark>, budget: Budget, work: Work) -> Result<()> {
        let (budget, _guard) = job::cancel_on_drop(budget);
        let mut patience = self.primary.patience();
        let mut attempt = Attempt::new(work, self.primary.clone(), mark);
        let mut losses = 0;
        for number in 1.. {
            let client = match self.client(&budget, &mut patience).await {
                Ok(client) => client,
                Err(error) => return Err(attempt.explain(error)),
            };
            let (handle, watched) = (Handle::current(), budget.clone());
            let ran = spawn_blocking(move || {
                let end = attempt.run(client, &handle, &watched);
                (attempt, end)
            });
            let end;
            (attempt, end) = ran.await.map_err(Error::internal)?;
            let error = match end {
                End::Final(outcome) => {
                    if outcome.is_ok() {
                        self.primary.takes_writes(true);
                    }
                    return attempt.finish(outcome);
                }
                End::Conflict(_) => {
                    return attempt.finish(Err(failure::busy(
                        "a transaction met a conflict every time",
                    )));
                }
                End::Lost(error) if losses == MOST_LOSSES => return Err(attempt.explain(error)),
                End::Lost(error) => {
                    losses += 1;
                    attempt.begin_anew(self.commits.mark());
                    error
                }
                End::ReadOnly(error) => {
                    self.primary.takes_writes(false);
                    error
                }
                End::Unsure(cause) => {
                    if !attempt.doubt(&cause) {
                        return Err(failure::unsure(cause));
                    }
                    patience.extend(&budget);
                    failure::unsure(cause)
                }
            };
            // The first repetition needs no patience: a connection may have been dead for long.
            let goes_on = number == 1 || self.primary.pause(&budget, &mut patience, number).await;
            if !goes_on {
                return Err(attempt.explain(error));
            }
        }
        Err(Error::internal("a write was never attempted"))
    }

    pub async fn migrate(&self, migrations: Migrations) -> Result<()> {
        // Steps that are on record are not applied again, so an unknown outcome does no
        // harm; and the table of marks may be missing.
        let mut outcome = Ok(());
        for _ in 0..MOST_LOSSES {
            let work: Work = Box::new(move |sql| {
                sql.script(PREPARE_SCHEMA)?;
                migrate::apply(sql, commits::MIGRATIONS)?;
                migrate::apply(sql, migrations)
            });
            outcome = self.write_with(None, Budget::default(), work).await;
            let is_unknown = |error: &Error| error.code == OUTCOME_UNKNOWN;
            if !outcome.as_ref().is_err_and(is_unknown) {
                break;
            }
        }
        outcome?;
        // Statements prepared against the old tables may not fit the new ones.
        self.pool.tables_changed();
        self.commits.set_ready();
        Ok(())
    }

    /// Whether the tables that the engine itself needs are there, too.
    pub fn is_migrated(&self) -> bool {
        self.commits.is_ready()
    }

    /// This program uses tables with these steps.
    pub fn uses(&self, migrations: Migrations) {
        self.upkeep.uses(migrations);
    }

    pub fn close(&self) {
        self.pool.close();
    }
}
