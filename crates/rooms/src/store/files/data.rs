//! The data directory as this process uses it: settings, locks, and the file that
//! shows that the process lives.

use std::sync::{Mutex, MutexGuard, PoisonError};

use kit::{Blocking, Result};

use super::{
    dir::Dir,
    lock::{self, Held},
    process::{self, Process},
};
use crate::{Settings, model::names::RoomName};

/// Threads that read and write files at once. Most of them wait for a lock.
const THREADS: usize = 16;

pub struct DataDir {
    pub settings: Settings,
    pub dir: Dir,
    pub process: Process,
    /// For work on the files.
    pub blocking: Blocking,
    uncounted: Mutex<Vec<RoomName>>,
}

impl DataDir {
    /// Touches no file.
    pub fn new(settings: Settings) -> Self {
        Self {
            dir: Dir::new(settings.data_dir.clone()),
            settings,
            process: Process::new(),
            blocking: Blocking::new(THREADS),
            uncounted: Mutex::default(),
        }
    }

    pub fn lock_registry(&self) -> Result<Held> {
        lock::registry(&self.dir, self.settings.lock_timeout())
    }

    pub fn lock_room(&self, name: &RoomName) -> Result<Held> {
        lock::room(&self.dir, name, self.settings.lock_timeout())
    }

    /// Shows other processes that this one lives.
    pub fn announce(&self) -> Result<()> {
        let timeout = self.settings.lock_timeout();
        self.process.announce(&self.dir, timeout)
    }

    /// Checks whether a process lives, each one once.
    pub fn lives(&self) -> impl FnMut(&str) -> bool {
        process::lives(&self.dir, self.process.id())
    }

    /// The rooms whose counts in the files are out of date.
    pub fn uncounted(&self) -> MutexGuard<'_, Vec<RoomName>> {
        let uncounted = self.uncounted.lock();
        uncounted.unwrap_or_else(PoisonError::into_inner)
    }

    pub fn mark_uncounted(&self, room: &RoomName) {
        let mut uncounted = self.uncounted();
        if !uncounted.contains(room) {
            uncounted.push(room.clone());
        }
    }
}
