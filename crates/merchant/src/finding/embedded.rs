//! The embedded index, kept up to date with the database.
//!
//! The index stores the number of the last change it contains, in the same commit
//! as the documents, so that updating always continues from there. A file lock
//! allows one writer per directory; other processes read what it commits.

mod directory;
mod writing;

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use kit::{Error, Result, Sql, Store, sql::Budget};
use search::Index;
use tokio::sync::{Notify, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::index_work::IndexWork;
use crate::{model::synonyms::Synonyms, store};
use writing::{ChangeBatch, Writing};

/// How often the database is checked for changes by other processes.
const EVERY: Duration = Duration::from_secs(1);
/// The longest pause between attempts to use a broken index.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Changes of one commit: enough to be fast, few enough to keep in memory.
const BATCH: i64 = 10_000;
/// So many changes at once are written in bulk where that holds up nobody, and the index is
/// compacted after them, which saves a quarter of its memory.
const MANY: u64 = 50_000;
/// How long a search waits for an index that is being opened.
const FIRST_WAIT: Duration = Duration::from_secs(5);
/// The same in a process that makes only this call: no later call could profit from
/// the index.
const ONLY_CALL: Duration = Duration::from_secs(15);
/// An index of up to this many products is built within [`FIRST_WAIT`].
const SOON_BUILT: u64 = 10_000;
/// A failed search makes the index reopen and check its files, at most this often:
/// the search itself may be at fault.
const REOPEN_INTERVAL: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexState {
    Opening,
    Building { done: u64, total: u64 },
    Ready,
    Failed,
}

pub struct EmbeddedIndex {
    dir: PathBuf,
    store: Arc<dyn Store>,
    open: Mutex<Option<OpenIndex>>,
    /// The synonyms, with their version.
    synonyms: Mutex<(i64, Arc<Synonyms>)>,
    state: watch::Sender<IndexState>,
    wake: Notify,
    /// Held during a round: two at once would be two writers.
    rounds: tokio::sync::Mutex<()>,
    is_started: AtomicBool,
    /// Whether this process makes more than one call.
    goes_on: AtomicBool,
    /// Opening, writing and compacting, one after the other.
    writing: IndexWork,
    stop: CancellationToken,
    tasks: TaskTracker,
}

#[derive(Clone)]
struct OpenIndex {
    catalogue: String,
    index: Index,
    /// The index is complete from this change on. It can fall behind it again when
    /// another process rebuilds it.
    goal: i64,
    since: Instant,
    /// Something failed; reopen it before the next write.
    needs_reopening: bool,
}

impl OpenIndex {
    fn is_complete(&self) -> bool {
        position(&self.index) >= self.goal
    }
}

impl EmbeddedIndex {
    pub fn new(
        dir: PathBuf,
        store: Arc<dyn Store>,
        stop: CancellationToken,
        tasks: TaskTracker,
    ) -> Self {
        Self {
            dir,
            store,
            open: Mutex::default(),
            synonyms: Mutex::default(),
            state: watch::Sender::new(IndexState::Opening),
            wake: Notify::new(),
            rounds: tokio::sync::Mutex::default(),
            is_started: AtomicBool::new(false),
            goes_on: AtomicBool::new(false),
            writing: IndexWork::new(1),
            stop,
            tasks,
        }
    }

    pub fn state(&self) -> IndexState {
        self.state.borrow().clone()
    }

    pub fn states(&self) -> watch::Receiver<IndexState> {
        self.state.subscribe()
    }

    pub fn documents(&self) -> Option<u64> {
        Some(self.current()?.index.documents())
    }

    /// The index, once it is complete. Waits a moment while it is being opened, but
    /// not while a large one is being built.
    pub async fn ready(self: &Arc<Self>) -> std::result::Result<Index, IndexState> {
        self.start();
        if let Some(open) = self.current().filter(OpenIndex::is_complete) {
            return Ok(open.index);
        }
        let goes_on = self.goes_on.load(Ordering::Relaxed);
        let mut states = self.state.subscribe();
        let settled = states.wait_for(|state| match state {
            IndexState::Opening => false,
            IndexState::Building { total, .. } => goes_on && *total > SOON_BUILT,
            IndexState::Ready | IndexState::Failed => true,
        });
        let patience = if goes_on { FIRST_WAIT } else { ONLY_CALL };
        let _ = tokio::time::timeout(patience, settled).await;
        match self.current().filter(OpenIndex::is_complete) {
            Some(open) => Ok(open.index),
            None => Err(self.state()),
        }
    }

    /// Starts the keeper, once.
    fn start(self: &Arc<Self>) {
        if !self.is_started.swap(true, Ordering::Relaxed) {
            self.tasks.spawn(Arc::clone(self).keep());
        }
    }

    pub fn start_for_long(self: &Arc<Self>) {
        self.goes_on.store(true, Ordering::Relaxed);
        self.start();
    }

    /// Looks for changes at once, because this process made some.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// One round, now. What fails is tried again when the index is next opened.
    pub async fn catch_up(&self) {
        if let Err(error) = self.round().await {
            log_failure(&error);
        }
    }

    /// A search ended in an error: the files may be damaged.
    pub fn search_failed(&self) {
        let is_old = |open: &OpenIndex| open.since.elapsed() >= REOPEN_INTERVAL;
        if self.current().is_some_and(|open| is_old(&open)) {
            self.mark_for_reopening();
            self.wake();
        }
    }

    pub fn synonyms(&self) -> Arc<Synonyms> {
        Arc::clone(&self.known_synonyms().1)
    }

    fn known_synonyms(&self) -> MutexGuard<'_, (i64, Arc<Synonyms>)> {
        self.synonyms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn current(&self) -> Option<OpenIndex> {
        self.open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn change_current(&self, change: impl FnOnce(&mut Option<OpenIndex>)) {
        change(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn mark_for_reopening(&self) {
        self.change_current(|open| {
            if let Some(open) = open {
                open.needs_reopening = true;
            }
        });
    }

    async fn keep(self: Arc<Self>) {
        let mut wait = EVERY;
        loop {
            match self.round().await {
                Ok(()) => wait = EVERY,
                Err(error) => {
                    if wait == EVERY {
                        log_failure(&error);
                    }
                    wait = (wait * 2).min(LONGEST_PAUSE);
                    if !self.current().is_some_and(|open| open.is_complete()) {
                        self.state.send_replace(IndexState::Failed);
                    }
                }
            }
            tokio::select! {
                () = self.wake.notified() => {}
                () = tokio::time::sleep(wait) => {}
                () = self.stop.cancelled() => return,
            }
        }
    }

    /// Opens the index if necessary and applies the changes it lacks.
    async fn round(&self) -> Result<()> {
        let _one_at_a_time = self.rounds.lock().await;
        let known = self.known_synonyms().0;
        let (catalogue, newest, synonyms) = self
            .store
            .query(Budget::default(), move |sql| {
                let version = store::synonyms_version(sql)?;
                let synonyms = match version == known {
                    true => None,
                    false => Some((version, store::synonyms(sql)?)),
                };
                Ok((
                    store::catalogue_id(sql)?,
                    store::newest_change(sql)?,
                    synonyms,
                ))
            })
            .await?;
        if let Some((version, groups)) = synonyms {
            *self.known_synonyms() = (version, Arc::new(Synonyms::new(groups)));
        }
        // `None` before the first product.
        let catalogue = catalogue.unwrap_or_default();
        let mut open = match self.current() {
            Some(open) if open.catalogue == catalogue && !open.needs_reopening => open,
            _ => self.open(catalogue, newest, false).await?,
        };
        if position(&open.index) > newest && self.is_ahead(&open).await? {
            tracing::warn!("the search index is ahead of the database and will be rebuilt");
            open = self.open(open.catalogue, newest, true).await?;
        }
        self.apply_until(&open, newest).await
    }

    async fn apply_until(&self, open: &OpenIndex, newest: i64) -> Result<()> {
        let goal = open.goal;
        let mut position = position(&open.index);
        let mut applied = 0;
        let (mut before, mut total) = (0, 0);
        if position < goal {
            // Counted from here on: asking the index makes it open all of its segments.
            before = open.index.documents();
            let count = self.store.query(Budget::default(), store::count).await?;
            total = count.unsigned_abs();
        }
        let building = |position: i64, documents: u64| {
            if position < goal {
                let done = documents.min(total);
                self.state
                    .send_replace(IndexState::Building { done, total });
                tracing::info!(done, total, "building the search index");
            }
        };
        // An index that is being built is not searched yet, so merging can wait.
        let is_bulk = position < goal && newest.abs_diff(position) >= MANY;
        let mut writing = match is_bulk {
            true => Writing::Bulk(open.index.bulk()),
            false => Writing::Index(open.index.clone()),
        };
        let mut next = self.batch_after(position, newest).await?;
        while position < newest && !self.stop.is_cancelled() {
            building(position, before + applied);
            let (last, count) = (next.last, next.changes.len() as u64);
            // The next batch is read while this one is written, once it is known that no
            // other process writes.
            let ahead = async {
                match applied {
                    0 => Ok(None),
                    _ => self.batch_after(last, newest).await.map(Some),
                }
            };
            let (written, ahead) = tokio::join!(self.write(writing, next), ahead);
            match written {
                Ok(Some(goes_on)) => {
                    writing = goes_on;
                    position = last;
                    applied += count;
                }
                Ok(None) => {
                    position = self::position(&open.index);
                    break;
                }
                Err(error) => {
                    self.mark_for_reopening();
                    return Err(error);
                }
            }
            next = match ahead? {
                Some(batch) => batch,
                None => self.batch_after(last, newest).await?,
            };
        }
        if position < goal {
            // Another process is building it.
            building(position, open.index.documents());
            return Ok(());
        }
        self.change_current(|current| {
            if let Some(current) = current {
                current.goal = current.goal.max(position);
            }
        });
        self.state.send_if_modified(|state| {
            std::mem::replace(state, IndexState::Ready) != IndexState::Ready
        });
        if (is_bulk || applied >= MANY) && !self.stop.is_cancelled() {
            let index = open.index.clone();
            let compacted = self.writing.run(move || index.compact()).await;
            if let Err(error) = compacted {
                tracing::warn!(%error, cause = ?error.cause, "the search index was not compacted");
            }
        }
        Ok(())
    }

    /// The changes after `position`, up to [`BATCH`].
    async fn batch_after(&self, position: i64, newest: i64) -> Result<ChangeBatch> {
        let mut changes = Vec::new();
        if position < newest {
            let read = move |sql: &mut dyn Sql| store::changes_after(sql, position, BATCH);
            changes = self.store.query(Budget::default(), read).await?;
        }
        // None if later changes replaced all the numbers in between.
        let last = changes.last().map_or(newest, |(number, _)| *number);
        Ok(ChangeBatch { changes, last })
    }

    /// `None` if another process writes the index.
    async fn write(&self, mut writing: Writing, batch: ChangeBatch) -> Result<Option<Writing>> {
        let write = move || match writing.write(batch) {
            Ok(()) => Ok(Some(writing)),
            Err(search::Error::Busy) => Ok(None),
            Err(error) => Err(error),
        };
        self.writing.run(write).await
    }

    /// Whether the index contains changes that the database does not have. A database
    /// restored from a backup gives the same numbers to other changes.
    async fn is_ahead(&self, open: &OpenIndex) -> Result<bool> {
        let position = position(&open.index);
        let newest = self
            .store
            .query(Budget::default(), store::newest_change)
            .await?;
        Ok(position > newest)
    }

    async fn open(&self, catalogue: String, newest: i64, anew: bool) -> Result<OpenIndex> {
        let index = if catalogue.is_empty() || self.dir.as_os_str().is_empty() {
            Index::in_memory()
        } else {
            let (dir, name) = (self.dir.clone(), catalogue.clone());
            self.writing
                .run(move || directory::open(&dir, &name, anew))
                .await?
        };
        let open = OpenIndex {
            catalogue,
            index,
            goal: newest,
            since: Instant::now(),
            needs_reopening: false,
        };
        self.change_current(|current| *current = Some(open.clone()));
        Ok(open)
    }
}

fn log_failure(error: &Error) {
    tracing::warn!(%error, cause = ?error.cause, "the search index could not be brought up to date");
}

fn position(index: &Index) -> i64 {
    i64::try_from(index.position()).unwrap_or(0)
}
