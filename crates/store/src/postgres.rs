//! PostgreSQL: a pool of connections, a transaction for every job.
//!
//! Jobs are plain closures, so each runs on a blocking thread that waits for
//! its statements; the connections themselves are driven by the runtime.
//!
//! Write jobs run at READ COMMITTED, PostgreSQL's own default: what a job has
//! read may change before it writes, unless a constraint, `ON CONFLICT` or a
//! row lock (an `UPDATE` that comes first) stands guard.

mod access;
mod error;
mod transaction;
mod value;

use std::{thread, time::Duration};

use deadpool_postgres::{
    Client, Hook, HookError, Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime,
};
use kit::{
    Error, Result,
    counter::Migrations,
    sql::{Budget, ReadJob},
};
use tokio::{runtime::Handle, task::spawn_blocking};
use tokio_postgres::{NoTls, config::SslMode};

use self::{
    access::Access,
    error::connecting,
    transaction::{End, Transaction},
};
use crate::{
    failure,
    job::{self, Session, Work},
    migrate,
    options::Options,
    url,
};

/// How often a job is run when PostgreSQL asks for a transaction to be repeated.
const ATTEMPTS: u64 = 8;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A server that doesn't acknowledge anything for this long is gone.
const SILENCE: Duration = Duration::from_secs(30);

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
}

impl Postgres {
    pub async fn open(address: &str, options: &Options) -> Result<Self> {
        let mut config = url::config(address)?;
        config.ssl_mode(SslMode::Disable);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE);
        }
        if config.get_application_name().is_none() {
            config.application_name("madoguchi");
        }
        let recycling_method = RecyclingMethod::Fast;
        let manager = Manager::from_config(config, NoTls, ManagerConfig { recycling_method });
        let search_path = Hook::async_fn(|client: &mut deadpool_postgres::ClientWrapper, _| {
            Box::pin(async move {
                client
                    .batch_execute("SET search_path TO madoguchi")
                    .await
                    .map_err(HookError::Backend)
            })
        });
        let pool = Pool::builder(manager)
            .max_size(options.pool.max(1))
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(options.busy_timeout))
            .create_timeout(Some(CONNECT_TIMEOUT * 2))
            .post_create(search_path)
            .build()
            .map_err(Error::internal)?;
        let postgres = Self { pool };
        drop(postgres.client(&Budget::default()).await?);
        Ok(postgres)
    }

    async fn client(&self, budget: &Budget) -> Result<Client> {
        let client = tokio::select! {
            biased;
            client = self.pool.get() => client,
            error = job::exhausted(budget) => return Err(error),
        };
        client.map_err(|error| match error {
            PoolError::Timeout(deadpool_postgres::TimeoutType::Wait) => {
                failure::busy("all connections of the pool are in use")
            }
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
                connecting(&error)
            }
            PoolError::Closed => failure::closed(),
            other => failure::unreachable(other.to_string()),
        })
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
        self.pool.manager().statement_caches.clear();
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
