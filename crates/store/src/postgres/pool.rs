//! The pool of connections, and what each of them remembers.

use std::{
    collections::HashMap,
    ops::Deref,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use deadpool::{
    Runtime,
    managed::{self, Metrics, Object, PoolError, RecycleError, RecycleResult, TimeoutType},
};
use futures::future::try_join_all;
use kit::{
    Error, Param, Result,
    error::UNAVAILABLE,
    sql::{Budget, PoolStatus},
};
use tokio::{task::JoinHandle, time::timeout};
use tokio_postgres::{Row, SimpleQueryMessage, Statement, types::ToSql, types::Type};

use super::{
    connect::Connector,
    error::connecting,
    pooler::is_pooled,
    tls::Tls,
    value::{Bind, type_of},
};
use crate::{failure, job, options::Options};

/// Prepared statements take memory on the server, and a multi-row `INSERT` is
/// another statement for every number of rows.
const CACHED_STATEMENTS: usize = 256;
/// How many statements are sent before the first is answered.
const TOGETHER: usize = 16;

/// A connection that was not used for this long is tested before it is used.
const IDLE: Duration = Duration::from_secs(15);
const IDLE_TEST_LIMIT: Duration = Duration::from_secs(1);

/// What every connection begins with. The server ends a transaction whose client has
/// vanished, and with it the locks that a repeated transaction waits for.
const SESSION: &str = "SET search_path TO madoguchi;
SET idle_in_transaction_session_timeout TO '15s';
SET tcp_keepalives_idle TO 10;
SET tcp_keepalives_interval TO 5;
SET tcp_keepalives_count TO 2;
SELECT pid, EXTRACT(EPOCH FROM backend_start)::text FROM pg_stat_activity
WHERE pid = pg_backend_pid()";

/// A connection on loan from the pool.
pub(super) type Client = Object<Manager>;

#[derive(Clone)]
pub(super) struct Pool {
    connections: managed::Pool<Manager>,
    waits: Arc<Waits>,
}

/// A pool that may be gone.
pub(super) struct WeakPool {
    connections: managed::WeakPool<Manager>,
    waits: Weak<Waits>,
}

impl WeakPool {
    pub fn upgrade(&self) -> Option<Pool> {
        Some(Pool {
            connections: self.connections.upgrade()?,
            waits: self.waits.upgrade()?,
        })
    }
}

/// Why there is no connection.
pub(super) enum NoClient {
    /// There is no server, or it can't be reached.
    NoServer(Error),
    /// All connections were in use for too long.
    NoTurn(Error),
    /// The server has no connection left, so one of ours has to become free.
    Crowded(Error),
    Other(Error),
}

/// How long callers waited for a connection, in all.
#[derive(Default)]
struct Waits {
    count: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Pool {
    pub fn new(connector: &Arc<Connector>, options: &Options) -> Result<Self> {
        let manager = Manager {
            connector: Arc::clone(connector),
            assume_pooled: options.pgbouncer,
            changes: Arc::default(),
        };
        let connections = managed::Pool::builder(manager)
            .max_size(options.pool.max(1))
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(options.busy_timeout))
            .create_timeout(Some(connector.limit() + Duration::from_secs(1)))
            .build()
            .map_err(Error::internal)?;
        Ok(Self {
            connections,
            waits: Arc::default(),
        })
    }

    /// A connection, perhaps a new one.
    pub async fn get(&self, budget: &Budget) -> Result<Client, NoClient> {
        let began = Instant::now();
        let client = tokio::select! {
            biased;
            client = self.connections.get() => client,
            error = job::exhausted(budget) => return Err(NoClient::Other(error)),
        };
        self.waits.count.fetch_add(1, Ordering::Relaxed);
        let waited = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.waits.nanoseconds.fetch_add(waited, Ordering::Relaxed);
        client.map_err(|error| match error {
            PoolError::Timeout(TimeoutType::Wait) => {
                NoClient::NoTurn(failure::busy("all connections of the pool are in use"))
            }
            PoolError::Backend(error) if error.code == UNAVAILABLE => NoClient::NoServer(error),
            PoolError::Backend(error) if failure::is_crowded(&error) => NoClient::Crowded(error),
            PoolError::Backend(error) => NoClient::Other(error),
            PoolError::Closed => NoClient::Other(failure::closed()),
            PoolError::Timeout(_) => {
                NoClient::NoServer(failure::unreachable("no connection could be made in time"))
            }
            PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_) => {
                NoClient::Other(Error::internal("the pool of connections is set up wrongly"))
            }
        })
    }

    /// Ends the connections that nobody uses.
    pub fn drop_idle(&self) {
        drop(self.connections.retain(|_, _| false));
    }

    pub fn is_closed(&self) -> bool {
        self.connections.is_closed()
    }

    pub fn downgrade(&self) -> WeakPool {
        WeakPool {
            connections: self.connections.weak(),
            waits: Arc::downgrade(&self.waits),
        }
    }

    pub fn status(&self) -> PoolStatus {
        let status = self.connections.status();
        PoolStatus {
            limit: status.max_size,
            open: status.size,
            in_use: status.size.saturating_sub(status.available),
            waiting: status.waiting,
            requests: self.waits.count.load(Ordering::Relaxed),
            waited: Duration::from_nanos(self.waits.nanoseconds.load(Ordering::Relaxed)),
        }
    }

    /// Statements that were prepared before a change of the tables may not fit any more.
    pub fn tables_changed(&self) {
        self.connections.manager().tables_changed();
    }

    pub fn close(&self) {
        self.connections.close();
    }
}

