//! The embedded index, kept in step with the database.
//!
//! The index remembers up to which change it knows the catalogue, in the same
//! commit as the documents. Whatever happens in between, a keeper goes on from
//! there. A directory has one writer at a time, by its file lock; other
//! processes read what it commits.

mod directory;

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use kit::{Error, Result, Store, sql::Budget};
use search::{Change, Document, Index};
use tokio::sync::{Notify, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::store::{self, Changed, Product};

/// How often the database is asked what others changed.
const EVERY: Duration = Duration::from_secs(1);
/// An index that can't be used is tried again ever less often.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Changes of one commit: enough to be quick in bulk, small enough to hold.
const BATCH: i64 = 10_000;
/// After so many changes at once the index is put in one piece: it takes a
/// quarter less memory then.
const MANY: usize = 50_000;
/// How long a search waits for an index that is only just being opened.
const FIRST_WAIT: Duration = Duration::from_millis(1_500);
/// And how long in a process that ends with this call: what it does not wait
/// for, nobody does later.
const ONLY_CALL: Duration = Duration::from_secs(15);
/// A catalogue of so many products is built within the first wait.
const SOON_BUILT: u64 = 10_000;
/// One search that fails may be to blame itself: files are read through again
/// so often at most.
const TRUSTED: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Opening,
    Building { done: u64, total: u64 },
    Ready,
    Failed,
}

pub struct Embedded {
    dir: PathBuf,
    store: Arc<dyn Store>,
    open: Mutex<Option<Open>>,
    state: watch::Sender<State>,
    wake: Notify,
    /// Two rounds at once would be two writers.
    rounds: tokio::sync::Mutex<()>,
    is_started: AtomicBool,
    /// This process goes on after the call that it answers.
    goes_on: AtomicBool,
    stop: CancellationToken,
    tasks: TaskTracker,
}

#[derive(Clone)]
struct Open {
    catalogue: String,
    index: Index,
    /// From this change on it knows the whole catalogue. It can be behind that
    /// again: when another process builds it anew.
    goal: i64,
    since: Instant,
    /// Something failed on it; it is opened again before it is next written.
    is_doubtful: bool,
}

impl Open {
    fn is_complete(&self) -> bool {
        position(&self.index) >= self.goal
    }
}

