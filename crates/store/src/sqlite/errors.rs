//! What an error of SQLite means to the operator or the caller.

use std::path::Path;

use kit::Error;
use rusqlite::ErrorCode;

use crate::failure;

pub fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

/// Failures of the storage get a message for the operator; all others are errors in a
/// statement.
pub fn failure_of(error: &rusqlite::Error) -> Error {
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
        Some(ErrorCode::DatabaseCorrupt) => failure::damaged(cause),
        Some(ErrorCode::OutOfMemory) => failure::storage(
            "There is no memory left to use the database.",
            "Nothing was changed. Try again later, or let Madoguchi have more memory.",
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

pub fn cannot_open(path: &Path, error: &rusqlite::Error) -> Error {
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

pub fn cannot_create(path: &Path, error: &std::io::Error) -> Error {
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
