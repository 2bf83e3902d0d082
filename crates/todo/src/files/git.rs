//! Where git keeps its own files, for what belongs to the project but should
//! not be committed.

use std::{
    fs,
    path::{Path, PathBuf},
};

pub struct GitDirectories {
    /// The root of the worktree.
    top: PathBuf,
    /// The git directory of this worktree alone.
    pub own: PathBuf,
    /// The git directory that all worktrees share.
    pub common: PathBuf,
}

impl GitDirectories {
    /// `None` if `root` is not in a repository.
    pub fn of(root: &Path) -> Option<Self> {
        let top = root.ancestors().find(|path| path.join(".git").exists())?;
        let dot_git = top.join(".git");
        let own = if dot_git.is_dir() {
            dot_git
        } else {
            // In a worktree or submodule `.git` is a file with the path.
            let text = fs::read_to_string(&dot_git).ok()?;
            top.join(text.trim().strip_prefix("gitdir:")?.trim())
        };
        let common = match fs::read_to_string(own.join("commondir")) {
            Ok(text) => own.join(text.trim()),
            Err(_) => own.clone(),
        };
        let common = common.canonicalize().ok()?;
        common.join("HEAD").exists().then(|| Self {
            top: top.to_owned(),
            own,
            common,
        })
    }

    /// The path of a project inside the worktree; `None` at its root.
    pub fn inside<'a>(&self, project: &'a Path) -> Option<&'a str> {
        let inside = project.strip_prefix(&self.top).ok()?.to_str()?;
        Some(inside).filter(|path| !path.is_empty())
    }
}