impl Embedded {
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
            state: watch::Sender::new(State::Opening),
            wake: Notify::new(),
            rounds: tokio::sync::Mutex::default(),
            is_started: AtomicBool::new(false),
            goes_on: AtomicBool::new(false),
            stop,
            tasks,
        }
    }

    pub fn state(&self) -> State {
        self.state.borrow().clone()
    }

    pub fn documents(&self) -> Option<u64> {
        Some(self.current()?.index.documents())
    }

    /// The index, once it knows the catalogue. A search that comes while it is
    /// being opened waits a moment; one that comes while a large one is being
    /// built does not.
    pub async fn ready(self: &Arc<Self>) -> std::result::Result<Index, State> {
        self.start();
        if let Some(open) = self.current().filter(Open::is_complete) {
            return Ok(open.index);
        }
        let goes_on = self.goes_on.load(Ordering::Relaxed);
        let mut states = self.state.subscribe();
        let settled = states.wait_for(|state| match state {
            State::Opening => false,
            State::Building { total, .. } => goes_on && *total > SOON_BUILT,
            State::Ready | State::Failed => true,
        });
        let patience = if goes_on { FIRST_WAIT } else { ONLY_CALL };
        let _ = tokio::time::timeout(patience, settled).await;
        match self.current().filter(Open::is_complete) {
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

    /// Something was changed here: look at once.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// One round, now. What fails is tried again by whoever opens it next.
    pub async fn catch_up(&self) {
        if let Err(error) = self.round().await {
            complain(&error);
        }
    }

    /// A search ended in an error: the files may be damaged.
    pub fn search_failed(&self) {
        let is_old = |open: &Open| open.since.elapsed() >= TRUSTED;
        if self.current().is_some_and(|open| is_old(&open)) {
            self.doubt();
            self.wake();
        }
    }

    fn current(&self) -> Option<Open> {
        self.open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn change_current(&self, change: impl FnOnce(&mut Option<Open>)) {
        change(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn doubt(&self) {
        self.change_current(|open| {
            if let Some(open) = open {
                open.is_doubtful = true;
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
                        complain(&error);
                    }
                    wait = (wait * 2).min(LONGEST_PAUSE);
                    if !self.current().is_some_and(|open| open.is_complete()) {
                        self.state.send_replace(State::Failed);
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

    /// Opens the index if need be and applies what it does not know yet.
    async fn round(&self) -> Result<()> {
        let _one_at_a_time = self.rounds.lock().await;
        let (catalogue, newest) = self
            .store
            .query(Budget::default(), |sql| {
                Ok((store::catalogue_id(sql)?, store::newest_change(sql)?))
            })
            .await?;
        // Before the first product there is nothing to find.
        let catalogue = catalogue.unwrap_or_default();
        let mut open = match self.current() {
            Some(open) if open.catalogue == catalogue && !open.is_doubtful => open,
            _ => self.open(catalogue, newest, false).await?,
        };
        if position(&open.index) > newest && self.is_ahead(&open).await? {
            tracing::warn!("the search index is ahead of the database and will be built anew");
            open = self.open(open.catalogue, newest, true).await?;
        }
        self.apply_until(&open, newest).await
    }

    async fn apply_until(&self, open: &Open, newest: i64) -> Result<()> {
        let goal = open.goal;
        let mut position = position(&open.index);
        let mut applied = 0;
        let mut total = 0;
        if position < goal {
            let count = self.store.query(Budget::default(), store::count).await?;
            total = count.unsigned_abs();
        }
        let building = |position: i64| {
            if position < goal {
                let done = open.index.documents().min(total);
                self.state.send_replace(State::Building { done, total });
                tracing::info!(done, total, "building the search index");
            }
        };
        while position < newest && !self.stop.is_cancelled() {
            building(position);
            let changes = self
                .store
                .query(Budget::default(), move |sql| {
                    store::changes_after(sql, position, BATCH)
                })
                .await?;
            // Where later changes replaced all that bore the numbers in
            // between, there is nothing to apply.
            let last = changes.last().map_or(newest, |(number, _)| *number);
            let count = changes.len();
            match apply(&open.index, changes, last).await {
                Ok(Applied::Done) => {
                    position = last;
                    applied += count;
                }
                Ok(Applied::AnotherWriter) => {
                    position = self::position(&open.index);
                    break;
                }
                Err(error) => {
                    self.doubt();
                    return Err(error);
                }
            }
        }
        if position < goal {
            // Another process builds it.
            building(position);
            return Ok(());
        }
        self.change_current(|current| {
            if let Some(current) = current {
                current.goal = current.goal.max(position);
            }
        });
        self.state
            .send_if_modified(|state| std::mem::replace(state, State::Ready) != State::Ready);
        if applied >= MANY && !self.stop.is_cancelled() {
            let index = open.index.clone();
            let compacted = blocking(move || index.compact().map_err(Error::internal)).await;
            if let Err(error) = compacted {
                tracing::debug!(%error, cause = ?error.cause, "the search index stays in pieces");
            }
        }
        Ok(())
    }

    /// Whether it knows changes that the database does not: one that was put
    /// back to an earlier state gives the same numbers to other changes.
    async fn is_ahead(&self, open: &Open) -> Result<bool> {
        let position = position(&open.index);
        let newest = self
            .store
            .query(Budget::default(), store::newest_change)
            .await?;
        Ok(position > newest)
    }

    async fn open(&self, catalogue: String, newest: i64, anew: bool) -> Result<Open> {
        let index = if catalogue.is_empty() || self.dir.as_os_str().is_empty() {
            Index::in_memory()
        } else {
            let (dir, name) = (self.dir.clone(), catalogue.clone());
            blocking(move || directory::open(&dir, &name, anew)).await?
        };
        let open = Open {
            catalogue,
            index,
            goal: newest,
            since: Instant::now(),
            is_doubtful: false,
        };
        self.change_current(|current| *current = Some(open.clone()));
        Ok(open)
    }
}

fn complain(error: &Error) {
    tracing::warn!(%error, cause = ?error.cause, "the search index could not be brought up to date");
}

fn position(index: &Index) -> i64 {
    i64::try_from(index.position()).unwrap_or(0)
}

enum Applied {
    Done,
    AnotherWriter,
}

async fn apply(index: &Index, changes: Vec<(i64, Changed)>, last: i64) -> Result<Applied> {
    let index = index.clone();
    blocking(move || {
        let changes = changes.into_iter().map(|(_, change)| match change {
            Changed::Put(product) => Change::Put(document(product)),
            Changed::Removed(id) => Change::Remove(id),
        });
        match index.apply(changes, last.unsigned_abs()) {
            Ok(()) => Ok(Applied::Done),
            Err(search::Error::Busy) => Ok(Applied::AnotherWriter),
            Err(error) => Err(Error::internal(error)),
        }
    })
    .await
}

fn document(product: Product) -> Document {
    Document {
        id: product.id,
        sku: product.sku,
        name: product.name,
        description: product.description,
        category: product.category,
        brand: product.brand,
        keywords: product.keywords,
        price: product.price_yen,
        in_stock: product.stock > 0,
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(Error::internal(error)))
}
