//! Keeps Meilisearch up to date with the database.
//!
//! The change numbers of the catalogue are the outbox. The database stores the number
//! of the last change that Meilisearch confirmed; everything after it has yet to be
//! sent. Only the process that holds a lease sends. Sending a document twice does no
//! harm.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use kit::{Store, lease, sql::Budget, time::Clock};
use tokio_util::sync::CancellationToken;

use super::{
    meilisearch::{Failure, Meilisearch},
    sync_state::SyncState,
};
use crate::store::{self, Changed, Product};

const LEASE: &str = "merchant-meilisearch";
const LEASE_MS: i64 = 30_000;
/// How often a process without the lease asks for it.
const ASK_AGAIN_MS: i64 = 5_000;
const EVERY: Duration = Duration::from_secs(1);
/// How often the documents of an idle server are counted.
const CHECK: Duration = Duration::from_secs(60);
const BATCH: i64 = 5_000;
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

pub struct MeilisearchFeed {
    meilisearch: Arc<Meilisearch>,
    store: Arc<dyn Store>,
    clock: Clock,
    sync_state: Arc<SyncState>,
    holder: String,
    /// Until when this process holds the lease.
    held_until: i64,
    /// When to ask again for a lease that another process holds.
    ask_again: i64,
    is_set_up: bool,
    /// The version of the synonyms that the server has.
    synonyms_version: i64,
    /// When the server's documents were counted last.
    checked: Option<Instant>,
    /// Whether all documents were sent again because some were lost.
    sent_again: bool,
    /// Meilisearch has the whole catalogue from this change on.
    goal: Option<(String, i64)>,
}

enum SyncError {
    Store(kit::Error),
    Search(Failure),
    /// A task that Meilisearch accepted and then failed.
    Task(String),
}

impl From<kit::Error> for SyncError {
    fn from(error: kit::Error) -> Self {
        Self::Store(error)
    }
}

impl From<Failure> for SyncError {
    fn from(failure: Failure) -> Self {
        Self::Search(failure)
    }
}

/// What to send: the catalogue up to its newest change.
struct Catalogue {
    target: String,
    newest: i64,
    synonyms_version: i64,
}

impl MeilisearchFeed {
    pub fn new(
        meilisearch: Arc<Meilisearch>,
        store: Arc<dyn Store>,
        clock: Clock,
        sync_state: Arc<SyncState>,
    ) -> Self {
        Self {
            meilisearch,
            store,
            clock,
            sync_state,
            holder: kit::ids::random("", 16),
            held_until: 0,
            ask_again: 0,
            is_set_up: false,
            synonyms_version: 0,
            checked: None,
            sent_again: false,
            goal: None,
        }
    }

