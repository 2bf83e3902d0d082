//! One change: read what it needs, edit in memory, put all of it in its place.
//! When a file changed on disk meanwhile, the change is made again on what is
//! there now.

mod commit;
mod retry;
mod revert;

use std::{
    collections::BTreeMap,
    fs,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use jiff::Zoned;
use kit::{Context, Result, context::Change};

use crate::{
    addresses, errors,
    files::{
        self, Folder, Loaded, journal,
        lock::{Lock, PATIENCE},
        names::{is_adr, stem_in},
        write::sweep,
    },
    index_file,
    model::{
        MOST, TaskId,
        board::{Board, Task},
        numbers::{Given, Numbers},
    },
    project::parse,
    state::{CounterState, written_out},
    sync::locked,
    task_ids::{self, live},
    undo::{FileChange, RecordedChange},
};

/// How often a change is made again because somebody else wrote first. The last
/// times it does not wait for them to finish: what they write while we do is
/// brought together with ours.
const ATTEMPTS: usize = 16;
const PATIENT_ATTEMPTS: usize = 4;

pub struct Txn<'a> {
    pub state: &'a CounterState,
    pub context: &'a Context,
    folder: Folder,
    board: Option<Arc<Board>>,
    files: BTreeMap<String, Staged>,
    /// What people call this change: `create_task T012`.
    label: String,
    issued: Issued,
}

struct Staged {
    base: Option<Loaded>,
    now: Option<Arc<str>>,
}

/// Numbers taken by an attempt that has to be made again.
#[derive(Default)]
struct Issued {
    tasks: Vec<u16>,
    adrs: Vec<u16>,
    reused: (usize, usize),
}

enum End {
    Committed(Vec<FileChange>),
    Again,
}

