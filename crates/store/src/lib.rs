//! One SQL text, two engines.
//!
//! [`Database`] is what the rest of the program opens and hands on as
//! `Arc<dyn kit::Store>`. Its address alone ([`url::DatabaseUrl`]) decides which
//! engine it uses.
//!
//! Where to look: how SQLite writes are committed together in
//! `sqlite/writer.rs`, how a closure becomes a PostgreSQL transaction in
//! `postgres.rs`, what happens when its server is lost in `postgres/primary.rs`, how
//! processes tell each other what changed in `announcer.rs`, what both have in common in
//! `job.rs`, how tables are created and
//! changed in `migrate.rs`, what an operator reads when storage fails in `failure.rs`.
//!
//! Dropping the future of a `read` or `write` cancels the job, as its cancellation
//! token does. A job whose commit has begun is not cancelled.

mod announcer;
mod failure;
mod job;
mod migrate;
mod options;
mod postgres;
pub mod snapshot;
mod sqlite;
#[cfg(feature = "testing")]
pub mod testing;
pub mod url;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use kit::{
    Announcement, BoxFuture, Presence, Result,
    announcement::LocalAnnouncements,
    counter::Migrations,
    sql::{Budget, PoolStatus, ReadJob, Store, WriteJob},
    time::Clock,
};
use tokio::sync::broadcast;

use announcer::Announcer;
pub use failure::STORAGE_ERROR;
pub use options::Options;
use postgres::Connector;
use url::{DatabaseUrl, PostgresAddress};

/// How long a health probe may take before it counts as a failure.
const PROBE: Duration = Duration::from_secs(2);

/// An open database. Clones share it.
#[derive(Clone)]
pub struct Database {
    engine: Engine,
    announcements: Announcements,
}

#[derive(Clone)]
enum Engine {
    Sqlite(sqlite::Sqlite),
    Postgres(postgres::Postgres),
}

/// How announcements travel.
#[derive(Clone)]
enum Announcements {
    InProcess(LocalAnnouncements),
    Between(Arc<Announcer>),
}

impl Database {
    /// Opens the database; fails when it can't be used. A missing SQLite file
    /// is created, with its directory.
    pub async fn open(url: &DatabaseUrl, options: Options) -> Result<Self> {
        match url {
            DatabaseUrl::Sqlite(path) => Ok(Self {
                engine: Engine::Sqlite(sqlite::Sqlite::open(path, &options).await?),
                announcements: Announcements::InProcess(LocalAnnouncements::default()),
            }),
            DatabaseUrl::Postgres(address) => open_postgres(address, options).await,
        }
    }

    /// How announcements of other processes arrive, for `doctor`; `None` if they don't.
    pub async fn check_announcements(&self) -> Option<Result<String>> {
        match &self.announcements {
            Announcements::InProcess(_) => None,
            Announcements::Between(announcer) => Some(announcer.check().await),
        }
    }

    /// Whether the database can be read and written, for `doctor`: it may take a while.
    pub async fn examine(&self) -> Result<()> {
        self.check().await?;
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.examine().await,
            Engine::Postgres(_) => Ok(()),
        }
    }

    /// Whether the database answers; cheap enough to be asked every second.
    pub async fn check(&self) -> Result<()> {
        if let Engine::Sqlite(sqlite) = &self.engine {
            sqlite.check_writer()?;
        }
        let is_standby = match &self.engine {
            Engine::Sqlite(_) => "SELECT 0",
            Engine::Postgres(_) => "SELECT pg_is_in_recovery()",
        };
        let probe: ReadJob<'static> = Box::new(move |sql| {
            let row = sql.query_one(is_standby, &[])?;
            match row.map(|row| row.int(0)).transpose()? {
                Some(0) => Ok(()),
                _ => Err(failure::no_primary("the server is a standby")),
            }
        });
        self.read(within(PROBE), probe).await.map_err(|error| {
            if error.code == kit::error::TIMEOUT {
                failure::unreachable("the health probe was not answered in time")
            } else {
                error
            }
        })
    }

    /// Finishes accepted work, then closes the database. Later work is refused.
    /// Calling it again does nothing.
    pub async fn close(&self) -> Result<()> {
        if let Announcements::Between(announcer) = &self.announcements {
            announcer.close().await;
        }
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.close().await,
            Engine::Postgres(postgres) => {
                postgres.close();
                Ok(())
            }
        }
    }
}

fn within(time: Duration) -> Budget {
    Budget {
        deadline: Some(Instant::now() + time),
        ..Budget::default()
    }
}

