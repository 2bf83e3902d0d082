//! Reads a file only when it is complete, even while others write it.

use std::{
    fs::{File, Metadata},
    io::{self, Read},
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use kit::Result;

use super::{
    stamp::Stamp,
    writers::{self, Writers},
};
use crate::errors;

/// Larger files are rejected.
pub(super) const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// How long to wait for a process that keeps writing.
const PATIENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(5);

/// A file as it was read.
#[derive(Debug, Clone)]
pub struct LoadedFile {
    pub text: Arc<str>,
    pub stamp: Stamp,
    /// The stamp was old enough at the read: as long as it is the same, so
    /// is the text.
    pub settled: bool,
}

/// Whether the file's permissions allow writing. Replacing it would work
/// regardless.
pub fn is_writable(path: &Path, metadata: &Metadata) -> bool {
    if metadata.permissions().readonly() {
        return false;
    }
    #[cfg(unix)]
    if rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_err() {
        return false;
    }
    true
}

pub fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Opens a file without blocking, in case it is a pipe.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    options.read(true).open(path)
}

/// Reads a file once it is complete: waits while a process may be writing it in
/// place. `was` is the text of the last read. Without `patient` it waits only
/// while a process has the file open.
pub fn read(
    path: &Path,
    shown: &str,
    was: Option<&Arc<str>>,
    patient: bool,
) -> Result<Option<LoadedFile>> {
    let failed = |error| errors::io(shown, false, error);
    let until = Instant::now() + PATIENCE;
    let size = was.map(|was| was.len() as u64);
    loop {
        let mut file = match open(path) {
            Ok(file) => file,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        // If there is no writer, none can start while this file is
        // open.
        let open = writers::of(&file) == Writers::Some;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(errors::unreadable(shown, "it is not a file"));
        }
        if metadata.len() > MOST_BYTES {
            return Err(errors::unreadable(shown, "it is too large"));
        }
        let stamp = Stamp::of(&metadata);
        let settled = stamp.is_settled();
        let wait = (patient || open) && stamp.may_be_half_written(size, open);
        if wait && Instant::now() < until {
            drop(file);
            thread::sleep(PAUSE);
            continue;
        }
        let mut bytes = Vec::with_capacity(metadata.len() as usize + 1);
        file.read_to_end(&mut bytes).map_err(failed)?;
        let after = Stamp::of(&file.metadata().map_err(failed)?);
        if !after.same_content(&stamp) {
            if Instant::now() < until {
                continue;
            }
            return Err(errors::unreadable(shown, "it keeps changing"));
        }
        // Reuses the text if it is unchanged.
        let text = match was {
            Some(was) if was.as_bytes() == bytes => Arc::clone(was),
            _ => String::from_utf8(bytes)
                .map_err(|_| errors::unreadable(shown, "it is not UTF-8"))?
                .into(),
        };
        return Ok(Some(LoadedFile {
            text,
            stamp,
            settled,
        }));
    }
}
