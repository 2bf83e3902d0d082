//! Watches for changes by people and other processes. It watches directories,
//! since editors save by renaming a new file over the old one.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, Weak,
        atomic::Ordering,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use kit::{
    BoxFuture, Context, Result,
    context::Change,
    counter::{Announce, Background},
    time::Clock,
};
use notify::{
    Config, Event, EventKind, EventKindMask, RecommendedWatcher, RecursiveMode, Watcher as _,
};

use crate::{
    files::{self, Folder, lock::Lock, names::is_adr},
    index_file,
    model::edit,
    search::Fence,
    state::CounterState,
    sync::locked,
    task_lookup::PromisedIds,
    txn::UndoScope,
    uris,
};

/// A save causes several events. They are announced together after this much
/// quiet, or at the latest after the longer time.
const QUIET: Duration = Duration::from_millis(20);
const AT_LATEST: Duration = Duration::from_millis(200);

pub struct Watch {
    state: Arc<CounterState>,
    running: Mutex<Option<Running>>,
}

struct Running {
    stop: Sender<Message>,
    thread: JoinHandle<()>,
}

enum Message {
    Event {
        event: notify::Result<Event>,
        /// `false` if something may not be watched after this event.
        is_watched: bool,
    },
    Stop,
}

impl Watch {
    pub fn new(state: &Arc<CounterState>) -> Self {
        Self {
            state: Arc::clone(state),
            running: Mutex::default(),
        }
    }
}

impl Background for Watch {
    fn start(&self, announce: Announce) {
        let (sender, receiver) = mpsc::channel();
        self.state.index_after_call.store(true, Ordering::Relaxed);
        let state = Arc::clone(&self.state);
        let own = sender.clone();
        let thread = thread::Builder::new()
            .name("todo-watch".into())
            .spawn(move || {
                if let Err(error) = run(&state, &announce, own, &receiver) {
                    tracing::warn!(%error, "could not watch .todo; changes by others are not announced");
                }
                state.catalog.reports.set_fence(None);
            });
        match thread {
            Ok(thread) => {
                *locked(&self.running) = Some(Running {
                    stop: sender,
                    thread,
                });
            }
            Err(error) => {
                tracing::warn!(%error, "could not watch .todo; changes by others are not announced")
            }
        }
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        let running = locked(&self.running).take();
        Box::pin(async move {
            let Some(Running { stop, thread }) = running else {
                return;
            };
            // Fails if the thread has already ended.
            let _ = stop.send(Message::Stop);
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        })
    }
}

struct Watcher<'a> {
    state: &'a CounterState,
    announce: &'a Announce,
    root: PathBuf,
    todo: PathBuf,
    system: RecommendedWatcher,
    /// See `search/reports.rs`.
    fence: Option<Fence>,
    watching: bool,
    /// Existing resources, to detect changes of their list.
    known: BTreeSet<String>,
}

fn run(
    state: &Arc<CounterState>,
    announce: &Announce,
    sender: Sender<Message>,
    receiver: &Receiver<Message>,
) -> notify::Result<()> {
    let root = Path::new(&state.settings.root).canonicalize()?;
    // Reads are not reported, since we read files all the time ourselves.
    let kinds = EventKindMask::CORE | EventKindMask::ACCESS_CLOSE;
    let todo = root.join(".todo");
    let fence = Fence::new();
    let reporter = Reporter {
        state: Arc::downgrade(state),
        todo: todo.clone(),
        fence: fence.clone(),
        sender,
    };
    let system = RecommendedWatcher::new(
        move |event| reporter.report(event),
        Config::default().with_event_kinds(kinds),
    )?;
    let mut watcher = Watcher {
        state,
        announce,
        todo,
        root,
        system,
        fence,
        watching: false,
        known: BTreeSet::new(),
    };
    // Watches the root, without subfolders, to notice a new or deleted
    // `.todo`.
    let root = watcher.root.clone();
    watcher.system.watch(&root, RecursiveMode::NonRecursive)?;
    watcher.watch_fence();
    watcher.watch_todo();
    watcher.known = watcher.existing();
    if state.settings.number_items {
        watcher.number_items();
    }
    watcher.listen(receiver);
    Ok(())
}