async fn open_postgres(address: &PostgresAddress, options: Options) -> Result<Database> {
    let connector = |address: &PostgresAddress| {
        let connector = Connector::new(address.clone(), options.password_file.clone())?;
        Ok::<_, kit::Error>(Arc::new(connector))
    };
    let own = connector(address)?;
    let postgres = postgres::Postgres::open(&own, &options).await?;
    let direct = match &options.listen {
        Some(listen) => Some(connector(listen)?),
        None => (!postgres.is_pooled).then_some(own),
    };
    let announcer = Announcer::new(postgres.clone(), direct);
    Ok(Database {
        engine: Engine::Postgres(postgres),
        announcements: Announcements::Between(Arc::new(announcer)),
    })
}

impl Store for Database {
    fn read(&self, budget: Budget, job: ReadJob<'static>) -> BoxFuture<'_, Result<()>> {
        match &self.engine {
            Engine::Sqlite(sqlite) => Box::pin(sqlite.read(budget, job)),
            Engine::Postgres(postgres) => Box::pin(postgres.read(budget, job)),
        }
    }

    fn write(&self, budget: Budget, mut job: WriteJob<'static>) -> BoxFuture<'_, Result<()>> {
        let work: job::Work = Box::new(move |sql| job(sql));
        match &self.engine {
            Engine::Sqlite(sqlite) => Box::pin(sqlite.write(budget, work)),
            Engine::Postgres(postgres) => Box::pin(postgres.write(budget, work)),
        }
    }

    fn migrate(&self, migrations: Migrations) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let current: ReadJob<'static> = Box::new(move |sql| migrate::verify(sql, migrations));
            // A failure here, such as the missing table of a first start, happens
            // again under the lock and is reported there.
            let is_current = self.read(Budget::default(), current).await.is_ok();
            match &self.engine {
                Engine::Sqlite(_) if is_current => Ok(()),
                Engine::Sqlite(sqlite) => sqlite.migrate(migrations).await,
                Engine::Postgres(postgres) => {
                    if !(is_current && postgres.is_migrated()) {
                        postgres.migrate(migrations).await?;
                    }
                    postgres.uses(migrations);
                    Ok(())
                }
            }
        })
    }

    fn clock(&self) -> Clock {
        match &self.engine {
            Engine::Sqlite(_) => Clock::system(),
            Engine::Postgres(postgres) => postgres.clock(),
        }
    }

    fn version(&self) -> Option<i64> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.version(),
            Engine::Postgres(_) => None,
        }
    }

    fn was_away_within(&self, period: Duration) -> bool {
        match &self.engine {
            Engine::Sqlite(_) => false,
            Engine::Postgres(postgres) => postgres.was_away_within(period),
        }
    }

    fn trouble(&self) -> Option<String> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.trouble(),
            Engine::Postgres(postgres) => postgres.trouble(),
        }
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), String>> {
        match &self.engine {
            Engine::Sqlite(sqlite) => Box::pin(async {
                if let Some(trouble) = sqlite.trouble() {
                    return Err(trouble);
                }
                let probe: ReadJob<'static> = Box::new(|sql| sql.query("SELECT 1", &[]).map(drop));
                let answer = self.read(within(PROBE), probe).await;
                answer.map_err(|error| {
                    tracing::warn!(cause = ?error.cause, "not ready");
                    "the store does not answer".to_owned()
                })
            }),
            Engine::Postgres(postgres) => Box::pin(postgres.ready()),
        }
    }

    fn engine(&self) -> &'static str {
        match &self.engine {
            Engine::Sqlite(_) => "sqlite",
            Engine::Postgres(_) => "postgres",
        }
    }

    /// On PostgreSQL an unreachable process may still be alive, so no process is ever
    /// reported as gone.
    fn presence(&self) -> Result<Presence> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.presence(),
            Engine::Postgres(_) => Ok(Presence::unmarked()),
        }
    }

    fn is_gone(&self, name: &str) -> bool {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.is_gone(name),
            Engine::Postgres(_) => false,
        }
    }

    fn announce(&self, topic: &str) {
        match &self.announcements {
            Announcements::InProcess(local) => local.send(Announcement::Topic(topic.into())),
            Announcements::Between(announcer) => announcer.announce(topic),
        }
    }

    fn announcements(&self) -> broadcast::Receiver<Announcement> {
        match &self.announcements {
            Announcements::InProcess(local) => local.subscribe(),
            Announcements::Between(announcer) => announcer.subscribe(),
        }
    }

    fn hears_others(&self) -> bool {
        match &self.announcements {
            Announcements::InProcess(_) => false,
            Announcements::Between(announcer) => announcer.is_listening(),
        }
    }

    fn pool(&self) -> Option<PoolStatus> {
        match &self.engine {
            Engine::Sqlite(_) => None,
            Engine::Postgres(postgres) => Some(postgres.status()),
        }
    }
}
