//! One SQLite connection: how it is set up, and how it runs statements.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use kit::{Cell, Error, Param, Result, Row, sql::Budget};
use rusqlite::{
    CachedStatement, Connection, ErrorCode, OpenFlags, config::DbConfig, types::ValueRef,
};

use super::{
    errors::{cannot_create, cannot_open, failure_of, is_busy},
    parameters::{bind, numbered},
};
use crate::{
    failure,
    job::{Engine, Session},
};

/// Plenty for all statements of a counter; a statement takes a few kilobytes.
const CACHED_STATEMENTS: usize = 128;
/// How many steps of its virtual machine SQLite takes before it asks whether
/// to go on: well under a millisecond.
const STEPS: i32 = 2_000;

/// A cache of 2 MB keeps the program small: the operating system caches the
/// file anyway.
const SETTINGS: &str = "
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -2000;
";

/// Opens the file for the writer, creating what is missing.
pub(super) fn open_writer(path: &Path, patience: Duration) -> Result<Connection> {
    let place = |error: std::io::Error| cannot_create(path, &error);
    if let Some(directory) = path.parent().filter(|path| !path.as_os_str().is_empty()) {
        create_directory(directory).map_err(place)?;
    }
    create_file(path).map_err(place)?;
    let connect = || -> rusqlite::Result<(Connection, bool, String)> {
        let connection = connect(path)?;
        connection.busy_timeout(patience)?;
        let mode = enter_wal(&connection, patience)?;
        connection.execute_batch(SETTINGS)?;
        // A log that one large job has blown up is cut back to 64 MB.
        connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
        let read_only = connection.is_readonly("main")?;
        Ok((connection, read_only, mode))
    };
    let (connection, read_only, mode) = connect().map_err(|error| cannot_open(path, &error))?;
    if read_only {
        return Err(failure::read_only(format!(
            "{} is read-only",
            path.display()
        )));
    }
    if mode != "wal" {
        return Err(failure::storage(
            "The database can't keep a write-ahead log where it is.",
            "Keep it on a local disk: network file systems often lack what SQLite needs.",
            format!("{} stays in journal mode {mode}", path.display()),
        ));
    }
    Ok(connection)
}

pub(super) fn open_reader(path: &Path, patience: Duration) -> Result<Connection> {
    let connect = || -> rusqlite::Result<Connection> {
        let connection = connect(path)?;
        connection.busy_timeout(patience)?;
        connection.execute_batch(SETTINGS)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    };
    connect().map_err(|error| cannot_open(path, &error))
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    // Readers too: in WAL mode they write to the shared index beside the file.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    // Plans do not depend on bound values. Otherwise a statement on a table with a partial
    // index is parsed and planned again whenever another value is bound.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// When two processes make the same new file, SQLite answers "busy" here
/// without waiting.
fn enter_wal(connection: &Connection, patience: Duration) -> rusqlite::Result<String> {
    let started = Instant::now();
    loop {
        let mode = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
        match mode {
            Err(error) if is_busy(&error) && started.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(5));
            }
            mode => return mode,
        }
    }
}

pub(super) fn create_directory(path: &Path) -> std::io::Result<()> {
    kit::durable::create_directory(path, 0o700)
}

/// SQLite gives the files beside it the same mode.
fn create_file(path: &Path) -> std::io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    let mut options = fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Runs `job` on a session that ends statements once the budget is over.
pub(super) fn with_session<T>(
    connection: &mut Connection,
    access: Access,
    budget: &Budget,
    job: impl FnOnce(&mut Session<'_, Transaction<'_>>) -> Result<T>,
) -> Result<T> {
    let watched = budget.clone();
    connection
        .progress_handler(STEPS, Some(move || watched.check().is_err()))
        .map_err(|error| failure_of(&error))?;
    let transaction = Transaction { connection, access };
    let outcome = job(&mut Session::new(transaction, budget));
    // The statements that follow, such as a rollback, must not be interrupted.
    let unwatched = connection.progress_handler(0, None::<fn() -> bool>);
    outcome.and_then(|value| {
        unwatched.map_err(|error| failure_of(&error))?;
        Ok(value)
    })
}

