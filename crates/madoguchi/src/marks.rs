//! Marks on data that nobody may use: it was moved elsewhere, it is being moved, or only
//! a part of it was restored. They are files beside the embedded database, and hidden
//! files in a counter's own directory. On PostgreSQL a hold says the same.

use std::{
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use desk::private_files;
use kit::{
    Error, Result, Sql, Store,
    hold::{self, Hold},
    sql::Budget,
};
use serde::{Deserialize, Serialize};
use store::url::DatabaseUrl;

use crate::{locale, location};

/// The code of data that is not complete.
pub const INTERRUPTED: &str = "RESTORE_INTERRUPTED";

/// What a mark is on.
#[derive(Debug, Clone, Copy)]
pub enum Marked<'a> {
    Database(&'a Path),
    Folder(&'a Path),
}

impl Marked<'_> {
    fn path(self, what: &str) -> PathBuf {
        match self {
            Self::Database(path) => location::beside(path, &format!("-{what}")),
            Self::Folder(path) => path.join(format!(".{what}")),
        }
    }

    fn moved(self) -> PathBuf {
        self.path("moved")
    }

    /// The list of what an unfinished restore puts in place.
    pub fn restoring(self) -> PathBuf {
        self.path("restoring")
    }

    pub fn is_moved(self) -> bool {
        self.moved().exists()
    }

    /// Where the data was moved to.
    pub fn moved_to(self) -> Option<String> {
        read(&self.moved()).map(|moved| moved.to)
    }

    /// Refuses data that was moved away, or is not complete.
    pub fn check_marks(self) -> Result<()> {
        let moved = self.moved();
        match read(&moved) {
            Some(moved) => return Err(moved_error(&moved.to, moved.at)),
            None if moved.exists() => return Err(unreadable(&moved)),
            None => {}
        }
        match self.restoring().exists() {
            false => Ok(()),
            true => Err(Error::new(
                INTERRUPTED,
                "Data is being restored or moved into this directory, or that was interrupted.",
            )
            .next("Wait until that command has ended, or run it again; it begins anew.")),
        }
    }

    /// Refuses data that is marked.
    pub fn check(self) -> Result<()> {
        self.check_marks()?;
        match is_locked(&self.path("moving")) {
            true => Err(Error::new(
                "DATA_IS_MOVING",
                "This data is being moved to another place.",
            )
            .next("Wait until `madoguchi move` has ended.")),
            false => Ok(()),
        }
    }

    /// Keeps others from opening the data until the lock is dropped. A mark without a
    /// lock is of a process that was killed, and means nothing.
    pub fn lock(self) -> Result<MoveLock> {
        let path = self.path("moving");
        let locked = || {
            let mut options = private_files::options();
            let file = options
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)?;
            match file.try_lock() {
                Ok(()) => Ok(Some(file)),
                Err(TryLockError::WouldBlock) => Ok(None),
                Err(TryLockError::Error(error)) => Err(error),
            }
        };
        match locked().map_err(|error| unwritable(&path, &error))? {
            Some(file) => Ok(MoveLock { path, _file: file }),
            None => Err(Error::new(
                "DATA_IS_MOVING",
                "Another `madoguchi move` of this data is running.",
            )
            .next("Wait until it has ended.")),
        }
    }

    /// Marks the data as moved, for good.
    pub fn set_moved(self, to: &str, at: i64) -> Result<()> {
        let path = self.moved();
        let text = serde_json::to_string(&Moved { to: to.into(), at }).map_err(Error::internal)?;
        let written = private_files::replace(&path, |file| writeln!(file, "{text}"));
        written.map_err(|error| unwritable(&path, &error))
    }

    /// Removes that mark. Returns where the data had been moved to.
    pub fn undo_moved(self) -> Result<Option<String>> {
        let path = self.moved();
        let Some(moved) = read(&path) else {
            return Ok(None);
        };
        fs::remove_file(&path).map_err(|error| unwritable(&path, &error))?;
        Ok(Some(moved.to))
    }
}

#[derive(Serialize, Deserialize)]
struct Moved {
    /// Without a password.
    to: String,
    at: i64,
}

/// Held while data is moved.
pub struct MoveLock {
    path: PathBuf,
    _file: File,
}

impl Drop for MoveLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Refuses a database that is marked. An embedded one is not opened for this.
pub fn check(url: &DatabaseUrl) -> Result<()> {
    match url {
        DatabaseUrl::Sqlite(path) => Marked::Database(path).check(),
        DatabaseUrl::Postgres(_) => Ok(()),
    }
}

