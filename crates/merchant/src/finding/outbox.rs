//! Keeps Meilisearch in step with the database.
//!
//! The catalogue's change numbers are the outbox: what Meilisearch has
//! confirmed is remembered as a number in the database, and everything after it
//! has yet to be sent. One process does it, the holder of a lease; a document
//! sent twice is the same document.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use kit::{Store, lease, sql::Budget, time::Clock};
use tokio_util::sync::CancellationToken;

use super::{
    meilisearch::{Failure, Meilisearch},
    remote::Step,
};
use crate::store::{self, Changed, Product};

const LEASE: &str = "merchant-meilisearch";
const LEASE_MS: i64 = 30_000;
/// Whoever does not hold the lease asks for it so often.
const ASK_AGAIN_MS: i64 = 5_000;
const EVERY: Duration = Duration::from_secs(1);
/// How often a server that has nothing to do is asked what it still has.
const CHECK: Duration = Duration::from_secs(60);
const BATCH: i64 = 5_000;
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

pub struct Outbox {
    meilisearch: Arc<Meilisearch>,
    store: Arc<dyn Store>,
    clock: Clock,
    step: Arc<Step>,
    holder: String,
    /// Until when the lease is ours; until then it is not asked for again.
    held_until: i64,
    /// When somebody else had it, and it is worth asking once more.
    ask_again: i64,
    is_set_up: bool,
    /// When the server's documents were counted last.
    checked: Option<Instant>,
    /// It had lost documents and all were sent again.
    sent_again: bool,
    /// Once Meilisearch has come this far, it knows the whole catalogue.
    goal: Option<(String, i64)>,
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

/// What there is to send.
struct Catalogue {
    target: String,
    newest: i64,
}

impl Outbox {
    pub fn new(
        meilisearch: Arc<Meilisearch>,
        store: Arc<dyn Store>,
        clock: Clock,
        step: Arc<Step>,
    ) -> Self {
        Self {
            meilisearch,
            store,
            clock,
            step,
            holder: kit::ids::random("", 16),
            held_until: 0,
            ask_again: 0,
            is_set_up: false,
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
                // Whatever it was in the middle of can be done again.
                () = stop.cancelled() => break,
            };
            let wait = match round {
                Ok(()) => {
                    pause = FIRST_PAUSE;
                    EVERY
                }
                Err(trouble) => {
                    self.is_set_up = false;
                    complain(&trouble, pause);
                    let wait = pause;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                    wait
                }
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.step.wake.notified() => {}
                () = stop.cancelled() => break,
            }
        }
        self.give_back().await;
    }

    async fn round(&mut self) -> Result<(), Trouble> {
        let Some(catalogue) = self.catalogue().await? else {
            return Ok(());
        };
        if !self.holds_lease().await? {
            // Another process sends; we only look how far it is.
            self.is_set_up = false;
            let position = self.position(&catalogue.target).await?;
            self.came_to(&catalogue, position);
            return Ok(());
        }
        if self.step.take_index_missing() {
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
        self.came_to(&catalogue, position);
        Ok(())
    }

    /// It is in step when it has come as far as the catalogue was when we first
    /// looked, and never falls back behind that.
    fn came_to(&mut self, catalogue: &Catalogue, position: i64) {
        let goal = match self.goal.take() {
            Some((target, goal)) if target == catalogue.target => goal.max(position),
            _ => catalogue.newest,
        };
        self.step.set(position >= goal);
        self.goal = Some((catalogue.target.clone(), goal));
    }

    async fn catalogue(&self) -> kit::Result<Option<Catalogue>> {
        let found = self
            .store
            .query(Budget::default(), |sql| {
                let id = store::catalogue_id(sql)?;
                Ok((id, store::newest_change(sql)?))
            })
            .await?;
        let (Some(id), newest) = found else {
            return Ok(None);
        };
        Ok(Some(Catalogue {
            target: self.meilisearch.target(&id),
            newest,
        }))
    }

    /// Asks the database only when the lease comes near its end.
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

    async fn give_back(&self) {
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
    async fn set_up(&mut self, catalogue: &Catalogue) -> Result<(), Trouble> {
        self.check(catalogue).await?;
        if self.meilisearch.documents().await?.is_none() {
            let created = self.meilisearch.create_index().await?;
            match self.done(created).await {
                Err(Trouble::Task(problem)) if problem.starts_with("index_already_exists") => {}
                other => other?,
            }
        }
        match self.meilisearch.set_up().await? {
            Some(task) => self.done(task).await,
            None => Ok(()),
        }
    }

    /// Starts from the beginning when the server has less than it was sent.
    async fn check(&mut self, catalogue: &Catalogue) -> Result<(), Trouble> {
        let position = self.position(&catalogue.target).await?;
        if position == 0 || !self.has_lost(position).await? {
            self.checked = Some(Instant::now());
            self.sent_again = false;
            return Ok(());
        }
        tracing::warn!("Meilisearch has lost documents; the catalogue is sent again");
        self.step.set(false);
        self.is_set_up = false;
        self.save_position(&catalogue.target, 0).await?;
        if std::mem::replace(&mut self.sent_again, true) {
            // Sending it at once and for ever would help nobody.
            return Err(Trouble::Task(
                "documents are missing although all were sent".into(),
            ));
        }
        self.step.wake.notify_one();
        Ok(())
    }

    async fn has_lost(&self, position: i64) -> Result<bool, Trouble> {
        let Some(first) = self.meilisearch.documents().await? else {
            return Ok(true);
        };
        // Counting says something only when there is nothing left to send.
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
    async fn send_after(&mut self, target: &str, position: i64) -> Result<i64, Trouble> {
        let (newest, changes) = self
            .store
            .query(Budget::default(), move |sql| {
                // In this order: what comes in between has a higher number.
                let newest = store::newest_change(sql)?;
                Ok((newest, store::changes_after(sql, position, BATCH)?))
            })
            .await?;
        let Some((last, _)) = changes.last() else {
            // Numbers that no change bears any more: later ones replaced them.
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
    async fn done(&mut self, uid: u64) -> Result<(), Trouble> {
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

fn complain(trouble: &Trouble, retry_in: Duration) {
    match trouble {
        Trouble::Store(error) => {
            tracing::warn!(%error, cause = ?error.cause, ?retry_in, "Meilisearch could not be updated");
        }
        Trouble::Search(failure) => {
            tracing::warn!(%failure, ?retry_in, "Meilisearch could not be updated");
        }
        Trouble::Task(problem) => {
            tracing::warn!(problem, ?retry_in, "Meilisearch could not be updated");
        }
    }
}
