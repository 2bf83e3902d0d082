//! Tells whether anything was committed to the file, by this process or another.
//!
//! SQLite counts that for each connection, so one connection is asked for nothing else.
//! The answer comes from memory that all processes share, so the caller is not made to
//! wait for the disk.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rusqlite::Connection;

use super::connection::open_reader;

pub(super) struct Version {
    path: PathBuf,
    asked: Mutex<Asked>,
}

enum Asked {
    /// Opened when it is first needed.
    NotYet,
    Open(Connection),
    Closed,
}

impl Version {
    pub fn of(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            asked: Mutex::new(Asked::NotYet),
        }
    }

    /// `None` if it can't be told at present, as while another process recovers the file.
    pub fn get(&self) -> Option<i64> {
        let mut asked = self.asked();
        if let Asked::NotYet = *asked {
            *asked = Asked::Open(open_reader(&self.path, Duration::ZERO).ok()?);
        }
        let Asked::Open(connection) = &*asked else {
            return None;
        };
        let mut statement = connection.prepare_cached("PRAGMA data_version").ok()?;
        statement.query_row([], |row| row.get(0)).ok()
    }

    pub fn close(&self) {
        *self.asked() = Asked::Closed;
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::connection::open_writer;

    #[test]
    fn the_version_changes_with_every_commit_and_only_then() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("db");
        let writer = open_writer(&path, Duration::ZERO).unwrap();
        writer
            .execute_batch("CREATE TABLE films (id INTEGER)")
            .unwrap();
        let version = Version::of(&path);
        let mut before = version.get().unwrap();
        for id in 0..3 {
            assert_eq!(version.get(), Some(before));
            writer
                .execute("INSERT INTO films VALUES (?1)", [id])
                .unwrap();
            let now = version.get().unwrap();
            assert_ne!(now, before);
            before = now;
        }
        writer
            .execute_batch("BEGIN; DELETE FROM films; ROLLBACK")
            .unwrap();
        assert_eq!(version.get(), Some(before));
        version.close();
        assert_eq!(version.get(), None);
    }
}
