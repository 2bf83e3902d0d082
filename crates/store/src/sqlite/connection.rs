//! One SQLite connection: how it is set up, how it runs statements, and what
//! its errors mean.

use std::{
    borrow::Cow,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use kit::{Cell, Error, Param, Result, Row, sql::Budget};
use rusqlite::{
    CachedStatement, Connection, ErrorCode, OpenFlags, Statement,
    config::DbConfig,
    types::{Null, ValueRef},
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
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
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

/// To SQLite `$2` is a name, which is numbered by its first appearance and searched
/// linearly. `?2` is the second parameter, as `$2` is on PostgreSQL.
fn numbered(sql: &str) -> Cow<'_, str> {
    if !sql.contains('$') {
        return Cow::Borrowed(sql);
    }
    let mut text = String::with_capacity(sql.len());
    let mut pieces = sql.split('$');
    text.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let is_number = piece.starts_with(|first: char| first.is_ascii_digit());
        text.push(if is_number { '?' } else { '$' });
        text.push_str(piece);
    }
    Cow::Owned(text)
}

fn bind(statement: &mut Statement<'_>, params: &[Param<'_>]) -> Result<()> {
    let highest = statement.parameter_count();
    if highest != params.len() {
        return Err(Error::internal(format!(
            "a statement with ${highest} was given {} parameters",
            params.len()
        )));
    }
    for (index, param) in (1..).zip(params) {
        match param {
            Param::Null => statement.raw_bind_parameter(index, Null),
            Param::Int(value) => statement.raw_bind_parameter(index, value),
            Param::Real(value) => statement.raw_bind_parameter(index, value),
            Param::Text(value) => statement.raw_bind_parameter(index, value),
        }
        .map_err(|error| failure_of(&error))?;
    }
    Ok(())
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

pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

/// Failures of the storage get a message for the operator; all others are errors in a
/// statement.
pub(super) fn failure_of(error: &rusqlite::Error) -> Error {
    let cause = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => failure::busy(cause),
        Some(ErrorCode::DiskFull) => failure::full(cause),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => failure::read_only(cause),
        Some(ErrorCode::NotADatabase) => failure::storage(
            "The file at the database's address is not a SQLite database.",
            "Give another address, or move the file away so that a new database is made.",
            cause,
        ),
        Some(ErrorCode::DatabaseCorrupt) => failure::storage(
            "The database is damaged.",
            "Stop Madoguchi and restore a backup.",
            cause,
        ),
        Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) => failure::storage(
            "The database can't be opened or read.",
            "Check the disk, and let the user that runs Madoguchi use its data directory, or use \
             another: madoguchi serve --data DIR",
            cause,
        ),
        _ => Error::internal(cause),
    }
}

fn cannot_open(path: &Path, error: &rusqlite::Error) -> Error {
    let failure = failure_of(error);
    let cause = format!("{}: {error}", path.display());
    if failure.is_internal() {
        return failure::storage(
            "The database can't be opened.",
            "The log says what SQLite answered.",
            cause,
        );
    }
    failure.cause(cause)
}

fn cannot_create(path: &Path, error: &std::io::Error) -> Error {
    let cause = format!("{}: {error}", path.display());
    if error.kind() == std::io::ErrorKind::StorageFull {
        return failure::full(cause);
    }
    failure::storage(
        "The database's file or its directory can't be created.",
        "Let the user that runs Madoguchi write there, or use another directory: madoguchi serve \
         --data DIR",
        cause,
    )
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
