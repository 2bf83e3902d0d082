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

/// Nobody keeps more than this in one of these files; what does is something else.
pub(super) const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Whoever goes on writing for longer is not waited for.
const PATIENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(5);

/// A file as it was read.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub text: Arc<str>,
    pub stamp: Stamp,
    /// It was old enough when it was read: while the stamp is the same, so is
    /// the text.
    pub settled: bool,
}

/// Whether we may write into a file. Putting another one in its place would be
/// possible even so.
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

/// For reading, without waiting: a pipe in the place of a file has no end.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    options.read(true).open(path)
}

/// Reads a whole file, and only a whole one: while somebody writes it in place,
/// it waits a moment. `was` is what it read the last time. Who is not `patient`
/// waits only for those who have it open, not for those who may come back.
pub fn read(
    path: &Path,
    shown: &str,
    was: Option<&Arc<str>>,
    patient: bool,
) -> Result<Option<Loaded>> {
    let failed = |error| errors::io(shown, false, error);
    let until = Instant::now() + PATIENCE;
    let size = was.map(|was| was.len() as u64);
    loop {
        let mut file = match open(path) {
            Ok(file) => file,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        // Nobody can begin to write while this file is open, if that is told.
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
        // Whoever knows the text need not look at it again.
        let text = match was {
            Some(was) if was.as_bytes() == bytes => Arc::clone(was),
            _ => String::from_utf8(bytes)
                .map_err(|_| errors::unreadable(shown, "it is not UTF-8"))?
                .into(),
        };
        return Ok(Some(Loaded {
            text,
            stamp,
            settled,
        }));
    }
}
