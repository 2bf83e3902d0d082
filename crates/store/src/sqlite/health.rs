//! What is wrong with the database's file at present: for probes, and before each
//! transaction.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use kit::{Error, Result};

use crate::failure::{self, STORAGE_ERROR};

pub(super) struct Health {
    path: PathBuf,
    identity: Option<(u64, u64)>,
    state: Mutex<Trouble>,
}

#[derive(Default)]
struct Trouble {
    /// Until something is written again.
    writing: Option<String>,
    /// Until the program starts again: a damaged page does not mend itself.
    damage: Option<String>,
}

impl Health {
    /// Of a file that was just opened.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            identity: identity(path),
            state: Mutex::default(),
        }
    }

    pub fn trouble(&self) -> Option<String> {
        let gone = self.require_file().err().map(|error| error.message);
        let state = self.state();
        gone.or_else(|| state.damage.clone())
            .or_else(|| state.writing.clone())
    }

    /// An error if the file was removed or replaced. The open one would still take every
    /// write, and all of them would be lost.
    pub fn require_file(&self) -> Result<()> {
        match identity(&self.path) == self.identity {
            true => Ok(()),
            false => Err(failure::gone(self.path.display().to_string())),
        }
    }

    /// Takes note of how reading or writing ended.
    pub fn note(&self, error: &Error) {
        if error.code != STORAGE_ERROR || failure::is_busy(error) {
            return;
        }
        let mut state = self.state();
        let place = match failure::is_damage(error) {
            true => &mut state.damage,
            false => &mut state.writing,
        };
        *place = Some(error.message.clone());
    }

    /// Something was committed.
    pub fn note_success(&self) {
        self.state().writing = None;
    }

    fn state(&self) -> std::sync::MutexGuard<'_, Trouble> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells one file from another. `None` everywhere where the system has no such number.
fn identity(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.dev(), metadata.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}