/// The same for one that is open and up to date.
pub async fn check_open(store: &Arc<dyn Store>) -> Result<()> {
    let holds = |sql: &mut dyn Sql| {
        let moved = hold::find(sql, hold::MOVED)?;
        Ok((moved, hold::find(sql, hold::ARRIVING)?))
    };
    match store.query(Budget::default(), holds).await? {
        (Some(moved), _) => Err(moved_error(&moved.reason, moved.since)),
        (None, Some(_)) => Err(Error::new(
            "DATA_IS_MOVING",
            "Data is being moved into this database, or a move into it was interrupted.",
        )
        .next("Wait until `madoguchi move` has ended, or run it again; it begins anew.")),
        (None, None) => Ok(()),
    }
}

/// The hold on the tables of a counter whose data was moved into files.
pub const MOVED_FILES: &str = "moved rooms";

/// Refuses those tables.
pub async fn check_tables(store: &Arc<dyn Store>) -> Result<()> {
    match hold::of(store, MOVED_FILES).await? {
        None => Ok(()),
        Some(moved) => Err(tables_moved(&moved)),
    }
}

/// How often a process looks whether the data was moved away from PostgreSQL.
const LOOKS_EVERY: Duration = Duration::from_secs(5);

/// Waits until the data is moved away from under this process. A move can't notice a
/// client that does nothing meanwhile. With `tables`, those of [`MOVED_FILES`] count too.
pub async fn moved_away(stores: Vec<Arc<dyn Store>>, tables: bool) -> Error {
    loop {
        tokio::time::sleep(LOOKS_EVERY).await;
        for store in stores.iter().filter(|store| store.engine() != "sqlite") {
            // While the database is away, nobody can move it either.
            if let Ok(Some(moved)) = hold::of(store, hold::MOVED).await {
                return moved_error(&moved.reason, moved.since);
            }
            if tables && let Ok(Some(moved)) = hold::of(store, MOVED_FILES).await {
                return tables_moved(&moved);
            }
        }
    }
}

pub fn tables_moved(moved: &Hold) -> Error {
    Error::new(
        "DATA_MOVED",
        format!(
            "The rooms were moved to {} on {}.",
            moved.reason,
            locale::written(moved.since)
        ),
    )
    .next(
        "Set [rooms] data_dir or AGENT_COMM_DATA_DIR to that directory. To use the rooms in the \
         database again, without what was said there since: madoguchi move --undo",
    )
}

fn moved_error(to: &str, at: i64) -> Error {
    let next = match to.starts_with("postgres") {
        true => "Set that address in [database] url or MADOGUCHI_DATABASE__URL.",
        false => "Name it with --data DIR, and remove [database] url.",
    };
    Error::new(
        "DATA_MOVED",
        format!("This data was moved to {to} on {}.", locale::written(at)),
    )
    .next(format!(
        "{next} To use this old copy again, without what changed there since: madoguchi move --undo"
    ))
}

fn read(path: &Path) -> Option<Moved> {
    let text = fs::read_to_string(path).ok()?;
    serde_json::from_str(&text).ok()
}

fn is_locked(path: &Path) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

fn unreadable(path: &Path) -> Error {
    Error::new(
        "DATA_MOVED",
        format!(
            "{} says that this data was moved, but can't be read.",
            path.display()
        ),
    )
    .next("Use the data at its new place. To use this old copy again, remove that file.")
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    let message = format!("{} can't be written: {error}.", path.display());
    Error::new("DATA_UNUSABLE", message).next("Check the directory and its permissions.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_refused_while_it_is_marked() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("madoguchi.db");
        for marked in [
            Marked::Database(&database),
            Marked::Folder(directory.path()),
        ] {
            let code = || marked.check().unwrap_err().code;
            marked.check().unwrap();
            let lock = marked.lock().unwrap();
            assert_eq!(code(), "DATA_IS_MOVING");
            assert!(marked.lock().is_err());
            drop(lock);
            marked.check().unwrap();
            // A process that was killed leaves a mark without a lock.
            fs::write(marked.path("moving"), "").unwrap();
            marked.check().unwrap();
            marked.set_moved("postgresql://db/shop", 0).unwrap();
            assert_eq!(code(), "DATA_MOVED");
            assert!(
                marked
                    .check()
                    .unwrap_err()
                    .text()
                    .contains("postgresql://db/shop")
            );
            let undone = marked.undo_moved().unwrap();
            assert_eq!(undone.as_deref(), Some("postgresql://db/shop"));
            assert_eq!(marked.undo_moved().unwrap(), None);
            marked.check().unwrap();
            fs::write(marked.moved(), "damaged").unwrap();
            assert_eq!(code(), "DATA_MOVED");
            fs::remove_file(marked.moved()).unwrap();
            fs::write(marked.restoring(), "[]").unwrap();
            assert_eq!(code(), INTERRUPTED);
            fs::remove_file(marked.restoring()).unwrap();
        }
    }
}
