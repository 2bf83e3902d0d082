//! The embedded index, kept in step with the database.
//!
//! The index remembers up to which change it knows the catalogue, in the same
//! commit as the documents. Whatever happens in between, a keeper goes on from
//! there. A directory has one writer at a time, by its file lock; other
//! processes read what it commits.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use kit::{Error, Result, Store, sql::Budget};
use search::{Change, Document, Index, OpenError, Options};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::store::{self, Changed, Product};

/// How often the database is asked what others changed.
const EVERY: Duration = Duration::from_secs(1);
/// Changes of one commit: enough to be quick in bulk, small enough to hold.
const BATCH: i64 = 20_000;
/// How long a search waits for an index that is only just being opened.
const FIRST_WAIT: Duration = Duration::from_millis(1_500);
/// A catalogue of so many products is built within that time.
const SOON_BUILT: u64 = 10_000;

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
    is_started: AtomicBool,
    stop: CancellationToken,
}

#[derive(Clone)]
struct Open {
    catalogue: String,
    index: Index,
    /// It has known the whole catalogue at least once since it was opened.
    is_complete: bool,
}

impl Embedded {
    pub fn new(dir: PathBuf, store: Arc<dyn Store>) -> Self {
        Self {
            dir,
            store,
            open: Mutex::default(),
            state: watch::Sender::new(State::Opening),
            wake: Notify::new(),
            is_started: AtomicBool::new(false),
            stop: CancellationToken::new(),
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
        let mut states = self.state.subscribe();
        let opened = states.wait_for(|state| match state {
            State::Opening => false,
            State::Building { total, .. } => *total > SOON_BUILT,
            State::Ready | State::Failed => true,
        });
        let _ = tokio::time::timeout(FIRST_WAIT, opened).await;
        match self.current() {
            Some(open) if open.is_complete => Ok(open.index),
            _ => Err(self.state()),
        }
    }

    /// Starts the keeper, once.
    pub fn start(self: &Arc<Self>) {
        if !self.is_started.swap(true, Ordering::Relaxed) {
            tokio::spawn(Arc::clone(self).keep());
        }
    }

    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Something was changed here: look at once.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// One round, now. What fails is tried again by whoever opens it next.
    pub async fn catch_up(&self) {
        if let Err(error) = self.round().await {
            tracing::warn!(%error, cause = ?error.cause, "the search index could not be brought up to date");
        }
    }

    fn current(&self) -> Option<Open> {
        self.open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn set_current(&self, open: Option<Open>) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = open;
    }

    async fn keep(self: Arc<Self>) {
        let mut complained = false;
        loop {
            match self.round().await {
                Ok(()) => complained = false,
                Err(error) => {
                    if !complained {
                        tracing::warn!(%error, cause = ?error.cause, "the search index could not be brought up to date");
                    }
                    complained = true;
                    if !self.current().is_some_and(|open| open.is_complete) {
                        self.state.send_replace(State::Failed);
                    }
                }
            }
            tokio::select! {
                () = self.wake.notified() => {}
                () = tokio::time::sleep(EVERY) => {}
                () = self.stop.cancelled() => return,
            }
        }
    }

    /// Opens the index if need be and applies what it does not know yet.
    async fn round(&self) -> Result<()> {
        let (catalogue, newest) = self
            .store
            .query(Budget::default(), |sql| {
                Ok((store::catalogue_id(sql)?, store::newest_change(sql)?))
            })
            .await?;
        // Before the first product there is nothing to find.
        let catalogue = catalogue.unwrap_or_default();
        let mut open = match self.current() {
            Some(open) if open.catalogue == catalogue => open,
            _ => Open {
                index: self.open_index(&catalogue).await?,
                catalogue,
                is_complete: false,
            },
        };
        let total = match open.is_complete {
            true => 0,
            false => {
                u64::try_from(self.store.query(Budget::default(), store::count).await?).unwrap_or(0)
            }
        };
        let mut position = position(&open.index);
        let mut done = open.index.documents();
        while position < newest && !self.stop.is_cancelled() {
            if !open.is_complete {
                self.state.send_replace(State::Building { done, total });
            }
            let changes = self
                .store
                .query(Budget::default(), move |sql| {
                    store::changes_after(sql, position, BATCH)
                })
                .await?;
            // Where later changes replaced all that bore the numbers in
            // between, there is nothing to apply.
            let last = changes.last().map_or(newest, |(number, _)| *number);
            let count = changes.len() as u64;
            match apply(&open.index, changes, last).await? {
                Applied::Done => {
                    position = last;
                    done += count;
                    if !open.is_complete {
                        tracing::info!(done = done.min(total), total, "building the search index");
                    }
                }
                Applied::AnotherWriter => break,
            }
        }
        // Another process may be writing it; what it has is all there is.
        open.is_complete |= position >= newest || position > 0;
        if open.is_complete {
            self.set_current(Some(open));
            self.state
                .send_if_modified(|state| std::mem::replace(state, State::Ready) != State::Ready);
        }
        Ok(())
    }

    async fn open_index(&self, catalogue: &str) -> Result<Index> {
        if catalogue.is_empty() || self.dir.as_os_str().is_empty() {
            return Ok(Index::in_memory());
        }
        let dir = self.dir.join(catalogue);
        blocking(move || match Index::open(&dir, Options::default()) {
            Ok(index) => Ok(index),
            Err(OpenError::Damaged(what)) => {
                tracing::warn!(what, "the search index is damaged and will be built anew");
                std::fs::remove_dir_all(&dir).map_err(Error::internal)?;
                Index::open(&dir, Options::default()).map_err(Error::internal)
            }
            Err(error) => Err(Error::internal(error)),
        })
        .await
    }
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