/// Passes events on, and reports them to the search at once.
struct Reporter {
    state: Weak<CounterState>,
    todo: PathBuf,
    fence: Option<Fence>,
    sender: Sender<Message>,
}

impl Reporter {
    fn report(&self, event: notify::Result<Event>) {
        let Some(state) = self.state.upgrade() else {
            return;
        };
        let reports = &state.catalog.reports;
        let mut is_watched = event.as_ref().is_ok_and(|event| !event.need_rescan());
        let mut is_fence = false;
        // Our own temporary files cause most of the events.
        let mut concerns_us = event.as_ref().map_or(true, Event::need_rescan);
        for path in event.iter().flat_map(|event| &event.paths) {
            if let Some(fence) = &self.fence
                && path.starts_with(fence.directory())
            {
                fence
                    .number(path)
                    .into_iter()
                    .for_each(|number| reports.passed(number));
                is_fence = true;
                continue;
            }
            match name_in(&self.todo, path) {
                Some(name) => {
                    reports.touch(&name);
                    // A whole folder may have been created or deleted.
                    is_watched &= is_markdown(&name);
                    concerns_us = true;
                }
                None if *path == self.todo => {
                    is_watched = false;
                    concerns_us = true;
                }
                None => {}
            }
        }
        if is_fence || !concerns_us {
            return;
        }
        if !is_watched {
            reports.unwatched();
        }
        // Fails if the receiver is gone.
        let _ = self.sender.send(Message::Event { event, is_watched });
    }
}

fn is_markdown(name: &str) -> bool {
    name.ends_with(".md")
}

/// The name of a file in `.todo/`, unless it is hidden.
fn name_in(todo: &Path, path: &Path) -> Option<String> {
    let name = path.strip_prefix(todo).ok()?.to_str()?.replace('\\', "/");
    let hidden = name.split('/').any(|part| part.starts_with('.'));
    (!hidden && !name.is_empty()).then_some(name)
}

