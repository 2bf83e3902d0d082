//! A transaction: reads files, edits them in memory and writes all of them. If
//! a file changed on disk meanwhile, the change is repeated on the new content.

mod commit;
mod numbers;
mod reserved;
mod retry;
mod undo;

use std::{
    collections::BTreeMap,
    fs,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use jiff::Zoned;
use kit::{Context, Result, Warning, context::Change};

use self::reserved::ReservedNumbers;
use crate::{
    errors,
    files::{
        self, Folder, LoadedFile, journal,
        lock::{Lock, PATIENCE},
        names::{is_adr, stem_in},
        undo_history::UndoHistory,
        write::sweep,
    },
    index_file,
    model::{
        TaskId,
        board::{Board, Task},
    },
    project::parse,
    state::{CounterState, written_out},
    sync::locked,
    task_lookup, uris,
};

/// How often a change is tried while others write. Only the first attempts wait
/// for them to finish; the later ones merge their changes with ours.
const ATTEMPTS: usize = 16;
const PATIENT_ATTEMPTS: usize = 4;

pub struct Txn<'a> {
    pub state: &'a CounterState,
    pub context: &'a Context,
    folder: Folder,
    board: Option<Arc<Board>>,
    files: BTreeMap<String, StagedFile>,
    /// Describes the change: `create_task T012`.
    label: String,
    /// Names the change, so that it can be undone.
    change_id: String,
    /// The change that an earlier call with the same key made, instead of this
    /// one.
    earlier_change: Option<String>,
    warnings: Vec<Warning>,
    issued: &'a mut ReservedNumbers,
    /// Whether this change puts something into the ledger that the files do not have: the number
    /// of a deleted task, or an idempotency key.
    needs_ledger: bool,
}

/// A finished change.
pub struct Written<O> {
    pub output: O,
    /// `None` if nothing changed, or if it cannot be undone.
    pub change_id: Option<String>,
    pub warnings: Vec<Warning>,
}

/// Whether `undo` without an id may undo a change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum UndoScope {
    LastChange,
    ByIdOnly,
}

struct StagedFile {
    base: Option<LoadedFile>,
    now: Option<Arc<str>>,
}

struct FileChange {
    name: String,
    before: Option<Arc<str>>,
    after: Option<Arc<str>>,
}

enum CommitOutcome {
    Committed(Vec<FileChange>),
    Again,
}

