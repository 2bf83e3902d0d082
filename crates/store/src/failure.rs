//! What an operator or caller reads when storage itself fails.
//!
//! Paths, SQL and server messages go into `cause`, which only the log shows.

use kit::Error;

/// The code of every failure that the storage, not the job, is to blame for.
pub const STORAGE_ERROR: &str = "STORAGE_ERROR";

pub(crate) fn storage(
    message: impl Into<String>,
    next: impl Into<String>,
    cause: impl Into<String>,
) -> Error {
    Error::new(STORAGE_ERROR, message)
        .next(next)
        .cause(cause.into())
}

pub(crate) fn busy(cause: impl Into<String>) -> Error {
    storage(
        "The database is busy.",
        "Nothing was changed; try again in a moment.",
        cause,
    )
}

pub(crate) fn full(cause: impl Into<String>) -> Error {
    storage(
        "The disk that holds the database is full.",
        "Nothing was changed; free some space and try again.",
        cause,
    )
}

pub(crate) fn read_only(cause: impl Into<String>) -> Error {
    storage(
        "The database can't be written.",
        "Let the user that runs Madoguchi write to its data directory and database, or use another \
         directory: madoguchi serve --data DIR",
        cause,
    )
}

pub(crate) fn unreachable(cause: impl Into<String>) -> Error {
    storage(
        "The database can't be reached.",
        "Check that it runs and that its address is right; work goes on as soon as it answers.",
        cause,
    )
}

pub(crate) fn closed() -> Error {
    storage(
        "The database is closed.",
        "Madoguchi is shutting down; try again once it has started.",
        "the store was used after it was closed",
    )
}
