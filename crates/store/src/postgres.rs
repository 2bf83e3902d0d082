//! PostgreSQL: a pool of connections, a transaction for every job.
//!
//! Where to look: how a connection is made in `connect.rs`, how it is encrypted in
//! `tls.rs` and `certificates.rs`, where its password comes from in `password.rs`,
//! what is different behind PgBouncer in `pooler.rs`.
//!
//! Jobs are plain closures, so each runs on a blocking thread that waits for
//! its statements; the connections themselves are driven by the runtime.
//!
//! Write jobs run at READ COMMITTED, PostgreSQL's own default: what a job has
//! read may change before it writes, unless a constraint, `ON CONFLICT` or a
//! row lock (an `UPDATE` that comes first) stands guard.

mod access;
mod certificates;
mod connect;
mod error;
mod password;
mod pool;
mod pooler;
mod tls;
mod transaction;
mod value;

use std::{sync::Arc, thread, time::Duration};

use kit::{
    Error, Result,
    counter::Migrations,
    sql::{Budget, PoolStatus, ReadJob},
};
use tokio::{runtime::Handle, task::spawn_blocking};

use self::{
    access::Access,
    pool::{Client, Pool},
    transaction::{End, Transaction},
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

/// How often a job is run when PostgreSQL asks for a transaction to be repeated.
const ATTEMPTS: u64 = 8;

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
    /// Whether the first connection went through a pooler such as PgBouncer.
    pub is_pooled: bool,
}

impl Postgres {
    pub async fn open(connector: &Arc<Connector>, options: &Options) -> Result<Self> {
        let pool = Pool::new(connector, options)?;
        let is_pooled = pool.get(&Budget::default()).await?.is_pooled;
        Ok(Self { pool, is_pooled })
    }

    async fn client(&self, budget: &Budget) -> Result<Client> {
        self.pool.get(budget).await
    }

    pub fn status(&self) -> PoolStatus {
        self.pool.status()
    }

    pub async fn read(&self, budget: Budget, job: ReadJob<'static>) -> Result<()> {
        let (budget, _guard) = job::cancel_on_drop(budget);
        let client = self.client(&budget).await?;
        let (handle, watched) = (Handle::current(), budget.clone());
        let task = spawn_blocking(move || {
            let mut session =
                Session::new(Transaction::new(client, handle, Access::Read), &watched);
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
        let (budget, _guard) = job::cancel_on_drop(budget);
        let client = self.client(&budget).await?;
        let handle = Handle::current();
        spawn_blocking(move || repeat(client, &handle, &budget, work))
            .await
            .unwrap_or_else(|error| Err(Error::internal(error)))
    }

    pub async fn migrate(&self, migrations: Migrations) -> Result<()> {
        let work: Work = Box::new(move |sql| {
            sql.script(PREPARE_SCHEMA)?;
            migrate::apply(sql, migrations)
        });
        self.write(Budget::default(), work).await?;
        // Statements prepared against the old tables may not fit the new ones.
        self.pool.tables_changed();
        Ok(())
    }

    pub fn close(&self) {
        self.pool.close();
    }
}

/// Runs a write job until it is committed, refused or repeated too often.
fn repeat(mut client: Client, handle: &Handle, budget: &Budget, mut work: Work) -> Result<()> {
    let mut attempt = 1;
    loop {
        let transaction = Transaction::new(client, handle.clone(), Access::Write);
        let mut session = Session::new(transaction, budget);
        let outcome = session.write(&mut work);
        match session.engine.end(outcome) {
            End::Final(outcome) => return outcome,
            End::Conflict(_) if attempt == ATTEMPTS => {
                return Err(failure::busy("a transaction met a conflict every time"));
            }
            End::Conflict(same) => client = same,
        }
        // A random pause keeps the same transactions from colliding again.
        thread::sleep(Duration::from_millis(rand::random_range(1..=5 * attempt)));
        attempt += 1;
    }
}
