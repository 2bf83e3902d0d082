//! SQLite: one writer that commits waiting jobs together, several readers.
//!
//! The file is in WAL mode, so readers and the writer don't wait for each
//! other. Other processes may use the same file.

mod connection;
mod presence;
mod reader;
mod writer;

use std::{path::Path, sync::Arc, time::Duration};

use kit::{
    Presence, Result,
    counter::Migrations,
    sql::{Budget, ReadJob},
};

use self::{presence::Markers, reader::Readers, writer::Writer};
use crate::{job::Work, migrate, options::Options};

/// How long a start waits for another process that migrates.
const MIGRATION_PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub(crate) struct Sqlite(Arc<Inner>);

struct Inner {
    writer: Writer,
    readers: Readers,
    markers: Markers,
    patience: Duration,
}

impl Sqlite {
    pub async fn open(path: &Path, options: &Options) -> Result<Self> {
        Ok(Self(Arc::new(Inner {
            writer: Writer::open(path, options.busy_timeout).await?,
            readers: Readers::new(path, options.readers, options.busy_timeout),
            markers: Markers::beside(path),
            patience: options.busy_timeout,
        })))
    }

    pub async fn read(&self, budget: Budget, job: ReadJob<'static>) -> Result<()> {
        self.0.readers.run(budget, job).await
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
        self.0.readers.close().await;
        self.0.writer.close().await
    }
}
