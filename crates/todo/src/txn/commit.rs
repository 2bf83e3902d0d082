//! Commits a change: prepares all files, checks them once more, and renames
//! them into place.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use kit::{Result, durable};

use super::{CommitOutcome, FileChange, StagedFile, Txn};
use crate::{
    errors,
    files::{
        self, Folder, Stamp, journal,
        numbers::NumberLedger,
        replace::{FileVersion, Replacement, replace, restore},
        write::{PlaceOutcome, PreparedFile},
    },
    model::board::Board,
    state::CounterState,
};

impl Txn<'_> {
    /// Writes all changed files, or none.
    pub(super) fn commit(&mut self) -> Result<CommitOutcome> {
        let mut changed: Vec<(&String, &mut StagedFile)> = self
            .files
            .iter_mut()
            .filter(|(_, staged)| {
                let base = staged.base.as_ref().map(|loaded| &loaded.text);
                base != staged.now.as_ref()
            })
            .collect();
        let sync_ledger = |needs_ledger: bool| match needs_ledger {
            true => NumberLedger::of(&self.folder).sync(),
            false => Ok(()),
        };
        let ledger_failed = |error| errors::ledger(true, error);
        if changed.is_empty() {
            sync_ledger(self.needs_ledger).map_err(ledger_failed)?;
            return Ok(CommitOutcome::Committed(Vec::new()));
        }
        // New files go first, since nothing refers to them yet. The
        // rename of `task.md` makes the change visible.
        changed.sort_by_key(|(name, staged)| order(name, staged));
        let mut steps = Vec::with_capacity(changed.len());
        for (name, staged) in &changed {
            match ReadyFile::new(&self.folder, name, staged)? {
                Some(ready) => steps.push(ready),
                None => return Ok(CommitOutcome::Again),
            }
        }
        // All are written before the first is synced: its sync makes the names of the others
        // durable too, where the file system has a journal.
        for ((name, _), ReadyFile(prepared)) in changed.iter().zip(&mut steps) {
            if let Some(prepared) = prepared {
                let failed = |error| errors::io(&Folder::shown(name), true, error);
                prepared.sync().map_err(failed)?;
            }
        }
        sync_ledger(self.needs_ledger).map_err(ledger_failed)?;
        let journaled = needs_journal(&changed);
        if journaled {
            let written: Vec<journal::Step> = changed
                .iter()
                .map(|(name, staged)| journal::Step {
                    name: (*name).clone(),
                    before: staged.base.as_ref().map(|loaded| loaded.text.to_string()),
                    after: staged.now.as_ref().map(ToString::to_string),
                })
                .collect();
            journal::write(&self.folder, &written)
                .map_err(|error| errors::io(".todo", true, error))?;
        }
        self.issued.are_placed = true;
        let result = place_all(
            self.state,
            &self.folder,
            self.board.as_ref(),
            &mut changed,
            steps,
        );
        if journaled {
            journal::remove(&self.folder).map_err(|error| errors::io(".todo", true, error))?;
        }
        match result? {
            false => {
                self.issued.are_placed = false;
                Ok(CommitOutcome::Again)
            }
            true => {
                let changes = changed
                    .into_iter()
                    .map(|(name, staged)| FileChange {
                        name: name.clone(),
                        before: staged.base.take().map(|loaded| loaded.text),
                        after: staged.now.clone(),
                    })
                    .collect();
                Ok(CommitOutcome::Committed(changes))
            }
        }
    }
}

