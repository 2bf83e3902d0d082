//! A change put in its place: all files prepared, looked at once more, renamed.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use kit::Result;

use super::{End, Staged, Txn};
use crate::{
    errors,
    files::{
        self, Folder, Stamp,
        journal::{self, Step},
        write::{Placed, Prepared, sync_directory},
    },
    model::{board::Board, merge},
    project::Project,
    undo::FileChange,
};

impl Txn<'_> {
    /// Puts everything in its place.
    pub(super) fn commit(&mut self) -> Result<End> {
        let mut changed: Vec<(&String, &mut Staged)> = self
            .files
            .iter_mut()
            .filter(|(_, staged)| {
                let base = staged.base.as_ref().map(|loaded| &loaded.text);
                base != staged.now.as_ref()
            })
            .collect();
        if changed.is_empty() {
            return Ok(End::Committed(Vec::new()));
        }
        // New files first: until something points to them they do no harm. The
        // change of `task.md` is the moment at which it has happened.
        changed.sort_by_key(|(name, staged)| order(name, staged));
        let mut steps = Vec::with_capacity(changed.len());
        for (name, staged) in &changed {
            match Ready::new(&self.folder, name, staged)? {
                Some(ready) => steps.push(ready),
                None => return Ok(End::Again),
            }
        }
        let journaled = needs_journal(&changed);
        if journaled {
            let written: Vec<Step> = changed
                .iter()
                .map(|(name, staged)| Step {
                    name: (*name).clone(),
                    before: staged.base.as_ref().map(|loaded| loaded.text.to_string()),
                    after: staged.now.as_ref().map(ToString::to_string),
                })
                .collect();
            journal::write(&self.folder, &written)
                .map_err(|error| errors::io(".todo", true, error))?;
        }
        let result = place_all(
            self.project,
            &self.folder,
            self.board.as_ref(),
            &mut changed,
            steps,
        );
        if journaled {
            journal::remove(&self.folder).map_err(|error| errors::io(".todo", true, error))?;
        }
        match result? {
            false => Ok(End::Again),
            true => {
                let changes = changed
                    .into_iter()
                    .map(|(name, staged)| FileChange {
                        name: name.clone(),
                        before: staged.base.take().map(|loaded| loaded.text),
                        after: staged.now.clone(),
                    })
                    .collect();
                Ok(End::Committed(changes))
            }
        }
    }
}

fn order(name: &str, staged: &Staged) -> (u8, bool) {
    let kind = match (&staged.base, &staged.now) {
        (None, _) => 0,
        (Some(_), Some(_)) => 1,
        (Some(_), None) => 2,
    };
    (
        if name == files::TASKS && kind == 0 {
            1
        } else {
            kind
        },
        name == files::TASKS,
    )
}

/// Whether being killed halfway would leave something that shows. A context
/// that no task has does not.
fn needs_journal(changed: &[(&String, &mut Staged)]) -> bool {
    let decisive = changed
        .iter()
        .filter(|(name, staged)| {
            let changes = staged.base.is_some() && staged.now.is_some();
            changes || !name.starts_with("context/")
        })
        .count();
    decisive > 1
}

/// A file's new content, waiting beside its place; `None` to take it away.
struct Ready(Option<Prepared>);

