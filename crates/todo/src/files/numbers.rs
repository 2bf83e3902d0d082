//! Issues numbers that are unique across all worktrees of a repository. The
//! ledger is in the common git directory, or in `.todo/` without git.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    time::Instant,
};

use super::{folder::Folder, git::GitDirectories, lock, stamp::Stamp, write::PreparedFile};
use crate::model::numbers::{IssuedNumbers, NumbersByProject};

const IN_GIT: &str = "madoguchi-todo";
const IN_TODO: &str = ".numbers";

/// The ledger file, and the project's key in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberLedger {
    file: PathBuf,
    project: String,
}

impl NumberLedger {
    pub fn of(folder: &Folder) -> Self {
        let git = GitDirectories::of(&folder.root).filter(|git| is_writable(&git.common));
        match git {
            Some(git) => Self {
                file: git.common.join(IN_GIT),
                project: git.inside(&folder.root).unwrap_or(".").to_owned(),
            },
            None => Self {
                file: folder.todo.join(IN_TODO),
                project: ".".into(),
            },
        }
    }

    /// Reads the project's ledger without a lock.
    pub fn look(&self) -> IssuedNumbers {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        read(&text).remove(&self.project).unwrap_or_default()
    }

    /// Changes the project's ledger under a lock. `None` if another process
    /// still holds the lock at `until`.
    pub fn change<T>(
        &self,
        until: Instant,
        change: impl FnOnce(&mut IssuedNumbers) -> T,
    ) -> io::Result<Option<T>> {
        let Some(mut file) = self.lock(until)? else {
            return Ok(None);
        };
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let mut ledger = read(&text);
        let given = ledger.entry(self.project.clone()).or_default();
        let before = given.clone();
        let result = change(given);
        if *given != before {
            let text = serde_json::to_string(&ledger)?;
            // Not synced, since the files contain all numbers in
            // use.
            let prepared = PreparedFile::new(&self.file, &text)?;
            fs::rename(prepared.path(), &self.file)?;
        }
        Ok(Some(result))
    }

    /// Opens and locks the ledger. A change replaces the file, so after
    /// waiting it must be checked that the locked file is still the current
    /// one.
    fn lock(&self, until: Instant) -> io::Result<Option<File>> {
        loop {
            let file = File::options()
                .read(true)
                .append(true)
                .create(true)
                .open(&self.file)?;
            if !lock::wait(&file, until)? {
                return Ok(None);
            }
            let held = Stamp::of(&file.metadata()?);
            match fs::metadata(&self.file) {
                Ok(now) if Stamp::of(&now).file == held.file => return Ok(Some(file)),
                _ => {}
            }
        }
    }
}

/// A ledger that does not parse counts as empty. Numbers in use are added
/// whenever one is issued.
fn read(text: &str) -> NumbersByProject {
    serde_json::from_str(text).unwrap_or_default()
}

fn is_writable(directory: &Path) -> bool {
    fs::metadata(directory).is_ok_and(|metadata| !metadata.permissions().readonly())
        && File::options()
            .append(true)
            .create(true)
            .open(directory.join(IN_GIT))
            .is_ok()
}