impl CounterState {
    /// Makes a change that can be undone.
    pub fn write<O>(
        &self,
        context: &Context,
        scope: UndoScope,
        change: impl Fn(&mut Txn<'_>) -> Result<O>,
    ) -> Result<Written<O>> {
        let _turn = locked(&self.writing);
        let folder = self.files.folder()?;
        let made = !folder.todo.is_dir();
        if made {
            fs::create_dir(&folder.todo)
                .and_then(|()| kit::durable::sync_name(&folder.todo))
                .map_err(|error| errors::io(".todo", true, error))?;
        }
        let result = self.write_in(&folder, context, scope, change);
        if made && result.is_err() {
            // Only succeeds if it is empty.
            let _ = fs::remove_dir(&folder.todo);
        }
        result
    }

    fn write_in<O>(
        &self,
        folder: &Folder,
        context: &Context,
        scope: UndoScope,
        change: impl Fn(&mut Txn<'_>) -> Result<O>,
    ) -> Result<Written<O>> {
        let _lock = lock(folder, context)?;
        tidy(self, folder)?;
        let change_id = UndoHistory::new_id();
        let mut issued = ReservedNumbers::default();
        let written = self.attempt(folder, context, scope, change, &change_id, &mut issued);
        if written.is_err() {
            issued.withdraw(folder, &change_id);
        }
        written
    }

    fn attempt<O>(
        &self,
        folder: &Folder,
        context: &Context,
        scope: UndoScope,
        change: impl Fn(&mut Txn<'_>) -> Result<O>,
        change_id: &str,
        issued: &mut ReservedNumbers,
    ) -> Result<Written<O>> {
        for attempt in 0..ATTEMPTS {
            issued.start_attempt();
            context.check_cancelled()?;
            let mut txn = Txn {
                state: self,
                context,
                folder: Folder {
                    patient: attempt < PATIENT_ATTEMPTS,
                    ..folder.clone()
                },
                board: None,
                files: BTreeMap::new(),
                label: String::new(),
                change_id: change_id.to_owned(),
                earlier_change: None,
                warnings: Vec::new(),
                issued: &mut *issued,
                needs_ledger: false,
            };
            let output = change(&mut txn)?;
            if let CommitOutcome::Committed(changes) = txn.commit()? {
                txn.after(&changes);
                return Ok(Written {
                    change_id: txn.record(&changes, scope),
                    output,
                    warnings: txn.warnings,
                });
            }
        }
        Err(errors::conflict(&Folder::shown(files::TASKS)))
    }
}

fn lock(folder: &Folder, context: &Context) -> Result<Lock> {
    let patience = Instant::now() + PATIENCE;
    // Gives up shortly before the caller's deadline, so that the error can
    // be reported.
    let until = context.deadline.map_or(patience, |deadline| {
        let early = deadline.checked_sub(Duration::from_millis(100));
        early.unwrap_or(deadline).min(patience)
    });
    Lock::take(&folder.todo, until)
        .map_err(|error| errors::io(".todo", true, error))?
        .ok_or_else(|| errors::busy(".todo"))
}

/// Finishes the change of a killed process and deletes its temporary files.
fn tidy(state: &CounterState, folder: &Folder) -> Result<()> {
    if journal::path(folder).exists() {
        journal::recover(folder).map_err(|error| errors::io(".todo", true, error))?;
    }
    if !state.swept.swap(true, Ordering::Relaxed) {
        for directory in ["", files::ADRS, files::CONTEXTS] {
            sweep(&folder.todo.join(directory));
        }
    }
    Ok(())
}

impl Txn<'_> {
    pub fn now(&self) -> Zoned {
        self.state.now(self.context)
    }

    pub fn now_text(&self) -> String {
        written_out(&self.now())
    }

    /// Tells the caller something besides the answer.
    pub fn warn(&mut self, warning: Warning) {
        self.warnings.push(warning);
    }

    pub fn label(&mut self, label: impl Into<String>) {
        if !self.label.is_empty() {
            self.label.push_str(", ");
        }
        self.label.push_str(&label.into());
    }

    pub fn board(&mut self) -> Result<Arc<Board>> {
        if let Some(board) = &self.board {
            return Ok(Arc::clone(board));
        }
        let (board, base) = self.state.files.board_in(&self.folder)?;
        let now = base.as_ref().map(|loaded| Arc::clone(&loaded.text));
        self.files
            .insert(files::TASKS.into(), StagedFile { base, now });
        self.board = Some(Arc::clone(&board));
        Ok(board)
    }

    pub fn set_board(&mut self, board: Board) {
        let text = Arc::clone(&board.text);
        if let Some(staged) = self.files.get_mut(files::TASKS) {
            staged.now = Some(text);
        }
        self.board = Some(Arc::new(board));
    }

    fn staged(&mut self, name: &str) -> Result<&mut StagedFile> {
        if !self.files.contains_key(name) {
            let base = self.folder.read(name)?;
            let now = base.as_ref().map(|loaded| Arc::clone(&loaded.text));
            self.files.insert(name.to_owned(), StagedFile { base, now });
        }
        self.files
            .get_mut(name)
            .ok_or_else(|| kit::Error::internal("a file that was just read is gone"))
    }

    /// The file's text in this transaction.
    pub fn text(&mut self, name: &str) -> Result<Option<Arc<str>>> {
        Ok(self.staged(name)?.now.clone())
    }

    pub fn put(&mut self, name: &str, text: impl Into<Arc<str>>) -> Result<()> {
        let text = text.into();
        if name == files::TASKS {
            self.board()?;
            self.board = Some(Arc::new(parse(&text)?));
        }
        self.staged(name)?.now = Some(text);
        Ok(())
    }

    /// `true` if the file existed.
    pub fn delete(&mut self, name: &str) -> Result<bool> {
        if name == files::TASKS {
            self.board = Some(Arc::new(Board::empty()));
        }
        Ok(self.staged(name)?.now.take().is_some())
    }

    /// Names of all records in this transaction, without `.md`.
    pub fn adr_stems(&mut self) -> Result<Vec<String>> {
        let mut stems = self.folder.stems(files::ADRS)?;
        for (name, staged) in &self.files {
            let Some(stem) = stem_in(files::ADRS, name) else {
                continue;
            };
            stems.retain(|other| other != stem);
            if staged.now.is_some() {
                stems.push(stem.to_owned());
            }
        }
        Ok(stems)
    }

    pub fn find<'b>(&self, board: &'b Board, field: &str, id: TaskId) -> Result<&'b Task> {
        task_lookup::find(&self.folder, board, field, id)
    }

    /// Announces a change and updates the index page.
    fn after(&self, changes: &[FileChange]) {
        if changes.is_empty() {
            return;
        }
        let mut listed = false;
        for change in changes {
            listed |= change.before.is_some() != change.after.is_some();
            for uri in uris::uris_of(&change.name) {
                self.context.changed(Change::Resource(uri));
            }
        }
        if listed {
            self.context.changed(Change::ResourceList);
        }
        let tasks = changes.iter().find(|change| change.name == files::TASKS);
        // A text that was merged during the commit is not parsed yet.
        let board = tasks.and_then(|change| match (&change.after, &self.board) {
            (Some(text), Some(board)) if Arc::ptr_eq(text, &board.text) => Some(Arc::clone(board)),
            _ => Some(self.state.files.board_in(&self.folder).ok()?.0),
        });
        let adrs = changes.iter().any(|change| is_adr(&change.name));
        if index_file::refresh(self.state, &self.folder, board.as_deref(), adrs) {
            for uri in uris::uris_of(files::INDEX) {
                self.context.changed(Change::Resource(uri));
            }
        }
    }
}
