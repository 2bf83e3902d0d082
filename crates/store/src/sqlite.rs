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

use self::{presence::Marks, reader::Readers, writer::Writer};
use crate::{Options, job::Work, migrate};

/// How long a start waits for another process that changes the tables.
const MIGRATION_PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub(crate) struct Sqlite(Arc<Inner>);

struct Inner {
    writer: Writer,
    readers: Readers,
    marks: Marks,
    patience: Duration,
}

impl Sqlite {
    pub async fn open(path: &Path, options: &Options) -> Result<Self> {
        Ok(Self(Arc::new(Inner {
            writer: Writer::open(path, options.busy_timeout).await?,
            readers: Readers::new(path, options.readers, options.busy_timeout),
            marks: Marks::beside(path),
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
        self.0.marks.make()
    }

    pub fn is_gone(&self, name: &str) -> bool {
        self.0.marks.is_gone(name)
    }

    /// Readers go first: the last connection to close folds the log back into
    /// the database file.
    pub async fn close(&self) -> Result<()> {
        self.0.readers.close().await;
        self.0.writer.close().await
    }
}