impl Watcher<'_> {
    /// Watches `.todo/` again, since it may be a new directory.
    fn watch_todo(&mut self) {
        let todo = self.todo.clone();
        if self.watching {
            let _ = self.system.unwatch(&todo);
        }
        self.watching = self.system.watch(&todo, RecursiveMode::Recursive).is_ok();
        let fence = self.fence.clone().filter(|_| self.watching);
        self.state.catalog.reports.set_fence(fence);
    }

    /// Also waits until the watcher has acted on all earlier events: it watches a
    /// new directory only after it has passed the event on.
    fn watch_fence(&mut self) {
        let Some(fence) = &self.fence else {
            return;
        };
        let directory = fence.directory();
        let watched = self.system.watch(directory, RecursiveMode::NonRecursive);
        if let Err(error) = watched {
            tracing::info!(%error, "could not watch a temporary directory; each search checks all files");
            self.fence = None;
            self.state.catalog.reports.set_fence(None);
        }
    }

    fn existing(&self) -> BTreeSet<String> {
        let folder = self.state.files.folder();
        folder
            .and_then(|folder| uris::names(&folder))
            .unwrap_or_default()
            .into_iter()
            .collect()
    }

    fn listen(&mut self, receiver: &Receiver<Message>) {
        let mut changed: BTreeSet<String> = BTreeSet::new();
        let mut first: Option<Instant> = None;
        loop {
            let message = match first {
                None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => {
                    let left = AT_LATEST.saturating_sub(at.elapsed()).min(QUIET);
                    receiver.recv_timeout(left)
                }
            };
            match message {
                Ok(Message::Event {
                    event: Ok(event),
                    is_watched,
                }) => {
                    self.note(&event, &mut changed);
                    if !is_watched {
                        self.watch_fence();
                        self.state.catalog.reports.watched_again();
                    }
                    if changed.is_empty() {
                        continue;
                    }
                    let since = *first.get_or_insert_with(Instant::now);
                    if since.elapsed() < AT_LATEST {
                        continue;
                    }
                }
                // From now on, each search checks all files.
                Ok(Message::Event {
                    event: Err(error), ..
                }) => {
                    tracing::warn!(%error, "the file watcher reported an error; changes may be missed");
                    continue;
                }
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {}
            }
            first = None;
            self.announce_changes(std::mem::take(&mut changed));
        }
    }

    fn note(&mut self, event: &Event, changed: &mut BTreeSet<String>) {
        if event.need_rescan() {
            changed.extend(self.existing());
        }
        for path in &event.paths {
            if *path == self.todo {
                if matches!(
                    event.kind,
                    EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(_)
                ) {
                    self.watch_todo();
                    changed.extend(self.existing());
                    changed.extend(self.known.iter().cloned());
                }
                continue;
            }
            let Some(name) = name_in(&self.todo, path) else {
                continue;
            };
            // A whole folder may have been created or deleted.
            if !is_markdown(&name) {
                changed.extend(self.existing());
                let inside = format!("{name}/");
                changed.extend(
                    self.known
                        .iter()
                        .filter(|known| known.starts_with(&inside))
                        .cloned(),
                );
            }
            changed.insert(name);
        }
    }

    fn announce_changes(&mut self, mut changed: BTreeSet<String>) {
        let Ok(folder) = self.state.files.folder() else {
            return;
        };
        // Files may have been created in a new folder before it was
        // watched.
        if changed.iter().any(|name| !is_markdown(name)) {
            let existing = self.existing();
            changed.extend(existing.symmetric_difference(&self.known).cloned());
        }
        let (mut tasks, mut adrs, mut listed) = (false, false, false);
        // A write of this process is known as its own only when it ends.
        let state = self.state;
        let turn = locked(&state.writing);
        for name in changed.iter().filter(|name| uris::is_resource(name)) {
            let stamp = folder.stamp(name).ok().flatten();
            listed |= match stamp {
                Some(_) => self.known.insert(name.clone()),
                None => self.known.remove(name),
            };
            if self.state.files.is_own(name, stamp.as_ref()) {
                continue;
            }
            tasks |= name == files::TASKS;
            adrs |= is_adr(name);
            for uri in uris::uris_of(name) {
                (self.announce)(Change::Resource(uri));
            }
        }
        drop(turn);
        if listed {
            (self.announce)(Change::ResourceList);
        }
        if tasks && self.state.settings.number_items {
            self.number_items();
        }
        if tasks || adrs {
            self.bring_index_up_to_date(&folder, tasks, adrs);
        }
    }

    /// Updates the index page after changes by others.
    fn bring_index_up_to_date(&self, folder: &Folder, tasks: bool, adrs: bool) {
        let _turn = locked(&self.state.writing);
        let until = Instant::now() + Duration::from_secs(1);
        // Other processes that are writing update it themselves.
        let Ok(Some(_lock)) = Lock::take(&folder.todo, until) else {
            return;
        };
        let board = tasks.then(|| self.state.files.board_in(folder).ok());
        let board = board.flatten().map(|(board, _)| board);
        if index_file::refresh(self.state, folder, board.as_deref(), adrs) {
            for uri in uris::uris_of(files::INDEX) {
                (self.announce)(Change::Resource(uri));
            }
        }
    }

    fn number_items(&self) {
        let context = Context::of_the_desk(Clock::system());
        match number_items(self.state, &context) {
            Ok(()) => {
                for change in context.take_changes() {
                    (self.announce)(change);
                }
            }
            Err(error) => {
                tracing::warn!(%error, cause = ?error.cause, "could not number items without an id");
            }
        }
    }
}

/// Gives an id to every task without one.
fn number_items(state: &CounterState, context: &Context) -> Result<()> {
    let board = state.files.board()?;
    if board.tasks.iter().all(|task| task.id.is_some()) {
        return Ok(());
    }
    state.write(context, UndoScope::ByIdOnly, |txn| {
        let board = txn.board()?;
        let mut ids = Vec::new();
        for id in PromisedIds::of(&state.files.folder()?, &board).all() {
            ids.push(match id {
                Some(id) => id,
                None => txn.new_task_id()?,
            });
        }
        let numbered = edit::number(&board, &ids)
            .map_err(|_| crate::errors::unplaceable(&Folder::shown(files::TASKS)))?;
        txn.set_board(numbered);
        txn.label("number_items");
        Ok(())
    })?;
    Ok(())
}
