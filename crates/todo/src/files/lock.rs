//! Lets only one process write in `.todo/` at a time. The directory itself is
//! locked, so that the project needs no lock file.

use std::{
    fs::{File, TryLockError},
    io,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use kit::lock_wait::pause_before_retry;

use super::stamp::Stamp;

/// How long to wait for another process. A write takes milliseconds.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// As long as a write usually takes.
const LONGEST_PAUSE: Duration = Duration::from_millis(4);

/// Held until dropped or until the process ends.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "closing the file gives the lock back")] File);

impl Lock {
    /// `None` if another process still holds it at `until`.
    pub fn take(directory: &Path, until: Instant) -> io::Result<Option<Self>> {
        loop {
            let file = open(directory)?;
            if !wait(&file, until)? {
                return Ok(None);
            }
            // While we waited, the directory may have been replaced.
            let held = Stamp::of(&file.metadata()?);
            if same_file(&held, &open(directory)?)? {
                return Ok(Some(Self(file)));
            }
        }
    }
}

fn same_file(held: &Stamp, now: &File) -> io::Result<bool> {
    Ok(held.file == Stamp::of(&now.metadata()?).file)
}

#[cfg(unix)]
fn open(directory: &Path) -> io::Result<File> {
    File::open(directory)
}

#[cfg(not(unix))]
fn open(directory: &Path) -> io::Result<File> {
    File::options()
        .create(true)
        .append(true)
        .open(directory.join(".lock"))
}

/// `false` if the time is up.
pub fn wait(file: &File, until: Instant) -> io::Result<bool> {
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let now = Instant::now();
        if now >= until {
            return Ok(false);
        }
        thread::sleep(pause_before_retry(now - began, LONGEST_PAUSE));
    }
}