impl Ready {
    /// `None` when the file is no longer the one that was read.
    fn new(folder: &Folder, name: &str, staged: &Staged) -> Result<Option<Self>> {
        let shown = Folder::shown(name);
        let failed = |error| errors::io(&shown, true, error);
        let path = folder.path(name)?;
        if let Some(base) = &staged.base {
            let metadata = match fs::metadata(&path) {
                Ok(metadata) => metadata,
                Err(error) if files::is_missing(&error) => return Ok(None),
                Err(error) => return Err(failed(error)),
            };
            if metadata.permissions().readonly() {
                return Err(errors::read_only(&shown));
            }
            if !Stamp::of(&metadata).same_content(&base.stamp) {
                return Ok(None);
            }
        } else if let Some(parent) = path.parent()
            && !parent.is_dir()
        {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        let Some(text) = &staged.now else {
            return Ok(Some(Self(None)));
        };
        Prepared::new(&path, text, true)
            .map(|prepared| Some(Self(Some(prepared))))
            .map_err(failed)
    }
}

/// `false` when it has to be made again; then everything is as it was.
fn place_all(
    project: &Project,
    folder: &Folder,
    board: Option<&Arc<Board>>,
    changed: &mut [(&String, &mut Staged)],
    steps: Vec<Ready>,
) -> Result<bool> {
    let mut directories: Vec<PathBuf> = Vec::new();
    let mut placed: Vec<Option<Stamp>> = Vec::new();
    let mut replaced: Vec<(usize, Stamp, Prepared)> = Vec::new();
    for (at, Ready(prepared)) in steps.into_iter().enumerate() {
        let Some((name, staged)) = changed.get_mut(at) else {
            continue;
        };
        let shown = Folder::shown(name);
        let failed = |error| errors::io(&shown, true, error);
        let path = folder.path(name)?;
        if let Some(parent) = path.parent()
            && !directories.iter().any(|other| other == parent)
        {
            directories.push(parent.to_owned());
        }
        let Some(prepared) = prepared else {
            fs::remove_file(&path).map_err(failed)?;
            project.wrote(name, None);
            placed.push(None);
            continue;
        };
        let expected = staged.base.as_ref().map(|loaded| loaded.stamp);
        let stamp = match prepared.place(expected.as_ref()).map_err(failed)? {
            Placed::Done { stamp, old } => {
                if let (Some(old), Some(expected)) = (old, expected) {
                    replaced.push((at, expected, old));
                }
                Some(stamp)
            }
            Placed::Raced {
                theirs: Some(theirs),
            } => join(staged, theirs, &path, &shown)?,
            Placed::Raced { theirs: None } => None,
        };
        let Some(stamp) = stamp else {
            take_back(project, folder, changed, &placed)?;
            return Ok(false);
        };
        remember(project, name, staged, board, stamp);
        placed.push(Some(stamp));
    }
    for directory in directories {
        sync_directory(&directory).map_err(|error| errors::io(".todo", true, error))?;
    }
    // Whoever had the old file open may have written into it after it was taken
    // out; by now that is done.
    for (at, expected, old) in replaced {
        if old.is_still(&expected) {
            continue;
        }
        let Some((name, staged)) = changed.get_mut(at) else {
            continue;
        };
        let path = folder.path(name)?;
        let Some(stamp) = join(staged, old, &path, &Folder::shown(name))? else {
            if let Some(own) = placed.get_mut(at) {
                *own = None;
            }
            take_back(project, folder, changed, &placed)?;
            return Ok(false);
        };
        remember(project, name, staged, board, stamp);
    }
    Ok(true)
}

/// Undoes the first steps of a change whose next one met somebody else's.
/// `placed` says what was put where; what was taken away comes back too.
fn take_back(
    project: &Project,
    folder: &Folder,
    changed: &[(&String, &mut Staged)],
    placed: &[Option<Stamp>],
) -> Result<()> {
    for ((name, staged), stamp) in changed.iter().zip(placed) {
        let shown = Folder::shown(name);
        let failed = |error| errors::io(&shown, true, error);
        let path = folder.path(name)?;
        match (&staged.base, stamp) {
            (None, Some(_)) => fs::remove_file(&path).map_err(failed)?,
            (Some(base), _) if stamp.is_some() || staged.now.is_none() => {
                let prepared = Prepared::new(&path, &base.text, true).map_err(failed)?;
                let placed = prepared.place(stamp.as_ref()).map_err(failed)?;
                if let Placed::Raced {
                    theirs: Some(theirs),
                } = placed
                {
                    theirs.put_back().map_err(failed)?;
                }
            }
            _ => {}
        }
        project.catalog.touch(name);
    }
    Ok(())
}

fn remember(
    project: &Project,
    name: &str,
    staged: &Staged,
    board: Option<&Arc<Board>>,
    stamp: Stamp,
) {
    project.wrote(name, Some(stamp));
    if name == files::TASKS
        && let (Some(text), Some(board)) = (&staged.now, board)
        && Arc::ptr_eq(text, &board.text)
    {
        project.wrote_board(board, stamp);
    }
}

/// Somebody saved between our look and our rename: their change and ours are
/// brought together. `None` when they do not go together; theirs is back then.
fn join(staged: &mut Staged, theirs: Prepared, path: &Path, shown: &str) -> Result<Option<Stamp>> {
    let failed = |error| errors::io(shown, true, error);
    let base = staged.base.as_ref().map(|loaded| &loaded.text);
    let ours = staged.now.as_deref().unwrap_or_default();
    let merged = match files::read(theirs.path(), shown, base, true) {
        Ok(Some(saved)) => {
            let base = base.map_or("", |base| base);
            merge::merge(base, ours, &saved.text).ok()
        }
        _ => None,
    };
    let Some(merged) = merged else {
        theirs.put_back().map_err(failed)?;
        return Ok(None);
    };
    let current = Stamp::of(&fs::metadata(path).map_err(failed)?);
    let prepared = Prepared::new(path, &merged, true).map_err(failed)?;
    match prepared.place(Some(&current)).map_err(failed)? {
        Placed::Done { stamp, .. } => {
            staged.now = Some(merged.into());
            Ok(Some(stamp))
        }
        Placed::Raced { theirs: newer } => {
            // Somebody saved over ours within this moment; what they saw of ours
            // they kept or not, and theirs stands.
            if let Some(newer) = newer {
                newer.put_back().map_err(failed)?;
            }
            Ok(None)
        }
    }
}
