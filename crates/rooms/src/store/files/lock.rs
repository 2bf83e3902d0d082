//! Locks between processes: `flock` on files of our own, which the kernel
//! releases when a process ends, however it ends. Around files that the original
//! server writes too, its own lock is taken under ours ([`Held::file`]).

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use kit::{Result, lock_wait::pause_before_retry};

use super::{
    dir::{self, Dir, is_at},
    original_lock::OriginalLock,
};
use crate::{errors, model::names::RoomName};

/// How long housekeeping waits for a lock of the original's. It can be done
/// later, and others wait for our own lock meanwhile.
const HOUSEKEEPING: Duration = Duration::from_millis(100);

/// How often a change is tried when the original's lock is lost.
const ATTEMPTS: u32 = 100;

/// As long as a change usually takes.
const LONGEST_PAUSE: Duration = Duration::from_micros(500);

/// Held until dropped.
pub struct Held {
    _file: File,
    until: Instant,
    timeout: Duration,
}

impl Held {
    /// The original's lock on one of the files that this one guards. Both locks share
    /// one timeout.
    pub fn file(&self, directory: &Path, name: &str) -> Result<OriginalLock> {
        OriginalLock::take(directory, name, self.until, self.timeout)
    }

    /// The same for deletions: `None` if the disk is too full for a lock file.
    pub fn file_if_space(&self, directory: &Path, name: &str) -> Result<Option<OriginalLock>> {
        match self.file(directory, name) {
            Err(error) if errors::is_disk_full(&error) => Ok(None),
            lock => lock.map(Some),
        }
    }

    /// Does `work` under the original's lock on a file, and repeats it if somebody removed
    /// that lock meanwhile: the original may have overwritten the change. `work` returns
    /// whether it was completed.
    pub fn change(
        &self,
        directory: &Path,
        name: &str,
        mut work: impl FnMut(&OriginalLock) -> Result<bool>,
    ) -> Result<()> {
        for _ in 0..ATTEMPTS {
            let lock = self.file(directory, name)?;
            if work(&lock)? && lock.is_held() {
                return Ok(());
            }
        }
        Err(errors::file_lock_lost(name))
    }

    /// The same lock, for work that can be done later.
    pub fn for_housekeeping(mut self) -> Self {
        self.until = self.until.min(Instant::now() + HOUSEKEEPING);
        self
    }
}

/// What one lock guards.
#[derive(Debug, Clone)]
pub enum Guarded {
    /// `rooms.json`, `agents.json` and `owners.json`. Taken before a room's lock
    /// where both are needed.
    Registry,
    /// Everything in one room's directory.
    Room(RoomName),
}

impl Guarded {
    /// The lock, if nobody holds it.
    pub fn try_lock(&self, dir: &Dir) -> Result<Held> {
        self.lock(dir, Duration::ZERO)
    }

    fn lock(&self, dir: &Dir, timeout: Duration) -> Result<Held> {
        match self {
            Self::Registry => acquire(dir, "rooms.lock", timeout),
            Self::Room(room) => acquire(dir, &format!("room-{room}.lock"), timeout),
        }
    }
}

pub fn registry(dir: &Dir, timeout: Duration) -> Result<Held> {
    Guarded::Registry.lock(dir, timeout)
}

pub fn room(dir: &Dir, room: &RoomName, timeout: Duration) -> Result<Held> {
    Guarded::Room(room.clone()).lock(dir, timeout)
}

