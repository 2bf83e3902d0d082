//! What all handlers share: the project's files, as far as they have been read.
//!
//! Nothing is read before it is needed, and what was read is used again only
//! while the file on disk is still the same.

use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use jiff::{Timestamp, Zoned, civil::Date, tz::TimeZone};
use kit::{Blocking, Context, Result};

use crate::{
    Settings, errors,
    files::{self, Folder, Loaded, Stamp, lock::PATIENCE, numbers::Place},
    model::{
        TaskId,
        adr::{self, Adr},
        board::{Board, Found, Task},
        numbers::Numbers,
    },
    parallel::on_all,
    search::Catalog,
    undo::Undo,
};

/// Threads that read and write files at once.
const THREADS: usize = 16;

pub struct CounterState {
    pub settings: Settings,
    pub zone: TimeZone,
    folder: Mutex<Option<Folder>>,
    board: Mutex<Option<Read>>,
    adrs: Mutex<HashMap<String, ReadAdr>>,
    /// One writer at a time in this process; the lock on disk is for others.
    pub(crate) writing: Mutex<()>,
    pub(crate) undo: Mutex<Undo>,
    /// What killed processes left has been cleared up.
    pub(crate) tidied: AtomicBool,
    /// For work on the files.
    pub blocking: Blocking,
    pub catalog: Catalog,
    /// More calls will follow: what they may need can be made ready.
    pub(crate) serving: AtomicBool,
    /// The files as this process last left them, so that they are not
    /// announced as somebody else's changes.
    written: Mutex<HashMap<String, Option<Stamp>>>,
}

/// The answer is on its way before anything else takes the processor.
const AFTER_THE_ANSWER: Duration = Duration::from_millis(20);

struct ReadAdr {
    stamp: Stamp,
    settled: bool,
    adr: Arc<Adr>,
}

/// `task.md` as it was last read.
#[derive(Clone)]
struct Read {
    board: Arc<Board>,
    stamp: Stamp,
    /// Read long enough after it was written to trust the times.
    settled: bool,
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is whole at every point where a panic could be.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CounterState {
    pub fn new(settings: Settings) -> Self {
        Self {
            zone: settings.zone(),
            settings,
            folder: Mutex::default(),
            board: Mutex::default(),
            adrs: Mutex::default(),
            writing: Mutex::default(),
            undo: Mutex::default(),
            tidied: AtomicBool::new(false),
            blocking: Blocking::new(THREADS),
            catalog: Catalog::default(),
            serving: AtomicBool::new(false),
            written: Mutex::default(),
        }
    }

    pub fn folder(&self) -> Result<Folder> {
        let mut known = locked(&self.folder);
        if let Some(folder) = known.as_ref()
            && folder.todo.is_dir()
        {
            return Ok(folder.clone());
        }
        let folder = Folder::open(Path::new(&self.settings.root))?;
        *known = Some(folder.clone());
        Ok(folder)
    }

    /// Once the first call has been answered, everything is read for the first
    /// search, on a thread of its own.
    pub(crate) fn look_ahead(self: &Arc<Self>) {
        if !self.serving.swap(false, Ordering::Relaxed) {
            return;
        }
        let state = Arc::downgrade(self);
        let reads = move || {
            thread::sleep(AFTER_THE_ANSWER);
            let Some(state) = state.upgrade() else {
                return;
            };
            // Should that fail, the search will say so.
            if let Ok(folder) = state.folder() {
                let _ = state.catalog.refresh(&folder);
            }
        };
        // Without a thread the first search reads it all.
        let _ = thread::Builder::new()
            .name("todo-index".into())
            .spawn(reads);
    }

    pub fn now(&self, context: &Context) -> Zoned {
        context.clock.now_in(&self.zone)
    }

    pub fn today(&self, context: &Context) -> Date {
        self.now(context).date()
    }

    pub fn when(&self, at: Timestamp) -> String {
        written_out(&at.to_zoned(self.zone.clone()))
    }

    pub fn when_ms(&self, ms: i64) -> String {
        self.when(Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH))
    }

    /// `task.md` as it is now.
    pub fn board(&self) -> Result<Arc<Board>> {
        Ok(self.board_in(&self.folder()?)?.0)
    }

    /// With the file it came from, if there is one.
    pub(crate) fn board_in(&self, folder: &Folder) -> Result<(Arc<Board>, Option<Loaded>)> {
        let known = locked(&self.board).clone();
        let Some(stamp) = folder.stamp(files::TASKS)? else {
            return Ok((Arc::new(Board::empty()), None));
        };
        if let Some(known) = &known
            && known.settled
            && known.stamp == stamp
        {
            return Ok(known.answer());
        }
        let was = known.as_ref().map(|known| &known.board.text);
        let Some(loaded) = folder.read_again(files::TASKS, was)? else {
            return Ok((Arc::new(Board::empty()), None));
        };
        let board = match known {
            Some(known) if Arc::ptr_eq(&known.board.text, &loaded.text) => known.board,
            _ => Arc::new(parse(&loaded.text)?),
        };
        let read = Read {
            board,
            stamp: loaded.stamp,
            settled: loaded.settled,
        };
        *locked(&self.board) = Some(read.clone());
        Ok(read.answer())
    }

    /// Remembers what was just written.
    pub(crate) fn wrote_board(&self, board: &Arc<Board>, stamp: Stamp) {
        *locked(&self.board) = Some(Read {
            board: Arc::clone(board),
            stamp,
            settled: false,
        });
    }

    pub(crate) fn wrote(&self, name: &str, stamp: Option<Stamp>) {
        locked(&self.written).insert(name.to_owned(), stamp);
        self.catalog.touch(name);
    }

