//! SQLite: one writer that commits waiting jobs together, several readers.
//!
//! The file is in WAL mode, so readers and the writer don't wait for each
//! other. Other processes may use the same file.
//!
//! - `writer`, `reader`: who runs the jobs; `connection`: what both use; `parameters`: the
//!   values of a statement; `errors`: what SQLite's errors mean
//! - `health`: whether the file is there and can be used; `version`: whether anything was
//!   committed; `presence`: which other processes use it

mod connection;
mod errors;
mod health;
mod parameters;
mod presence;
mod reader;
mod version;
mod writer;

use std::{path::Path, sync::Arc, time::Duration};

use kit::{
    Presence, Result,
    counter::Migrations,
    sql::{Budget, ReadJob},
};

pub(crate) use self::errors::{failure_of, is_busy};
use self::{
    presence::Markers,
    reader::Readers,
    version::Version,
    writer::{Writer, write_nothing},
};
use crate::{failure, job::Work, migrate, options::Options};

/// How long a start waits for another process that migrates.
const MIGRATION_PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub(crate) struct Sqlite(Arc<Inner>);

struct Inner {
    writer: Writer,
    readers: Readers,
    markers: Markers,
    version: Version,
    patience: Duration,
}

impl Sqlite {
    pub async fn open(path: &Path, options: &Options) -> Result<Self> {
        Ok(Self(Arc::new(Inner {
            writer: Writer::open(path, options.busy_timeout).await?,
            readers: Readers::new(path, options.readers, options.busy_timeout),
            markers: Markers::beside(path),
            version: Version::of(path),
            patience: options.busy_timeout,
        })))
    }

    pub async fn read(&self, budget: Budget, job: ReadJob<'static>) -> Result<()> {
        let outcome = self.0.readers.run(budget, job).await;
        if let Err(error) = &outcome {
            self.0.writer.health.note(error);
        }
        outcome
    }

    pub fn version(&self) -> Option<i64> {
        self.0.version.get()
    }

    /// What is wrong with the file. If the disk took no write, it is tried again.
    pub fn trouble(&self) -> Option<String> {
        let trouble = self.0.writer.health.trouble();
        if trouble.is_some() {
            self.0.writer.try_again();
        }
        trouble
    }

    /// Reads all pages and writes to the file.
    pub async fn examine(&self) -> Result<()> {
        let whole: ReadJob<'static> = Box::new(|sql| {
            let found = sql.query_one("PRAGMA quick_check(1)", &[])?;
            match found.map(|row| row.text(0)).transpose()? {
                Some(text) if text != "ok" => Err(failure::damaged(text)),
                _ => Ok(()),
            }
        });
        self.read(Budget::default(), whole).await?;
        self.write(Budget::default(), write_nothing()).await
    }

    pub async fn write(&self, budget: Budget, work: Work) -> Result<()> {
        self.0.writer.run(budget, work, self.0.patience).await
    }

    pub async fn migrate(&self, migrations: Migrations) -> Result<()> {
        let work: Work = Box::new(move |sql| migrate::apply(sql, migrations));
        self.0
            .writer
            .run(Budget::default(), work, MIGRATION_PATIENCE)
            .await
    }

    pub fn check_writer(&self) -> Result<()> {
        self.0.writer.check()
    }

    pub fn presence(&self) -> Result<Presence> {
        self.0.markers.make()
    }

    pub fn is_gone(&self, name: &str) -> bool {
        self.0.markers.is_gone(name)
    }

    /// Closes the readers first: the last connection to close writes the log back into
    /// the database file.
    pub async fn close(&self) -> Result<()> {
        self.0.version.close();
        self.0.readers.close().await;
        self.0.writer.close().await
    }
}