pub(super) struct Manager {
    connector: Arc<Connector>,
    assume_pooled: bool,
    /// How often tables changed.
    changes: Arc<AtomicU64>,
}

impl Manager {
    pub fn tables_changed(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }
}

impl managed::Manager for Manager {
    type Type = Connection;
    type Error = Error;

    async fn create(&self) -> Result<Connection> {
        let (client, driver) = self.connector.connect().await?;
        let driver = tokio::spawn(async move {
            if let Err(error) = driver.await {
                tracing::debug!("a connection to PostgreSQL ended: {error}");
            }
        });
        let mut connection = Connection {
            client,
            driver,
            tls: self.connector.tls(),
            is_pooled: self.assume_pooled,
            backend: None,
            changes: Arc::clone(&self.changes),
            statements: Mutex::default(),
        };
        if !connection.is_pooled {
            connection.is_pooled = is_pooled(&connection.client)
                .await
                .map_err(|error| connecting(&error))?;
        }
        // Behind a pooler the settings would stay on a connection of somebody else.
        if !connection.is_pooled {
            let begun = connection.simple_query(SESSION).await;
            let begun = begun.map_err(|error| connecting(&error))?;
            connection.backend = begun.iter().find_map(Backend::of);
        }
        Ok(connection)
    }

    /// The other end of a connection can vanish without a word while nobody uses it.
    async fn recycle(
        &self,
        connection: &mut Connection,
        metrics: &Metrics,
    ) -> RecycleResult<Error> {
        if connection.is_closed() {
            return Err(RecycleError::message("the connection is closed"));
        }
        if metrics.last_used() < IDLE {
            return Ok(());
        }
        match timeout(IDLE_TEST_LIMIT, connection.simple_query("")).await {
            Ok(Ok(_)) => Ok(()),
            _ => Err(RecycleError::message("an idle connection does not answer")),
        }
    }
}

/// The server's process for a connection.
#[derive(Clone)]
pub(super) struct Backend {
    pid: i32,
    /// The number of a process can be used again.
    started: String,
}

impl Backend {
    fn of(message: &SimpleQueryMessage) -> Option<Self> {
        let SimpleQueryMessage::Row(row) = message else {
            return None;
        };
        Some(Self {
            pid: row.get(0)?.parse().ok()?,
            started: row.get(1)?.to_owned(),
        })
    }

    /// Selects what it does; no row if it has ended.
    pub fn activity(&self) -> String {
        format!(
            "SELECT COALESCE(state, 'unknown') FROM pg_stat_activity WHERE {}",
            self.condition()
        )
    }

    /// Ends it unless it works.
    pub fn termination(&self) -> String {
        format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE {} AND state LIKE 'idle%'",
            self.condition()
        )
    }

    fn condition(&self) -> String {
        let Self { pid, started } = self;
        format!("pid = {pid} AND EXTRACT(EPOCH FROM backend_start)::text = '{started}'")
    }
}

