//! The last changes with the texts before and after them, so that any process
//! can undo them. Each is a file in the git directory of the worktree, or in
//! `.todo/` without git.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::{Deserialize, Serialize};

use super::{folder::Folder, git::GitDirectories, journal::Step, read::is_missing};

const IN_GIT: &str = "madoguchi-todo-changes";
const IN_TODO: &str = ".changes";
/// Changes to keep. More are kept for a while, so that not every change has to
/// look for old ones.
const KEPT: usize = 50;
const MOST: usize = 60;

#[derive(Serialize, Deserialize)]
pub struct RecordedChange {
    /// The operations: `create_task T012, link_tasks T012`.
    pub label: String,
    pub steps: Vec<Step>,
}

pub struct UndoHistory {
    directory: PathBuf,
}

impl UndoHistory {
    pub fn of(folder: &Folder) -> Self {
        let git = GitDirectories::of(&folder.root);
        let directory = git.map(|git| {
            let all = git.own.join(IN_GIT);
            match git.inside(&folder.root) {
                Some(project) => all.join(project),
                None => all,
            }
        });
        Self {
            directory: directory
                .filter(|directory| fs::create_dir_all(directory).is_ok())
                .unwrap_or_else(|| folder.todo.join(IN_TODO)),
        }
    }

    pub fn new_id() -> String {
        kit::ids::random("c", 8)
    }

    /// Not synced: a change that cannot be undone after a power failure is no
    /// loss.
    pub fn add(&self, id: &str, change: &RecordedChange) -> io::Result<()> {
        fs::create_dir_all(&self.directory)?;
        let text = serde_json::to_string(change)?;
        fs::write(self.file(id), text)?;
        self.drop_old()
    }

    /// `None` if there is no such change, or no longer.
    pub fn find(&self, id: &str) -> io::Result<Option<RecordedChange>> {
        // An id is part of a path.
        if !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Ok(None);
        }
        match fs::read_to_string(self.file(id)) {
            Ok(text) => Ok(serde_json::from_str(&text).ok()),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The changes after this one, oldest first.
    pub fn later_than(&self, id: &str) -> io::Result<Vec<(String, RecordedChange)>> {
        let mut files = self.oldest_first()?;
        let own = files.iter().position(|path| *path == self.file(id));
        let later = files.drain(own.map_or(0, |own| own + 1)..);
        let later = later.filter_map(|path| {
            let id = path.file_stem()?.to_str()?.to_owned();
            let change = self.find(&id).ok()??;
            Some((id, change))
        });
        Ok(later.collect())
    }

    /// Forgets a change that was undone.
    pub fn remove(&self, id: &str) -> io::Result<()> {
        fs::remove_file(self.file(id))
    }

    fn file(&self, id: &str) -> PathBuf {
        self.directory.join(format!("{id}.json"))
    }

    fn all(&self) -> io::Result<Vec<PathBuf>> {
        let is_change = |path: &Path| path.extension().is_some_and(|ending| ending == "json");
        let files = fs::read_dir(&self.directory)?;
        let files = files.filter_map(|entry| Some(entry.ok()?.path()));
        Ok(files.filter(|path| is_change(path)).collect())
    }

    fn oldest_first(&self) -> io::Result<Vec<PathBuf>> {
        let mut files = self.all()?;
        files.sort_by_cached_key(|path| {
            let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
            modified.unwrap_or(SystemTime::UNIX_EPOCH)
        });
        Ok(files)
    }

    fn drop_old(&self) -> io::Result<()> {
        if self.all()?.len() <= MOST {
            return Ok(());
        }
        let files = self.oldest_first()?;
        let old = files.len().saturating_sub(KEPT);
        for path in files.iter().take(old) {
            fs::remove_file(path)?;
        }
        Ok(())
    }
}
