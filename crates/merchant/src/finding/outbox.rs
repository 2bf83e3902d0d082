//! Keeps Meilisearch in step with the database.
//!
//! The catalogue's change numbers are the outbox: what Meilisearch has
//! confirmed is remembered as a number in the database, and everything after it
//! has yet to be sent. One process does it, the holder of a lease; a document
//! sent twice is the same document.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use kit::{Store, lease, sql::Budget, time::Clock};
use tokio_util::sync::CancellationToken;

use super::meilisearch::{Failure, Meilisearch};
use crate::store::{self, Changed, Product};

const LEASE: &str = "merchant-meilisearch";
const LEASE_MS: i64 = 30_000;
const EVERY: Duration = Duration::from_secs(1);
const BATCH: i64 = 1_000;
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

pub struct Outbox {
    pub meilisearch: Arc<Meilisearch>,
    pub store: Arc<dyn Store>,
    pub clock: Clock,
    /// Set once Meilisearch knows the whole catalogue; before that its answers
    /// would be incomplete.
    pub in_step: Arc<AtomicBool>,
    holder: String,
}

enum Trouble {
    Store(kit::Error),
    Search(Failure),
    /// A task that Meilisearch took on and then could not do.
    Task(String),
}

impl From<kit::Error> for Trouble {
    fn from(error: kit::Error) -> Self {
        Self::Store(error)
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Search(failure)
    }
}

impl Outbox {
    pub fn new(
        meilisearch: Arc<Meilisearch>,
        store: Arc<dyn Store>,
        clock: Clock,
        in_step: Arc<AtomicBool>,
    ) -> Self {
        Self {
            meilisearch,
            store,
            clock,
            in_step,
            holder: kit::ids::random("", 16),
        }
    }

    /// Runs until it is stopped.
    pub async fn run(self, stop: CancellationToken) {
        let mut pause = FIRST_PAUSE;
        let mut is_set_up = false;
        loop {
            let wait = match self.round(&mut is_set_up).await {
                Ok(()) => {
                    pause = FIRST_PAUSE;
                    EVERY
                }
                Err(trouble) => {
                    is_set_up = false;
                    match trouble {
                        Trouble::Store(error) => {
                            tracing::warn!(%error, cause = ?error.cause, "Meilisearch could not be updated");
                        }
                        Trouble::Search(failure) => {
                            tracing::warn!(%failure, retry_in = ?pause, "Meilisearch could not be updated");
                        }
                        Trouble::Task(problem) => {
                            tracing::warn!(problem, retry_in = ?pause, "Meilisearch could not be updated");
                        }
                    }
                    let wait = pause;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                    wait
                }
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = stop.cancelled() => break,
            }
        }
        let holder = self.holder.clone();
        let given_back = self
            .store
            .transaction(Budget::default(), move |sql| {
                lease::release(sql, LEASE, &holder)
            })
            .await;
        if let Err(error) = given_back {
            tracing::debug!(%error, "the lease runs out by itself");
        }
    }

    async fn round(&self, is_set_up: &mut bool) -> Result<(), Trouble> {
        let catalogue = self
            .store
            .query(Budget::default(), |sql| {
                Ok((store::catalogue_id(sql)?, store::newest_change(sql)?))
            })
            .await?;
        let (Some(catalogue), newest) = catalogue else {
            return Ok(());
        };
        let target = self.meilisearch.target(&catalogue);
        if !self.holds_lease().await? {
            // Another process sends; we only look how far it is.
            let position = self.position(&target).await?;
            self.in_step.store(position >= newest, Ordering::Relaxed);
            return Ok(());
        }
        if !*is_set_up {
            self.set_up(&target).await?;
            *is_set_up = true;
        }
        let mut position = self.position(&target).await?;
        while position < newest {
            if !self.holds_lease().await? {
                return Ok(());
            }
            position = self.send_after(&target, position).await?;
        }
        self.in_step.store(true, Ordering::Relaxed);
        Ok(())
    }

    async fn holds_lease(&self) -> kit::Result<bool> {
        let (holder, now) = (self.holder.clone(), self.clock.now().as_millisecond());
        self.store
            .transaction(Budget::default(), move |sql| {
                lease::hold(sql, LEASE, &holder, now, LEASE_MS)
            })
            .await
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

    /// The index and its settings. A server that has lost its documents gets
    /// them all again.
    async fn set_up(&self, target: &str) -> Result<(), Trouble> {
        if !matches!(self.meilisearch.documents().await?, Some(1..)) {
            self.in_step.store(false, Ordering::Relaxed);
            self.save_position(target, 0).await?;
        }
        let created = self.meilisearch.create_index().await?;
        match self.done(created).await {
            Err(Trouble::Task(problem)) if problem.starts_with("index_already_exists") => {}
            other => other?,
        }
        let settings = self.meilisearch.set_up().await?;
        self.done(settings).await
    }

    /// Sends one batch, waits until it is searchable, and remembers it.
    async fn send_after(&self, target: &str, position: i64) -> Result<i64, Trouble> {
        let changes = self
            .store
            .query(Budget::default(), move |sql| {
                store::changes_after(sql, position, BATCH)
            })
            .await?;
        let Some((last, _)) = changes.last() else {
            // Numbers that no change bears any more: later ones replaced them.
            let newest = self
                .store
                .query(Budget::default(), store::newest_change)
                .await?;
            self.save_position(target, newest).await?;
            return Ok(newest);
        };
        let put: Vec<&Product> = changes
            .iter()
            .filter_map(|(_, change)| match change {
                Changed::Put(product) => Some(product),
                Changed::Removed(_) => None,
            })
            .collect();
        let mut tasks = Vec::new();
        if !put.is_empty() {
            tasks.push(self.meilisearch.put(&put).await?);
        }
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
    async fn done(&self, uid: u64) -> Result<(), Trouble> {
        let mut wait = Duration::from_millis(20);
        loop {
            let task = self.meilisearch.task(uid).await?;
            match task.status.as_str() {
                "succeeded" => return Ok(()),
                "failed" | "canceled" => {
                    let problem = task.error.unwrap_or_default();
                    return Err(Trouble::Task(format!(
                        "{}: {}",
                        problem.code, problem.message
                    )));
                }
                _ => {}
            }
            // Long batches outlast the lease unless it is renewed.
            if !self.holds_lease().await? {
                return Err(Trouble::Task("another process took over".into()));
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(Duration::from_secs(1));
        }
    }
}
