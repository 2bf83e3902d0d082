//! The files of a counter, which become tables on PostgreSQL.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use kit::{Error, Result, Store, hold, hold::Hold, sql::Budget, sql::Migrations, time::Clock};

use super::outcome::MovedData;
use crate::{
    config::Config,
    counters::FolderFiles,
    embedded,
    marks::{MOVED_FILES, Marked, MoveLock},
};

pub struct Folder {
    files: FolderFiles,
    migrations: Migrations,
    settings: toml::Table,
    key: &'static str,
    pub path: PathBuf,
    /// Whether a directory was named for them, so that they stay there.
    pub stays: bool,
}

impl Folder {
    pub fn of(config: &Config) -> Result<Self> {
        let (counter, key) = embedded::with_folder()?;
        let settings = embedded::settings(config, counter);
        let path = settings.get(key).and_then(toml::Value::as_str);
        let (Some(files), Some(moves), Some(path)) =
            (counter.folder_files, counter.on_postgres, path)
        else {
            return Err(Error::internal("a counter's files can't be moved"));
        };
        Ok(Self {
            files,
            migrations: moves.migrations,
            path: path.into(),
            settings,
            key,
            stays: config.keeps_files.contains(counter.name),
        })
    }

    /// Keeps others from opening the files; `None` if there are none.
    pub fn lock(&self) -> Result<Option<MoveLock>> {
        let marked = Marked::Folder(&self.path);
        if !self.path.exists() {
            return Ok(None);
        }
        let lock = marked.lock()?;
        marked.check_marks()?;
        match (self.files.is_served)(self.settings.clone())? {
            false => Ok(Some(lock)),
            true => Err(Error::new(
                "DATA_IN_USE",
                "Another program uses the rooms: a desk, or a client that started `madoguchi stdio`.",
            )
            .next("Stop it and try again. Nothing was moved.")),
        }
    }

    /// `replaces_old_copy`: what the tables have is older than the files.
    pub async fn copy_to_database(
        &self,
        store: &Arc<dyn Store>,
        replaces_old_copy: bool,
        moved: &mut MovedData,
    ) -> Result<()> {
        store.migrate(self.migrations).await?;
        let settings = self.settings.clone();
        let copying = (self.files.to_database)(settings, Arc::clone(store), replaces_old_copy);
        let copied = copying.await?;
        [moved.rooms, moved.messages] = copied;
        Ok(())
    }

    pub async fn copy_to_files(
        &self,
        store: &Arc<dyn Store>,
        directory: &Path,
        moved: &mut MovedData,
    ) -> Result<()> {
        store.migrate(self.migrations).await?;
        let mut settings = self.settings.clone();
        let directory = directory.to_string_lossy().into_owned();
        settings.insert(self.key.into(), directory.into());
        let copied = (self.files.to_files)(settings, Arc::clone(store)).await?;
        [moved.rooms, moved.messages] = copied;
        Ok(())
    }

    /// Whether the tables have nothing to move.
    pub async fn has_no_tables(&self, store: &Arc<dyn Store>) -> Result<bool> {
        store.migrate(self.migrations).await?;
        (self.files.is_database_empty)(Arc::clone(store)).await
    }

    /// Removes the mark of [`Self::set_moved`]. Returns where the files had been moved to.
    pub fn undo_moved(&self) -> Result<Option<String>> {
        Marked::Folder(&self.path).undo_moved()
    }

    /// Marks the files as moved, if there are any.
    pub fn set_moved(&self, to: &str) -> Result<()> {
        match self.path.exists() {
            true => Marked::Folder(&self.path).set_moved(to, now()),
            false => Ok(()),
        }
    }

    /// Marks the tables as moved.
    pub async fn set_tables_moved(&self, store: &Arc<dyn Store>, to: &str) -> Result<()> {
        let (since, reason) = (now(), to.to_owned());
        let hold = Hold { since, reason };
        let mark = move |sql: &mut dyn kit::Sql| hold::set(sql, MOVED_FILES, &hold);
        store.transaction(Budget::default(), mark).await
    }
}

fn now() -> i64 {
    Clock::system().now().as_millisecond()
}