/// `BEGIN`, `COMMIT` and the like.
pub(super) fn control(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.raw_execute().map(drop)
}

/// What a session may do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

pub(super) struct Transaction<'a> {
    connection: &'a Connection,
    access: Access,
}

impl Transaction<'_> {
    fn prepare(&self, sql: &str, params: &[Param<'_>]) -> Result<CachedStatement<'_>> {
        self.check()?;
        let mut statement = self
            .connection
            .prepare_cached(&numbered(sql))
            .map_err(|error| failure_of(&error))?;
        bind(&mut statement, params)?;
        Ok(statement)
    }

    /// Some failures end the whole transaction; after that a statement would be
    /// committed on its own.
    fn check(&self) -> Result<()> {
        if self.connection.is_autocommit() {
            return Err(Error::internal("the transaction is over"));
        }
        Ok(())
    }

    fn failed(&self, error: &rusqlite::Error, budget: &Budget) -> Error {
        match (error.sqlite_error_code(), budget.check()) {
            (Some(ErrorCode::OperationInterrupted), Err(over)) => over,
            // Not a failure of the disk: a read job tried to write.
            (Some(ErrorCode::ReadOnly), _) if self.access == Access::Read => {
                Error::internal(error.to_string())
            }
            _ => failure_of(error),
        }
    }
}

impl Engine for Transaction<'_> {
    const HAS_OTHER_WRITERS: bool = false;

    fn query(&mut self, sql: &str, params: &[Param<'_>], budget: &Budget) -> Result<Vec<Row>> {
        let mut statement = self.prepare(sql, params)?;
        let mut rows = statement.raw_query();
        let mut answer = Vec::new();
        while let Some(row) = rows.next().map_err(|error| self.failed(&error, budget))? {
            // Not earlier: the first step adapts a statement to changed tables.
            let columns = row.as_ref().column_count();
            let mut cells = Vec::with_capacity(columns);
            for column in 0..columns {
                let value = row.get_ref(column).map_err(|error| failure_of(&error))?;
                cells.push(cell(column, value)?);
            }
            answer.push(Row(cells));
        }
        Ok(answer)
    }

    fn execute(&mut self, sql: &str, params: &[Param<'_>], budget: &Budget) -> Result<u64> {
        let changed = self
            .prepare(sql, params)?
            .raw_execute()
            .map_err(|error| self.failed(&error, budget))?;
        u64::try_from(changed).map_err(Error::internal)
    }

    fn script(&mut self, text: &str, budget: &Budget) -> Result<()> {
        self.check()?;
        self.connection
            .execute_batch(text)
            .map_err(|error| self.failed(&error, budget))
    }
}

fn cell(column: usize, value: ValueRef<'_>) -> Result<Cell> {
    Ok(match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(value) => Cell::Int(value),
        ValueRef::Real(value) => Cell::Real(value),
        ValueRef::Text(text) => {
            Cell::Text(String::from_utf8(text.to_vec()).map_err(Error::internal)?)
        }
        ValueRef::Blob(_) => {
            return Err(Error::internal(format!(
                "column {column} has the type BLOB, which is not read"
            )));
        }
    })
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn a_statement_is_planned_once_whatever_is_bound() {
        let directory = tempfile::tempdir().unwrap();
        let writer = open_writer(&directory.path().join("db"), Duration::ZERO).unwrap();
        writer
            .execute_batch(
                "CREATE TABLE shows (id TEXT PRIMARY KEY, is_demo INTEGER NOT NULL) STRICT;
                 CREATE INDEX shows_of_demo ON shows (id) WHERE is_demo = 1;",
            )
            .unwrap();
        let mut statement = writer
            .prepare_cached("SELECT id FROM shows WHERE is_demo = ?1")
            .unwrap();
        for is_demo in [1, 0, 2] {
            let rows = statement.query_map([is_demo], |_| Ok(()));
            assert_eq!(rows.unwrap().count(), 0);
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }
}