impl CounterState {
    /// Makes a change that can be undone.
    pub fn write<O>(
        &self,
        context: &Context,
        change: impl Fn(&mut Txn<'_>) -> Result<O>,
    ) -> Result<O> {
        self.run(context, change, true)
    }

    /// Makes a change that is not remembered.
    pub fn write_unrecorded<O>(
        &self,
        context: &Context,
        change: impl Fn(&mut Txn<'_>) -> Result<O>,
    ) -> Result<O> {
        self.run(context, change, false)
    }

    fn run<O>(
        &self,
        context: &Context,
        change: impl Fn(&mut Txn<'_>) -> Result<O>,
        record: bool,
    ) -> Result<O> {
        let _turn = locked(&self.writing);
        let folder = self.files.folder()?;
        let made = !folder.todo.is_dir();
        if made {
            fs::create_dir(&folder.todo).map_err(|error| errors::io(".todo", true, error))?;
        }
        let result = self.run_in(&folder, context, change, record);
        if made && result.is_err() {
            // Only succeeds while it is empty.
            let _ = fs::remove_dir(&folder.todo);
        }
        result
    }

    fn run_in<O>(
        &self,
        folder: &Folder,
        context: &Context,
        change: impl Fn(&mut Txn<'_>) -> Result<O>,
        record: bool,
    ) -> Result<O> {
        let _lock = lock(folder, context)?;
        tidy(self, folder)?;
        let mut issued = Issued::default();
        for attempt in 0..ATTEMPTS {
            context.check_cancelled()?;
            issued.reused = (0, 0);
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
                issued: std::mem::take(&mut issued),
            };
            let output = change(&mut txn)?;
            match txn.commit()? {
                End::Committed(changes) => {
                    let label = std::mem::take(&mut txn.label);
                    txn.after(&changes);
                    if record && !changes.is_empty() {
                        locked(&self.undo)
                            .push(&context.caller.id, RecordedChange { label, changes });
                    }
                    return Ok(output);
                }
                End::Again => issued = txn.issued,
            }
        }
        Err(errors::conflict(&Folder::shown(files::TASKS), None))
    }
}

fn lock(folder: &Folder, context: &Context) -> Result<Lock> {
    let patience = Instant::now() + PATIENCE;
    // A little before the caller's own limit, so that the answer says why.
    let until = context.deadline.map_or(patience, |deadline| {
        let early = deadline.checked_sub(Duration::from_millis(100));
        early.unwrap_or(deadline).min(patience)
    });
    Lock::take(&folder.todo, until)
        .map_err(|error| errors::io(".todo", true, error))?
        .ok_or_else(|| errors::busy(".todo"))
}

/// Finishes and clears up what a killed process left.
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
        self.files.insert(files::TASKS.into(), Staged { base, now });
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

    fn staged(&mut self, name: &str) -> Result<&mut Staged> {
        if !self.files.contains_key(name) {
            let base = self.folder.read(name)?;
            let now = base.as_ref().map(|loaded| Arc::clone(&loaded.text));
            self.files.insert(name.to_owned(), Staged { base, now });
        }
        self.files
            .get_mut(name)
            .ok_or_else(|| kit::Error::internal("a file that was just read is gone"))
    }

    /// The file as this change has left it so far.
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

    /// `true` when there was such a file.
    pub fn delete(&mut self, name: &str) -> Result<bool> {
        if name == files::TASKS {
            self.board = Some(Arc::new(Board::empty()));
        }
        Ok(self.staged(name)?.now.take().is_some())
    }

    /// Stems of the records there are, with those this change makes.
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
        task_ids::find(&self.folder, board, field, id)
    }

    pub fn new_task_id(&mut self) -> Result<TaskId> {
        let board = self.board()?;
        if board.tasks.len() >= usize::from(MOST) {
            return Err(errors::task_limit());
        }
        let live = live(&board);
        if let Some(number) = self.issued.tasks.get(self.issued.reused.0).copied()
            && !live.contains(number)
        {
            self.issued.reused.0 += 1;
            return Ok(TaskId(number));
        }
        let contexts = self.folder.stems(files::CONTEXTS)?;
        let used = contexts
            .iter()
            .filter_map(|stem| TaskId::parse(stem))
            .map(|id| id.0);
        let used: Vec<u16> = used.chain(board.mentioned()).collect();
        let number = self
            .draw(move |given| {
                given.tasks.extend(used);
                let number = given.tasks.next(&live)?;
                given.tasks.insert(number);
                Some(number)
            })?
            .ok_or_else(errors::task_limit)?;
        self.issued.tasks.push(number);
        self.issued.reused.0 = self.issued.tasks.len();
        Ok(TaskId(number))
    }

    pub fn new_adr_number(&mut self) -> Result<u16> {
        let mut live = Numbers::default();
        let stems = self.adr_stems()?;
        live.extend(
            stems
                .iter()
                .filter_map(|stem| crate::model::adr::number_of(stem)),
        );
        if let Some(number) = self.issued.adrs.get(self.issued.reused.1).copied()
            && !live.contains(number)
        {
            self.issued.reused.1 += 1;
            return Ok(number);
        }
        let number = self
            .draw(move |given| {
                given.adrs.join(&live);
                let number = given.adrs.next(&live)?;
                given.adrs.insert(number);
                Some(number)
            })?
            .ok_or_else(errors::adr_limit)?;
        self.issued.adrs.push(number);
        self.issued.reused.1 = self.issued.adrs.len();
        Ok(number)
    }

    fn draw(&self, draw: impl FnOnce(&mut Given) -> Option<u16>) -> Result<Option<u16>> {
        let place = files::numbers::Place::of(&self.folder);
        place
            .change(Instant::now() + PATIENCE, draw)
            .map_err(|error| errors::io("The ledger of numbers", true, error))?
            .ok_or_else(|| errors::busy("the ledger of numbers"))
    }

    /// Everything that follows from a change but is not part of it.
    fn after(&self, changes: &[FileChange]) {
        if changes.is_empty() {
            return;
        }
        let mut listed = false;
        for change in changes {
            listed |= change.before.is_some() != change.after.is_some();
            for uri in addresses::uris_of(&change.name) {
                self.context.changed(Change::Resource(uri));
            }
        }
        if listed {
            self.context.changed(Change::ResourceList);
        }
        let tasks = changes.iter().find(|change| change.name == files::TASKS);
        // What was merged at the last moment has not been read yet.
        let board = tasks.and_then(|change| match (&change.after, &self.board) {
            (Some(text), Some(board)) if Arc::ptr_eq(text, &board.text) => Some(Arc::clone(board)),
            _ => Some(self.state.files.board_in(&self.folder).ok()?.0),
        });
        let adrs = changes.iter().any(|change| is_adr(&change.name));
        if index_file::refresh(self.state, &self.folder, board.as_deref(), adrs) {
            for uri in addresses::uris_of(files::INDEX) {
                self.context.changed(Change::Resource(uri));
            }
        }
    }
}
