//! Errors of the file system, as callers see them.

use std::{io, path::Path};

use kit::Error;

/// Answered when the files could not be read or written.
pub const STORAGE_ERROR: &str = "STORAGE_ERROR";

/// Whether there was no space for what should have been written.
pub fn is_disk_full(error: &Error) -> bool {
    let cause = error.cause.as_deref();
    let cause = cause.and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| is_full(cause.kind()))
}

fn is_full(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

pub fn storage(error: io::Error) -> Error {
    let (message, next) = match error.kind() {
        kind if is_full(kind) => (
            "The disk is full. Nothing was changed.",
            "Free some space, for example with delete_room, and try again.",
        ),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => (
            "The data directory is not writable.",
            "Ask the operator to make it writable.",
        ),
        _ if kit::open_files::is_out_of_handles(&error) => (
            "The program has too many files open.",
            "Try again in a moment. If it persists, ask the operator to allow it more (LimitNOFILE).",
        ),
        _ => match Obstacle::behind(&error) {
            Some(Obstacle::Symlink) => (
                "The data directory contains a symbolic link where none is allowed. It was not followed.",
                "Ask the operator to replace it by the real directory or file.",
            ),
            Some(Obstacle::NotAFile) => (
                "Something in the data directory is not a file, but should be one.",
                "Ask the operator to remove it.",
            ),
            None => (
                "The data directory could not be read or written.",
                "Try again. If it persists, ask the operator to look at the log.",
            ),
        },
    };
    Error::new(STORAGE_ERROR, message).next(next).cause(error)
}

/// Rooms are kept in the database now, which has none, and there are some in files.
pub fn rooms_left_in_files(directory: &Path) -> Error {
    let message = format!(
        "The rooms are in files in {}, and the database has none.",
        directory.display()
    );
    Error::new("ROOMS_NOT_MOVED", message).next(
        "Move them with: madoguchi move --to URL --only rooms. To keep them in files, set \
         AGENT_COMM_DATA_DIR or [rooms] data_dir to that directory.",
    )
}

/// The files are an old copy, and nothing may be added to it.
pub fn rooms_moved() -> Error {
    Error::new("DATA_MOVED", "These rooms were moved to another place.")
        .next("Ask the operator to start this server again with the new configuration.")
}

/// Why a path was not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    Symlink,
    /// A pipe, a device, a directory.
    NotAFile,
}

impl Obstacle {
    pub fn behind(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl std::fmt::Display for Obstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Symlink => "a symbolic link in the data directory is not followed",
            Self::NotAFile => "not a regular file",
        })
    }
}

impl std::error::Error for Obstacle {}

impl From<Obstacle> for io::Error {
    fn from(obstacle: Obstacle) -> Self {
        Self::new(io::ErrorKind::InvalidInput, obstacle)
    }
}