fn order(name: &str, staged: &StagedFile) -> (u8, bool) {
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

/// Whether a crash halfway would leave a visible inconsistency. A context file
/// without a task is not one.
fn needs_journal(changed: &[(&String, &mut StagedFile)]) -> bool {
    let decisive = changed
        .iter()
        .filter(|(name, staged)| {
            let changes = staged.base.is_some() && staged.now.is_some();
            changes || !name.starts_with("context/")
        })
        .count();
    decisive > 1
}

/// A file's new content, prepared beside it; `None` to delete it.
struct ReadyFile(Option<PreparedFile>);

impl ReadyFile {
    /// `None` if the file changed since it was read.
    fn new(folder: &Folder, name: &str, staged: &StagedFile) -> Result<Option<Self>> {
        let shown = Folder::shown(name);
        let failed = |error| errors::io(&shown, true, error);
        let path = folder.path(name)?;
        if let Some(base) = &staged.base {
            let metadata = match fs::metadata(&path) {
                Ok(metadata) => metadata,
                Err(error) if files::is_missing(&error) => return Ok(None),
                Err(error) => return Err(failed(error)),
            };
            if !files::is_writable(&path, &metadata) {
                return Err(errors::read_only(&shown));
            }
            // After several attempts, changes by others are merged
            // instead.
            if folder.patient && !Stamp::of(&metadata).same_content(&base.stamp) {
                return Ok(None);
            }
        } else if let Some(parent) = path.parent()
            && !parent.is_dir()
        {
            durable::create_directory(parent, 0o777).map_err(failed)?;
        }
        let Some(text) = &staged.now else {
            return Ok(Some(Self(None)));
        };
        PreparedFile::new(&path, text)
            .map(|prepared| Some(Self(Some(prepared))))
            .map_err(failed)
    }
}

/// What was done to one file so far.
enum Step {
    Added(Stamp),
    Replaced(Replacement),
    /// Deleted when dropped.
    TakenOut(PreparedFile),
}

/// `false` if the change has to be repeated. Then all files are as before.
fn place_all(
    state: &CounterState,
    folder: &Folder,
    board: Option<&Arc<Board>>,
    changed: &mut [(&String, &mut StagedFile)],
    prepared: Vec<ReadyFile>,
) -> Result<bool> {
    let mut steps: Vec<Step> = Vec::with_capacity(prepared.len());
    let mut directories: Vec<PathBuf> = Vec::new();
    for ((name, staged), ReadyFile(prepared)) in changed.iter().zip(prepared) {
        let path = folder.path(name)?;
        if let Some(parent) = path.parent()
            && !directories.iter().any(|other| other == parent)
        {
            directories.push(parent.to_owned());
        }
        let Some(step) = place(&path, name, staged, prepared)? else {
            take_back(state, folder, changed, steps)?;
            return Ok(false);
        };
        steps.push(step);
    }
    for directory in directories {
        durable::sync_directory(&directory).map_err(|error| errors::io(".todo", true, error))?;
    }
    // Programs that had one of the files open have finished by now.
    let mut settled: Vec<Step> = Vec::with_capacity(steps.len());
    let mut steps = steps.into_iter();
    for ((name, _), step) in changed.iter().zip(steps.by_ref()) {
        let Step::Replaced(done) = step else {
            settled.push(step);
            continue;
        };
        let path = folder.path(name)?;
        match done.settle(&path, &Folder::shown(name))? {
            Some(done) => settled.push(Step::Replaced(done)),
            None => {
                // Others overwrote this file. All other files
                // are restored.
                let back = settled.into_iter().map(Some).chain([None]);
                take_back_some(state, folder, changed, back.chain(steps.map(Some)))?;
                return Ok(false);
            }
        }
    }
    for ((name, staged), step) in changed.iter_mut().zip(settled) {
        let stamp = match step {
            Step::Added(stamp) => Some(stamp),
            Step::Replaced(done) => {
                staged.now = Some(done.now.text);
                Some(done.now.stamp)
            }
            Step::TakenOut(_) => None,
        };
        remember(state, name, staged, board, stamp);
    }
    Ok(true)
}

/// `None` if somebody else wrote first. Their version stays.
fn place(
    path: &Path,
    name: &str,
    staged: &StagedFile,
    prepared: Option<PreparedFile>,
) -> Result<Option<Step>> {
    let shown = Folder::shown(name);
    let failed = |error| errors::io(&shown, true, error);
    match (&staged.base, &staged.now, prepared) {
        (Some(base), Some(text), Some(prepared)) => {
            let done = replace(path, &shown, FileVersion::read(base), prepared, text)?;
            Ok(done.map(Step::Replaced))
        }
        (Some(base), _, None) => {
            let taken = PreparedFile::take_out(path).map_err(failed)?;
            if taken.is_still(&base.stamp) {
                return Ok(Some(Step::TakenOut(taken)));
            }
            taken.put_back().map_err(failed)?;
            Ok(None)
        }
        (_, _, Some(prepared)) => match prepared.place(None).map_err(failed)? {
            PlaceOutcome::Done { stamp, .. } => Ok(Some(Step::Added(stamp))),
            PlaceOutcome::Raced { .. } => Ok(None),
        },
        (None, _, None) => Ok(None),
    }
}

/// Undoes the steps that were made before one failed.
fn take_back(
    state: &CounterState,
    folder: &Folder,
    changed: &[(&String, &mut StagedFile)],
    steps: Vec<Step>,
) -> Result<()> {
    take_back_some(state, folder, changed, steps.into_iter().map(Some))
}

/// Like [`take_back`]; `None` stands for a file that others overwrote.
fn take_back_some(
    state: &CounterState,
    folder: &Folder,
    changed: &[(&String, &mut StagedFile)],
    steps: impl Iterator<Item = Option<Step>>,
) -> Result<()> {
    for ((name, staged), step) in changed.iter().zip(steps) {
        let shown = Folder::shown(name);
        let failed = |error| errors::io(&shown, true, error);
        let path = folder.path(name)?;
        match (step, &staged.base) {
            (Some(Step::Added(stamp)), _) => {
                let taken = PreparedFile::take_out(&path).map_err(failed)?;
                if !taken.is_still(&stamp) {
                    taken.put_back().map_err(failed)?;
                }
            }
            (Some(Step::Replaced(done)), Some(base)) => {
                restore(&path, &shown, done.now, &base.text)?;
            }
            (Some(Step::TakenOut(taken)), _) => taken.put_back().map_err(failed)?,
            _ => {}
        }
        state.catalog.reports.touch(name);
    }
    Ok(())
}

fn remember(
    state: &CounterState,
    name: &str,
    staged: &StagedFile,
    board: Option<&Arc<Board>>,
    stamp: Option<Stamp>,
) {
    state.wrote(name, stamp);
    if name == files::TASKS
        && let (Some(text), Some(board), Some(stamp)) = (&staged.now, board, stamp)
        && Arc::ptr_eq(text, &board.text)
    {
        state.files.wrote_board(board, stamp);
    }
}