/// One connection. Ends when it is dropped.
pub(super) struct Connection {
    client: tokio_postgres::Client,
    driver: JoinHandle<()>,
    tls: Tls,
    /// Transactions may run on different server processes, see `pooler.rs`.
    pub is_pooled: bool,
    /// `None` behind a pooler.
    pub backend: Option<Backend>,
    changes: Arc<AtomicU64>,
    statements: Mutex<Statements>,
}

/// Prepared statements by their text; the same text may have other parameter types.
#[derive(Default)]
struct Statements {
    /// How often tables had changed when these were prepared.
    changes: u64,
    count: usize,
    by_text: HashMap<String, Vec<(Vec<Type>, Statement)>>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Deref for Connection {
    type Target = tokio_postgres::Client;

    fn deref(&self) -> &tokio_postgres::Client {
        &self.client
    }
}

type DriverResult<T> = std::result::Result<T, tokio_postgres::Error>;

impl Connection {
    /// For a request to cancel a statement.
    pub fn tls(&self) -> Tls {
        self.tls.clone()
    }

    pub async fn rows(&self, sql: &str, params: &[Param<'_>]) -> DriverResult<Vec<Row>> {
        let binds: Vec<_> = params.iter().map(Bind).collect();
        if self.is_pooled {
            return self.client.query_typed(sql, &typed(&binds)).await;
        }
        let statement = self.prepared(sql, params).await?;
        self.client.query(&statement, &references(&binds)).await
    }

    /// Sends the statements together. They run in this order.
    pub async fn rows_of_all(
        &self,
        statements: &[kit::sql::Statement<'_>],
    ) -> DriverResult<Vec<Vec<Row>>> {
        // Else a statement that is known would be sent before one that is not.
        if !self.is_pooled {
            for (sql, params) in statements {
                self.prepared(sql, params).await?;
            }
        }
        let mut answers = Vec::with_capacity(statements.len());
        // More are not polled in their order.
        for some in statements.chunks(TOGETHER) {
            let each = some.iter().map(|(sql, params)| self.rows(sql, params));
            answers.extend(try_join_all(each).await?);
        }
        Ok(answers)
    }

    pub async fn changed(&self, sql: &str, params: &[Param<'_>]) -> DriverResult<u64> {
        let binds: Vec<_> = params.iter().map(Bind).collect();
        if self.is_pooled {
            return self.client.execute_typed(sql, &typed(&binds)).await;
        }
        let statement = self.prepared(sql, params).await?;
        self.client.execute(&statement, &references(&binds)).await
    }

    async fn prepared(&self, sql: &str, params: &[Param<'_>]) -> DriverResult<Statement> {
        let types: Vec<_> = params.iter().map(type_of).collect();
        if let Some(known) = self.statements().find(sql, &types) {
            return Ok(known);
        }
        let statement = self.client.prepare_typed(sql, &types).await?;
        self.statements().keep(sql, types, statement.clone());
        Ok(statement)
    }

    fn statements(&self) -> std::sync::MutexGuard<'_, Statements> {
        let changes = self.changes.load(Ordering::Acquire);
        let mut statements = self
            .statements
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if statements.changes != changes || statements.count >= CACHED_STATEMENTS {
            *statements = Statements {
                changes,
                ..Statements::default()
            };
        }
        statements
    }
}

impl Statements {
    fn find(&self, sql: &str, types: &[Type]) -> Option<Statement> {
        let mut same_text = self.by_text.get(sql)?.iter();
        let found = same_text.find(|(known, _)| known == types);
        found.map(|(_, statement)| statement.clone())
    }

    fn keep(&mut self, sql: &str, types: Vec<Type>, statement: Statement) {
        self.count += 1;
        let same_text = self.by_text.entry(sql.to_owned()).or_default();
        same_text.push((types, statement));
    }
}

fn references<'a>(binds: &'a [Bind<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    binds.iter().map(|bind| bind as _).collect()
}

/// With their types, for statements that are not prepared first.
fn typed<'a>(binds: &'a [Bind<'a>]) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
    let typed = |bind: &'a Bind<'a>| (bind as &'a (dyn ToSql + Sync), type_of(bind.0));
    binds.iter().map(typed).collect()
}
