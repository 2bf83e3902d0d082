//! What an operator or caller reads when storage itself fails.
//!
//! Paths, SQL and server messages go into `cause`, which only the log shows.

use std::fmt;

use kit::{
    Error,
    error::{Interrupted, OUTCOME_UNKNOWN, UNAVAILABLE},
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

const BUSY: &str = "The database is busy.";
const DAMAGED: &str = "The database is damaged.";

pub(crate) fn is_busy(error: &Error) -> bool {
    error.message == BUSY
}

pub(crate) fn is_damage(error: &Error) -> bool {
    error.message == DAMAGED
}

pub(crate) fn damaged(cause: impl Into<String>) -> Error {
    storage(DAMAGED, "Stop Madoguchi and restore a backup.", cause)
}

/// The file of the database is no longer where it was.
pub(crate) fn gone(cause: impl Into<String>) -> Error {
    storage(
        "The database's file was removed or replaced while Madoguchi was using it.",
        "Nothing was changed. Put the data directory back in its place and start Madoguchi again.",
        cause,
    )
}

/// The cause of an error: the server has no connection left for us.
#[derive(Debug)]
pub(crate) struct Crowded(String);

impl fmt::Display for Crowded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Crowded {}

pub(crate) fn crowded(cause: impl Into<String>) -> Error {
    busy("").cause(Crowded(cause.into()))
}

pub(crate) fn is_crowded(error: &Error) -> bool {
    let cause = error.cause.as_ref();
    cause.is_some_and(|cause| cause.is::<Crowded>())
}

pub(crate) fn busy(cause: impl Into<String>) -> Error {
    storage(BUSY, "Nothing was changed; try again in a moment.", cause)
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
/// When to try again after a lost connection, which often means a lost server.
const INTERRUPTED_MS: u64 = 500;

pub(crate) fn unreachable(cause: impl Into<String>) -> Error {
    unavailable(
        "The database can't be reached.",
        "Check that it runs and that its address is right; work goes on as soon as it answers.",
        RETRY_AFTER_MS,
        Into::<String>::into(cause),
    )
    .japanese("データベースに接続できません。何も変更していません。しばらくしてからもう一度お試しください。")
}

/// The connection was lost half-way. The next attempt may succeed at once.
pub(crate) fn interrupted(cause: impl Into<String>) -> Error {
    unavailable(
        "The connection to the database was lost.",
        "Nothing was changed; try again.",
        INTERRUPTED_MS,
        Interrupted(cause.into()),
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
        Into::<String>::into(cause),
    )
    .japanese("データベースは現在、書き込みを受け付けていません。何も変更していません。しばらくしてからもう一度お試しください。")
}

fn unavailable(
    message: &'static str,
    next: &'static str,
    retry_after_ms: u64,
    cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> Error {
    Error::new(UNAVAILABLE, message)
        .next(next)
        .details(json!({ "retry_after_ms": retry_after_ms }))
        .cause(cause)
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
