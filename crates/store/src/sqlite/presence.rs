//! Detects which processes use the database. Each holds a lock on a marker file
//! beside it; the kernel releases the lock when the process ends, however it ends.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::ErrorKind,
    path::{Path, PathBuf},
};

use kit::{Presence, Result};

use super::connection::create_directory;
use crate::failure;

/// The directory of the marker files.
#[derive(Clone)]
pub struct Markers(PathBuf);

/// A marker file, locked until this is dropped.
struct Marker {
    path: PathBuf,
    _file: File,
}

impl Drop for Marker {
    fn drop(&mut self) {
        // A file that stays has no lock, so another process removes it.
        let _ = fs::remove_file(&self.path);
    }
}

impl Markers {
    pub fn beside(database: &Path) -> Self {
        let mut name = database.file_name().unwrap_or_default().to_owned();
        name.push("-alive");
        Self(database.with_file_name(name))
    }

    pub fn make(&self) -> Result<Presence> {
        let name = Presence::new_name();
        let path = self.0.join(&name);
        // Locked before others can see it: an unlocked marker means a dead process.
        let hidden = self.0.join(format!(".{name}"));
        let made = || {
            create_directory(&self.0)?;
            let file = private().write(true).create_new(true).open(&hidden)?;
            file.lock()?;
            fs::rename(&hidden, &path)?;
            Ok(file)
        };
        let made: std::io::Result<File> = made();
        let file = made.map_err(|error| failure::unreachable(error.to_string()))?;
        self.sweep();
        Ok(Presence::marked(name, Marker { path, _file: file }))
    }

    /// An unreadable marker does not count as gone.
    pub fn is_gone(&self, name: &str) -> bool {
        if !Presence::is_marked(name) {
            return false;
        }
        match File::open(self.0.join(name)) {
            Ok(file) => is_unlocked(&file),
            Err(error) => error.kind() == ErrorKind::NotFound,
        }
    }

    /// Removes the markers of dead processes.
    fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.0) else {
            return;
        };
        for entry in entries.flatten() {
            if entry.file_name().to_str().is_some_and(Presence::is_marked)
                && File::open(entry.path()).is_ok_and(|file| is_unlocked(&file))
            {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Closing the file releases the lock.
fn is_unlocked(file: &File) -> bool {
    match file.try_lock_shared() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => false,
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