    /// Whether the file is as this process left it.
    pub(crate) fn is_own(&self, name: &str, stamp: Option<&Stamp>) -> bool {
        match (locked(&self.written).get(name), stamp) {
            (Some(Some(own)), Some(now)) => own.same_content(now),
            (Some(None), None) => true,
            _ => false,
        }
    }

    /// All records, by number. One changed file is one file read.
    pub fn adrs(&self) -> Result<Vec<Arc<Adr>>> {
        let folder = self.folder()?;
        let mut known = locked(&self.adrs);
        let mut fresh = HashMap::with_capacity(known.len());
        let mut changed = Vec::new();
        for (stem, stamp) in folder.stamped(files::ADRS)? {
            let Some(number) = adr::number_of(&stem) else {
                continue;
            };
            let kept = known
                .remove(&stem)
                .filter(|read| read.settled && read.stamp == stamp);
            match kept {
                Some(kept) => {
                    fresh.insert(stem, kept);
                }
                None => changed.push((stem, number)),
            }
        }
        let read = |part: &[(String, u16)]| -> Result<Vec<(String, ReadAdr)>> {
            let mut read = Vec::with_capacity(part.len());
            for (stem, number) in part {
                // Gone since the directory was read.
                let Some(loaded) = folder.read(&adr_file(stem))? else {
                    continue;
                };
                let adr = ReadAdr {
                    stamp: loaded.stamp,
                    settled: loaded.settled,
                    adr: Arc::new(Adr::parse(stem, *number, &loaded.text)),
                };
                read.push((stem.clone(), adr));
            }
            Ok(read)
        };
        for part in on_all(&changed, changed.len() >= 64, read) {
            fresh.extend(part?);
        }
        let mut all: Vec<Arc<Adr>> = fresh.values().map(|read| Arc::clone(&read.adr)).collect();
        *known = fresh;
        all.sort_by(|one, other| (one.number, &one.stem).cmp(&(other.number, &other.stem)));
        Ok(all)
    }

    /// The one file of that number.
    pub fn adr_stem(&self, field: &str, number: u16) -> Result<String> {
        let stems = self.folder()?.stems(files::ADRS)?;
        let mut found = stems
            .into_iter()
            .filter(|stem| adr::number_of(stem) == Some(number));
        match (found.next(), found.next()) {
            (None, _) => Err(errors::adr_not_found(field, number)),
            (Some(stem), None) => Ok(stem),
            (Some(one), Some(other)) => {
                let all: Vec<String> = [one, other].into_iter().chain(found).collect();
                Err(errors::duplicate_adr(field, number, &all))
            }
        }
    }

    pub fn numbers(&self) -> Result<Place> {
        Ok(Place::of(&self.folder()?))
    }

    /// The ids under which items without one are listed, in their order. They
    /// are promised in the ledger, so that the same item has the same id next
    /// time; `None` when that cannot be written.
    pub fn promised<'b>(&self, board: &'b Board) -> Vec<(&'b Task, Option<TaskId>)> {
        let items = board.keys_without_id();
        if items.is_empty() {
            return Vec::new();
        }
        let live = live(board);
        let Ok(place) = self.numbers() else {
            return items.into_iter().map(|(_, task)| (task, None)).collect();
        };
        let mut given = place.look();
        let holds = |given: &crate::model::numbers::Given, key: &str| {
            given
                .promised
                .get(key)
                .copied()
                .filter(|number| !live.contains(*number))
        };
        if items.iter().any(|(key, _)| holds(&given, key).is_none()) {
            let promised = place.change(Instant::now() + PATIENCE, |now| {
                now.tasks.extend(board.mentioned());
                for (key, _) in &items {
                    if holds(now, key).is_none()
                        && let Some(number) = now.tasks.next(&live)
                    {
                        now.tasks.insert(number);
                        now.promised.insert(key.clone(), number);
                    }
                }
                now.clone()
            });
            if let Ok(Some(now)) = promised {
                given = now;
            }
        }
        items
            .into_iter()
            .map(|(key, task)| (task, holds(&given, &key).map(TaskId)))
            .collect()
    }

    /// The task of that id, be it written in its line or promised to it.
    pub fn find<'b>(&self, board: &'b Board, field: &str, id: TaskId) -> Result<&'b Task> {
        match board.find(id) {
            Found::One(task) => return Ok(task),
            Found::Several(lines) => return Err(errors::duplicate_task(field, id, &lines)),
            Found::None => {}
        }
        let items = board.keys_without_id();
        if !items.is_empty() {
            let given = self.numbers()?.look();
            let found = items
                .into_iter()
                .find(|(key, _)| given.promised.get(key) == Some(&id.0));
            if let Some((_, task)) = found {
                return Ok(task);
            }
        }
        Err(errors::task_not_found(field, &id.to_string()))
    }
}

impl Read {
    fn answer(&self) -> (Arc<Board>, Option<Loaded>) {
        let loaded = Loaded {
            text: Arc::clone(&self.board.text),
            stamp: self.stamp,
            settled: self.settled,
        };
        (Arc::clone(&self.board), Some(loaded))
    }
}

pub(crate) fn parse(text: &Arc<str>) -> Result<Board> {
    Board::parse(Arc::clone(text))
        .map_err(|why| errors::unreadable(&Folder::shown(files::TASKS), &why.0))
}

/// The numbers of tasks that exist.
pub(crate) fn live(board: &Board) -> Numbers {
    let mut live = Numbers::default();
    live.extend(board.tasks.iter().filter_map(|task| task.id).map(|id| id.0));
    live
}

pub fn context_file(id: TaskId) -> String {
    format!("{}/{id}.md", files::CONTEXTS)
}

pub fn adr_file(stem: &str) -> String {
    format!("{}/{stem}.md", files::ADRS)
}

pub fn written_out(at: &Zoned) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}