    /// Runs until it is stopped.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut pause = FIRST_PAUSE;
        loop {
            let round = tokio::select! {
                round = self.round() => round,
                // An interrupted round can be repeated.
                () = stop.cancelled() => break,
            };
            let wait = match round {
                Ok(()) => {
                    pause = FIRST_PAUSE;
                    EVERY
                }
                Err(error) => {
                    self.is_set_up = false;
                    log_failure(&error, pause);
                    let wait = pause;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                    wait
                }
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.sync_state.wake.notified() => {}
                () = stop.cancelled() => break,
            }
        }
        self.release_lease().await;
    }

    async fn round(&mut self) -> Result<(), SyncError> {
        let Some(catalogue) = self.catalogue().await? else {
            return Ok(());
        };
        if !self.holds_lease().await? {
            // Another process sends; only check how far it has come.
            self.is_set_up = false;
            let position = self.position(&catalogue.target).await?;
            self.note_position(&catalogue, position);
            return Ok(());
        }
        let is_missing = self.sync_state.take_index_missing();
        if is_missing || catalogue.synonyms_version != self.synonyms_version {
            self.is_set_up = false;
        }
        if !self.is_set_up {
            self.set_up(&catalogue).await?;
            self.is_set_up = true;
        }
        let mut position = self.position(&catalogue.target).await?;
        while position < catalogue.newest {
            if !self.holds_lease().await? {
                return Ok(());
            }
            position = self.send_after(&catalogue.target, position).await?;
        }
        if self.sent_again || self.checked.is_none_or(|at| at.elapsed() >= CHECK) {
            self.check(&catalogue).await?;
            position = self.position(&catalogue.target).await?;
        }
        self.note_position(&catalogue, position);
        Ok(())
    }

    /// Meilisearch is up to date when it has reached the newest change of our first
    /// look, and has not fallen behind since.
    fn note_position(&mut self, catalogue: &Catalogue, position: i64) {
        let goal = match self.goal.take() {
            Some((target, goal)) if target == catalogue.target => goal.max(position),
            _ => catalogue.newest,
        };
        self.sync_state.set(position >= goal);
        self.goal = Some((catalogue.target.clone(), goal));
    }

    async fn catalogue(&self) -> kit::Result<Option<Catalogue>> {
        let found = self
            .store
            .query(Budget::default(), |sql| {
                let id = store::catalogue_id(sql)?;
                let newest = store::newest_change(sql)?;
                Ok((id, newest, store::synonyms_version(sql)?))
            })
            .await?;
        let (Some(id), newest, synonyms_version) = found else {
            return Ok(None);
        };
        Ok(Some(Catalogue {
            target: self.meilisearch.target(&id),
            newest,
            synonyms_version,
        }))
    }

    /// Asks the database only when the lease is about to expire.
    async fn holds_lease(&mut self) -> kit::Result<bool> {
        let now = self.clock.now().as_millisecond();
        if now < self.held_until - LEASE_MS / 2 {
            return Ok(true);
        }
        if now < self.ask_again {
            return Ok(false);
        }
        let holder = self.holder.clone();
        let is_held = self
            .store
            .transaction(Budget::default(), move |sql| {
                lease::hold(sql, LEASE, &holder, now, LEASE_MS)
            })
            .await?;
        (self.held_until, self.ask_again) = match is_held {
            true => (now + LEASE_MS, 0),
            false => (0, now + ASK_AGAIN_MS),
        };
        Ok(is_held)
    }

    async fn release_lease(&self) {
        let holder = self.holder.clone();
        let released = self
            .store
            .transaction(Budget::default(), move |sql| {
                lease::release(sql, LEASE, &holder)
            })
            .await;
        if let Err(error) = released {
            tracing::debug!(%error, "the lease was not released and will expire");
        }
    }

    async fn position(&self, target: &str) -> kit::Result<i64> {
        let target = target.to_owned();
        self.store
            .query(Budget::default(), move |sql| {
                store::sync_position(sql, &target)
            })
            .await
    }

    async fn save_position(&self, target: &str, position: i64) -> kit::Result<()> {
        let target = target.to_owned();
        self.store
            .transaction(Budget::default(), move |sql| {
                store::save_sync_position(sql, &target, position)
            })
            .await
    }

    /// Creates the index and its settings. A server that has lost documents gets all
    /// of them again.
    async fn set_up(&mut self, catalogue: &Catalogue) -> Result<(), SyncError> {
        self.check(catalogue).await?;
        if self.meilisearch.documents().await?.is_none() {
            let created = self.meilisearch.create_index().await?;
            match self.done(created).await {
                Err(SyncError::Task(problem)) if problem.starts_with("index_already_exists") => {}
                other => other?,
            }
        }
        let store = Arc::clone(&self.store);
        let synonyms = store.query(Budget::default(), store::synonyms).await?;
        if let Some(task) = self.meilisearch.set_up(&synonyms).await? {
            self.done(task).await?;
        }
        self.synonyms_version = catalogue.synonyms_version;
        Ok(())
    }

    /// Starts from the beginning if the server has fewer documents than it was sent.
    async fn check(&mut self, catalogue: &Catalogue) -> Result<(), SyncError> {
        let position = self.position(&catalogue.target).await?;
        if position == 0 || !self.has_lost(position).await? {
            self.checked = Some(Instant::now());
            self.sent_again = false;
            return Ok(());
        }
        tracing::warn!("Meilisearch has lost documents; the catalogue is sent again");
        self.sync_state.set(false);
        self.is_set_up = false;
        self.save_position(&catalogue.target, 0).await?;
        if std::mem::replace(&mut self.sent_again, true) {
            // Do not send the catalogue over and over again.
            return Err(SyncError::Task(
                "documents are missing although all were sent".into(),
            ));
        }
        self.sync_state.wake.notify_one();
        Ok(())
    }

    async fn has_lost(&self, position: i64) -> Result<bool, SyncError> {
        let Some(first) = self.meilisearch.documents().await? else {
            return Ok(true);
        };
        // The count is only meaningful when there is nothing left to send.
        let expected = self
            .store
            .query(Budget::default(), move |sql| {
                Ok(match store::newest_change(sql)? <= position {
                    true => Some(store::count(sql)?.unsigned_abs()),
                    false => None,
                })
            })
            .await?
            .unwrap_or(1);
        if first >= expected {
            return Ok(false);
        }
        // Its counts may lag a little behind its tasks.
        tokio::time::sleep(Duration::from_millis(500)).await;
        let second = self.meilisearch.documents().await?;
        Ok(second.is_none_or(|second| second < expected))
    }

    /// Sends one batch, waits until it is searchable, and remembers it.
    async fn send_after(&mut self, target: &str, position: i64) -> Result<i64, SyncError> {
        let (newest, changes) = self
            .store
            .query(Budget::default(), move |sql| {
                // In this order: changes in between have higher numbers.
                let newest = store::newest_change(sql)?;
                Ok((newest, store::changes_after(sql, position, BATCH)?))
            })
            .await?;
        let Some((last, _)) = changes.last() else {
            // Later changes replaced all with these numbers.
            self.save_position(target, newest).await?;
            return Ok(newest);
        };
        let put: Vec<&Product> = changes
            .iter()
            .filter_map(|(_, change)| match change {
                Changed::Put(product) => Some(&**product),
                Changed::Removed(_) => None,
            })
            .collect();
        let mut tasks = self.meilisearch.put(&put).await?;
        for (_, change) in &changes {
            if let Changed::Removed(id) = change {
                tasks.push(self.meilisearch.remove(*id).await?);
            }
        }
        for task in tasks {
            self.done(task).await?;
        }
        self.save_position(target, *last).await?;
        tracing::debug!(position = last, "Meilisearch was updated");
        Ok(*last)
    }

    /// Waits for a task to end.
    async fn done(&mut self, uid: u64) -> Result<(), SyncError> {
        let mut wait = Duration::from_millis(20);
        loop {
            let task = self.meilisearch.task(uid).await?;
            match task.status.as_str() {
                "succeeded" => return Ok(()),
                "failed" | "canceled" => {
                    let problem = task.error.unwrap_or_default();
                    return Err(SyncError::Task(format!(
                        "{}: {}",
                        problem.code, problem.message
                    )));
                }
                _ => {}
            }
            // A long batch takes longer than the lease, so renew it.
            if !self.holds_lease().await? {
                return Err(SyncError::Task("another process took over".into()));
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(Duration::from_secs(1));
        }
    }
}

fn log_failure(error: &SyncError, retry_in: Duration) {
    match error {
        SyncError::Store(error) => {
            tracing::warn!(%error, cause = ?error.cause, ?retry_in, "Meilisearch could not be updated");
        }
        SyncError::Search(failure) => {
            tracing::warn!(%failure, ?retry_in, "Meilisearch could not be updated");
        }
        SyncError::Task(problem) => {
            tracing::warn!(problem, ?retry_in, "Meilisearch could not be updated");
        }
    }
}
