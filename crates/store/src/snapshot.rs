//! Copies of an SQLite file that other processes go on writing to.
//!
//! [`Freeze`] keeps writers out for as long as it takes to look at everything else that
//! belongs to the same moment. Its [`Snapshot`] still shows that moment after the
//! writers went on, and is copied with SQLite's own backup.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use kit::{Error, Result};
use rusqlite::{Connection, OpenFlags, backup::Backup, backup::StepResult};

use crate::{
    failure,
    sqlite::{failure_of, is_busy},
};

/// How many pages are copied before the progress is reported.
const PAGES: std::ffi::c_int = 1024;
/// How long a freeze waits for other writers.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long it is waited for a command that is about to end.
const SHORTLY: Duration = Duration::from_millis(500);

/// Keeps every writer out until it is dropped.
pub struct Freeze {
    writer: Connection,
}

/// A file as it was at one moment.
pub struct Snapshot {
    reader: Connection,
    /// Of the copy, in bytes.
    pub size: u64,
}

impl Freeze {
    /// Waits for the transaction that another process has open. The file must exist.
    pub fn new(path: &Path) -> Result<Self> {
        let mut writer = open(path)?;
        let began = Instant::now();
        // Short and steady waits, as those of the writer: the lock is rarely free.
        let wait = move |_| {
            thread::sleep(Duration::from_millis(1));
            began.elapsed() < PATIENCE
        };
        writer.busy_handler(Some(wait)).map_err(failed)?;
        writer.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
        Ok(Self { writer })
    }

    pub fn snapshot(&self, path: &Path) -> Result<Snapshot> {
        let reader = open(path)?;
        // A transaction sees the state at its first read.
        reader.execute_batch("BEGIN").map_err(failed)?;
        let number = |pragma: &str| -> Result<u64> {
            let read = reader.query_row(pragma, [], |row| row.get::<_, i64>(0));
            u64::try_from(read.map_err(failed)?).map_err(Error::internal)
        };
        let _ = number("SELECT COUNT(*) FROM sqlite_master")?;
        let size = number("PRAGMA page_count")? * number("PRAGMA page_size")?;
        Ok(Snapshot { reader, size })
    }
}

impl Drop for Freeze {
    fn drop(&mut self) {
        // Closing the connection would do the same.
        let _ = self.writer.execute_batch("ROLLBACK");
    }
}

impl Snapshot {
    /// Writes the copy to a new file. `watch` learns how many bytes were copied.
    pub fn copy_to(self, path: &Path, watch: &dyn Fn(u64)) -> Result<()> {
        let mut target = Connection::open(path).map_err(failed)?;
        // The copy is made again if anything happens to it.
        target
            .execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            .map_err(failed)?;
        let began = Instant::now();
        let backup = Backup::new(&self.reader, &mut target).map_err(failed)?;
        loop {
            let step = backup.step(PAGES).map_err(failed)?;
            let progress = backup.progress();
            let all = f64::from(progress.pagecount.max(1));
            let share = f64::from(progress.pagecount - progress.remaining) / all;
            watch((self.size as f64 * share) as u64);
            match step {
                StepResult::Done => break,
                // Nobody else knows the copy, but a network drive may have no locks.
                StepResult::Busy | StepResult::Locked if began.elapsed() > PATIENCE => {
                    return Err(failure::busy("the copy can't be locked"));
                }
                StepResult::Busy | StepResult::Locked => thread::sleep(Duration::from_millis(5)),
                _ => {}
            }
        }
        drop(backup);
        target.close().map_err(|(_, error)| failed(error))
    }
}

/// What SQLite's own check says is wrong with a file; empty: nothing.
pub fn problems(path: &Path) -> Result<Vec<String>> {
    let connection = open(path)?;
    let check = |pragma: &str| -> rusqlite::Result<Vec<String>> {
        let mut statement = connection.prepare(pragma)?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
        rows.collect()
    };
    let mut found = match check("PRAGMA integrity_check(10)") {
        Ok(found) => found,
        Err(error) => return Ok(vec![error.to_string()]),
    };
    found.retain(|line| line != "ok");
    if found.is_empty() {
        let orphans = check("PRAGMA foreign_key_check").map_err(failed)?;
        found.extend(
            orphans
                .iter()
                .map(|table| format!("{table} refers to a missing row")),
        );
    }
    Ok(found)
}

/// Whether nobody else has the file open, not even a process that does nothing at the
/// moment. Writes the log back into the file.
pub fn is_used_by_nobody(path: &Path) -> Result<bool> {
    let connection = open(path)?;
    connection.busy_timeout(SHORTLY).map_err(failed)?;
    let enter = |mode: &str| {
        let pragma = format!("PRAGMA journal_mode = {mode}");
        connection.query_row(&pragma, [], |row| row.get::<_, String>(0))
    };
    // SQLite leaves the mode with a log only when this is the one connection.
    match enter("DELETE") {
        Ok(mode) if mode.eq_ignore_ascii_case("delete") => {
            enter("WAL").map_err(failed).map(|_| true)
        }
        Ok(_) => Ok(false),
        Err(error) if is_busy(&error) => Ok(false),
        Err(error) => Err(failure_of(&error)),
    }
}

fn open(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags).map_err(|error| {
        failure::storage(
            "The database can't be opened.",
            "Check that the file exists and that this user may read and write it.",
            format!("{}: {error}", path.display()),
        )
    })
}

fn failed(error: rusqlite::Error) -> Error {
    failure_of(&error)
}
