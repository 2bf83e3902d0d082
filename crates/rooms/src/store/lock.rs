//! Locks between processes: `flock` on files of our own, which the kernel
//! releases when a process ends, however it ends. The `*.lock` files of the
//! original server, which hold a process id, are something else and are ignored.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use kit::Result;

use super::files::{self, Dir};
use crate::{errors, model::names::RoomName};

/// Held until dropped.
pub struct Held {
    _file: File,
}

/// `rooms.json` and `agents.json`. Taken before a room's lock where both are needed.
pub fn registry(dir: &Dir, timeout: Duration) -> Result<Held> {
    acquire(dir, "rooms.lock", timeout)
}

/// Everything in one room's directory.
pub fn room(dir: &Dir, room: &RoomName, timeout: Duration) -> Result<Held> {
    acquire(dir, &format!("room-{room}.lock"), timeout)
}

fn acquire(dir: &Dir, name: &str, timeout: Duration) -> Result<Held> {
    let directory = dir.locks().map_err(errors::storage)?;
    let file = open(&directory, name).map_err(errors::storage)?;
    let started = Instant::now();
    let mut pause = Duration::from_micros(50);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Held { _file: file }),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(errors::storage(error)),
        }
        let waited = started.elapsed();
        if waited >= timeout {
            return Err(errors::file_lock_timeout(timeout.as_millis()));
        }
        // Nobody can be asked to wake us, so look again soon; the holder's
        // work takes a fraction of a millisecond.
        thread::sleep(pause.min(timeout - waited));
        pause = (pause * 3 / 2).min(Duration::from_millis(1));
    }
}

pub fn open(directory: &Path, name: &str) -> std::io::Result<File> {
    let path = directory.join(name);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    match files::open(&path, &mut options) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            // Only this one: a data directory that was taken away stays away.
            match fs::create_dir(directory) {
                Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
                _ => files::open(&path, &mut options),
            }
        }
        opened => opened,
    }
}
