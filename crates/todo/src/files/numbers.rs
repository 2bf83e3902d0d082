//! Numbers handed out once in a repository, whatever the worktree: the ledger
//! is in the common git directory, or in `.todo/` where there is no git.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    time::Instant,
};

use super::{folder::Folder, lock, stamp::Stamp, write::Prepared};
use crate::model::numbers::{Given, Ledger};

const IN_GIT: &str = "madoguchi-todo";
const IN_TODO: &str = ".numbers";

/// Where a project's numbers are kept, and under which name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    file: PathBuf,
    project: String,
}

impl Place {
    pub fn of(folder: &Folder) -> Self {
        let in_git = common_git_directory(&folder.root).filter(|(_, git)| is_writable(git));
        match in_git {
            Some((top, git)) => {
                let inside = folder.root.strip_prefix(&top).ok();
                let inside = inside
                    .and_then(Path::to_str)
                    .filter(|path| !path.is_empty());
                Self {
                    file: git.join(IN_GIT),
                    project: inside.unwrap_or(".").to_owned(),
                }
            }
            None => Self {
                file: folder.todo.join(IN_TODO),
                project: ".".into(),
            },
        }
    }

    /// Looks at what was given out without waiting for anybody.
    pub fn look(&self) -> Given {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        read(&text).remove(&self.project).unwrap_or_default()
    }

    /// Changes what was given out, alone. `None` when somebody else is at it
    /// until `until`.
    pub fn change<T>(
        &self,
        until: Instant,
        change: impl FnOnce(&mut Given) -> T,
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
            // Not synced: numbers that are in use stand in the files as well.
            let prepared = Prepared::new(&self.file, &text, false)?;
            fs::rename(prepared.path(), &self.file)?;
        }
        Ok(Some(result))
    }

    /// The ledger, locked. It is replaced when it changes, so whoever waited
    /// looks whether it is still the one in the place.
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

/// A ledger that does not parse is begun anew: numbers in use are added to it
/// each time one is given out.
fn read(text: &str) -> Ledger {
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

/// The top of the worktree, and the git directory all worktrees share.
fn common_git_directory(root: &Path) -> Option<(PathBuf, PathBuf)> {
    let top = root.ancestors().find(|path| path.join(".git").exists())?;
    let dot_git = top.join(".git");
    let git = if dot_git.is_dir() {
        dot_git
    } else {
        // A worktree's or submodule's `.git` is a file that says where to look.
        let text = fs::read_to_string(&dot_git).ok()?;
        top.join(text.trim().strip_prefix("gitdir:")?.trim())
    };
    let common = match fs::read_to_string(git.join("commondir")) {
        Ok(text) => git.join(text.trim()),
        Err(_) => git,
    };
    let common = common.canonicalize().ok()?;
    common
        .join("HEAD")
        .exists()
        .then(|| (top.to_owned(), common))
}
