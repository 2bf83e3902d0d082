//! What an operator or caller reads when storage itself fails.
//!
//! Paths, SQL and server messages go into `cause`, which only the log shows.

use kit::{
    Error,
    error::{OUTCOME_UNKNOWN, UNAVAILABLE},
};
use serde_json::json;

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

/// When to try again while there is no server.
const RETRY_AFTER_MS: u64 = 1_000;

pub(crate) fn unreachable(cause: impl Into<String>) -> Error {
    unavailable(
        "The database can't be reached.",
        "Check that it runs and that its address is right; work goes on as soon as it answers.",
        RETRY_AFTER_MS,
        cause,
    )
    .japanese("データベースに接続できません。何も変更していません。しばらくしてからもう一度お試しください。")
}

/// A read was cut off half-way. The next one may succeed at once.
pub(crate) fn interrupted(cause: impl Into<String>) -> Error {
    unavailable(
        "The connection to the database was lost.",
        "Nothing was changed; try again.",
        0,
        cause,
    )
    .japanese("データベースとの接続が切れました。何も変更していません。もう一度お試しください。")
}

/// The server answers, but it is a standby or set to read-only.
pub(crate) fn no_primary(cause: impl Into<String>) -> Error {
    unavailable(
        "The database takes no writes at present.",
        "Nothing was changed; try again in a moment. If it persists, the address names a standby \
         or a read-only server.",
        RETRY_AFTER_MS,
        cause,
    )
    .japanese("データベースは現在、書き込みを受け付けていません。何も変更していません。しばらくしてからもう一度お試しください。")
}

fn unavailable(
    message: &'static str,
    next: &'static str,
    retry_after_ms: u64,
    cause: impl Into<String>,
) -> Error {
    Error::new(UNAVAILABLE, message)
        .next(next)
        .details(json!({ "retry_after_ms": retry_after_ms }))
        .cause(cause.into())
}

/// It is unknown whether the commit succeeded.
pub(crate) fn unsure(cause: impl Into<String>) -> Error {
    Error::new(
        OUTCOME_UNKNOWN,
        "The database was lost while it was saving, so it isn't known whether the change was made.",
    )
    .next("Look before you try again, or repeat the call with the same idempotency key.")
    .cause(cause.into())
}

pub(crate) fn closed() -> Error {
    storage(
        "The database is closed.",
        "Madoguchi is shutting down; try again once it has started.",
        "the store was used after it was closed",
    )
}