fn acquire(dir: &Dir, name: &str, timeout: Duration) -> Result<Held> {
    let directory = dir.locks().map_err(errors::storage)?;
    let path = directory.join(name);
    let mut file = open(&directory, name).map_err(errors::storage)?;
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) if is_at(&file, &path) => {
                // A process that did nothing during the move may still run.
                if dir.root().join(dir::MOVED).exists() {
                    return Err(errors::rooms_moved());
                }
                return Ok(Held {
                    _file: file,
                    until: started + timeout,
                    timeout,
                });
            }
            // The file was removed meanwhile: others lock the new one.
            Ok(()) => file = open(&directory, name).map_err(errors::storage)?,
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(errors::storage(error)),
        }
        let waited = started.elapsed();
        if waited >= timeout {
            return Err(errors::file_lock_timeout(timeout.as_millis(), None));
        }
        // `flock` has no timeout, so try again soon.
        let pause = pause_before_retry(waited, LONGEST_PAUSE);
        thread::sleep(pause.min(timeout - waited));
    }
}

/// Removes the lock files of deleted rooms. Under the registry's lock.
pub fn clear_unused(dir: &Dir, exists: impl Fn(&RoomName) -> bool) -> std::io::Result<()> {
    let directory = dir.locks()?;
    for entry in dir::absent(fs::read_dir(&directory))?.into_iter().flatten() {
        let name = entry?.file_name();
        let room = name.to_str().and_then(|name| {
            let room = name.strip_prefix("room-")?.strip_suffix(".lock")?;
            RoomName::parse(room).ok()
        });
        if let (Some(room), true) = (room, cfg!(unix))
            && !exists(&room)
            && let Some(file) = dir::open_to_read(&directory.join(&name))?
            // A holder is about to find that the room is gone.
            && file.try_lock().is_ok()
        {
            fs::remove_file(directory.join(&name))?;
        }
    }
    Ok(())
}

pub fn open(directory: &Path, name: &str) -> std::io::Result<File> {
    let path = directory.join(name);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    match dir::open(&path, &mut options) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            // Only this directory: a removed data directory is not created again.
            match fs::create_dir(directory) {
                Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
                _ => dir::open(&path, &mut options),
            }
        }
        opened => opened,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_made_again_when_the_originals_lock_was_lost() {
        let directory = tempfile::tempdir().unwrap();
        let dir = Dir::new(directory.path().to_owned());
        let held = registry(&dir, Duration::from_secs(5)).unwrap();
        let path = directory.path().join("rooms.json.lock");
        let mut times = 0;
        held.change(directory.path(), "rooms.json", |_| {
            times += 1;
            if times < 3 {
                fs::remove_file(&path).unwrap();
            }
            Ok(true)
        })
        .unwrap();
        assert_eq!(times, 3);
        assert!(!path.exists());
        let lost = held.change(directory.path(), "rooms.json", |_| {
            fs::remove_file(&path).unwrap();
            Ok(true)
        });
        assert_eq!(lost.unwrap_err().code, "FILE_LOCK_TIMEOUT");
    }

    #[test]
    fn removing_a_lock_file_never_gives_two_holders() {
        let directory = tempfile::tempdir().unwrap();
        let dir = Dir::new(directory.path().to_owned());
        let soon = Duration::ZERO;
        let [held, gone, kept] =
            ["held", "gone", "kept"].map(|name| RoomName::parse(name).unwrap());
        let first = room(&dir, &held, soon).unwrap();
        drop(room(&dir, &gone, soon).unwrap());
        drop(room(&dir, &kept, soon).unwrap());
        clear_unused(&dir, |name| *name == kept).unwrap();
        let there = |room: &RoomName| dir.locks().unwrap().join(format!("room-{room}.lock"));
        assert!(there(&held).exists() && there(&kept).exists());
        assert!(!there(&gone).exists());

        // Who opened the file before it was cleared away has no lock.
        assert!(is_at(&first._file, &there(&held)));
        let late = open(&dir.locks().unwrap(), "room-held.lock").unwrap();
        drop(first);
        clear_unused(&dir, |name| *name == kept).unwrap();
        assert!(!is_at(&late, &there(&held)));
        let second = room(&dir, &held, soon).unwrap();
        late.try_lock().unwrap();
        assert!(!is_at(&late, &there(&held)), "another file is locked");
        assert!(room(&dir, &held, soon).is_err());
        drop(second);
    }
}
