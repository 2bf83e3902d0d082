//! Errors of the index.

use std::fmt;

use tantivy::{
    TantivyError,
    directory::error::{LockError, OpenReadError},
};

/// Why a directory could not be opened.
#[derive(Debug)]
pub enum OpenError {
    /// The files are damaged, incomplete or of another version. Delete the
    /// directory and rebuild the index.
    Damaged(String),
    /// The directory cannot be used: no permission, no space, too many open
    /// files. Its files may be intact.
    Unusable(String),
}

/// Why a search or a change failed.
#[derive(Debug)]
pub enum Error {
    /// Another process is writing; try again later.
    Busy,
    Failed(String),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Damaged(why) => write!(f, "the search index is damaged: {why}"),
            OpenError::Unusable(why) => write!(f, "the search index cannot be opened: {why}"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Busy => f.write_str("another process is writing the search index"),
            Error::Failed(why) => write!(f, "the search index failed: {why}"),
        }
    }
}

impl std::error::Error for OpenError {}
impl std::error::Error for Error {}

impl From<TantivyError> for Error {
    fn from(error: TantivyError) -> Error {
        match error {
            TantivyError::LockFailure(LockError::LockBusy, _) => Error::Busy,
            other => Error::Failed(other.to_string()),
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::Failed(error.to_string())
    }
}

impl From<TantivyError> for OpenError {
    fn from(error: TantivyError) -> OpenError {
        let io = match &error {
            TantivyError::IoError(io) => Some(io),
            TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. }) => Some(io_error),
            TantivyError::LockFailure(LockError::IoError(io), _) => Some(io),
            _ => None,
        };
        // Errors of the operating system have a number, errors of
        // tantivy have none.
        let refused = io.is_some_and(|io| io.raw_os_error().is_some());
        if refused || matches!(error, TantivyError::OpenDirectoryError(_)) {
            OpenError::Unusable(error.to_string())
        } else {
            OpenError::Damaged(error.to_string())
        }
    }
}

impl From<std::io::Error> for OpenError {
    fn from(error: std::io::Error) -> OpenError {
        OpenError::from(TantivyError::from(error))
    }
}
