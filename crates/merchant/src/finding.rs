//! Which products somebody means: Meilisearch when it is configured and
//! answers, the embedded index otherwise.
//!
//! `embedded` keeps our own index in step with the database, `outbox` does the
//! same for Meilisearch, `remote` puts searches to it, `meilisearch` speaks to
//! it, `breaker` spares callers a server that is down.

mod breaker;
mod embedded;
mod meilisearch;
mod outbox;
mod remote;

use std::{num::NonZero, sync::Arc, thread::available_parallelism, time::Duration};

use kit::{Error, Result, Store, time::Clock};
use search::{Facets, Query};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::Settings;
use embedded::{Embedded, State};
use meilisearch::Meilisearch;
use outbox::Outbox;
use remote::Remote;

/// How long what is under way may take when the program ends.
const GOODBYE: Duration = Duration::from_secs(5);

pub struct Finder {
    embedded: Arc<Embedded>,
    remote: Option<Remote>,
    store: Arc<dyn Store>,
    searching: Semaphore,
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// Who answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Embedded,
    Meilisearch,
}

impl Engine {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Meilisearch => "meilisearch",
        }
    }
}

/// Candidates, best first. What of them is in stock the database knows.
#[derive(Debug)]
pub struct Found {
    pub ids: Vec<i64>,
    pub facets: Option<Facets>,
    pub engine: Engine,
    /// Why the engine that was configured did not answer.
    pub degraded: Option<&'static str>,
}

/// No engine can answer now; the reason is for the caller.
#[derive(Debug)]
pub struct NoIndex(pub &'static str);

impl Finder {
    pub fn new(settings: &Settings, store: &Arc<dyn Store>) -> Result<Self> {
        let remote = match settings.meilisearch_url.as_str() {
            "" => None,
            url => Some(Remote::new(
                Meilisearch::new(url, &settings.meilisearch_master_key).map_err(|problem| {
                    Error::new("INVALID_CONFIG", format!("[merchant] {problem}."))
                        .next("Correct it, or leave meilisearch_url empty.")
                })?,
                store,
            )),
        };
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        Ok(Self {
            embedded: Arc::new(Embedded::new(
                settings.index_dir.clone(),
                Arc::clone(store),
                stop.clone(),
                tasks.clone(),
            )),
            remote,
            store: Arc::clone(store),
            searching: Semaphore::new(available_parallelism().map_or(2, NonZero::get)),
            stop,
            tasks,
        })
    }

    /// Asks `only` when a page of its answer was already given, else whoever
    /// can answer.
    pub async fn find(
        &self,
        query: &Query,
        only: Option<Engine>,
    ) -> std::result::Result<Found, NoIndex> {
        let (mut degraded, mut nothing) = (None, None);
        if let Some(remote) = self
            .remote
            .as_ref()
            .filter(|_| only != Some(Engine::Embedded))
        {
            match remote.find(query).await {
                // Typos it does not see through may still be found.
                Ok(found) if found.ids.is_empty() && query.offset == 0 && only.is_none() => {
                    nothing = Some(found);
                }
                Ok(found) => return Ok(found),
                Err(reason) => degraded = Some(reason),
            }
        }
        if only == Some(Engine::Meilisearch) {
            return Err(NoIndex(
                degraded.unwrap_or("Meilisearch is no longer configured."),
            ));
        }
        let found = self.find_embedded(query, degraded).await;
        match (found, nothing) {
            (Ok(found), Some(nothing)) if found.ids.is_empty() => Ok(nothing),
            (Err(_), Some(nothing)) => Ok(nothing),
            (found, _) => found,
        }
    }

    async fn find_embedded(
        &self,
        query: &Query,
        degraded: Option<&'static str>,
    ) -> std::result::Result<Found, NoIndex> {
        let index = self.embedded.ready().await.map_err(|state| {
            NoIndex(match state {
                State::Building { .. } => "The search index is being built.",
                State::Opening => "The search index is being opened.",
                State::Ready | State::Failed => "The search index can't be used.",
            })
        })?;
        // Plain work, which other calls must not wait for. As many at once as there
        // are processors: more would be no faster, and take memory each.
        let _turn = self.searching.acquire().await;
        let query = query.clone();
        let searched = tokio::task::spawn_blocking(move || index.search(&query)).await;
        let hits = match searched {
            Ok(Ok(hits)) => hits,
            failed => {
                tracing::error!(?failed, "the search index does not answer");
                self.embedded.search_failed();
                return Err(NoIndex("The search index can't be used."));
            }
        };
        Ok(Found {
            ids: hits.ids,
            facets: hits.facets,
            engine: Engine::Embedded,
            degraded,
        })
    }

    /// Keeps the engines in step until [`Finder::stop`].
    pub fn start(&self, clock: &Clock) {
        self.embedded.start_for_long();
        if let Some(remote) = &self.remote {
            let outbox = Outbox::new(
                Arc::clone(&remote.meilisearch),
                Arc::clone(&self.store),
                clock.clone(),
                Arc::clone(&remote.step),
            );
            self.tasks.spawn(outbox.run(self.stop.clone()));
        }
    }

    /// Ends what goes on, and waits a little for what can't be left half done.
    pub async fn stop(&self) {
        self.stop.cancel();
        self.tasks.close();
        if tokio::time::timeout(GOODBYE, self.tasks.wait())
            .await
            .is_err()
        {
            tracing::warn!("the search index is left behind; it is caught up at the next start");
        }
    }

    /// Brings the embedded index up to date before this process ends.
    pub async fn catch_up(&self) {
        self.embedded.catch_up().await;
    }

    /// The catalogue changed in this process.
    pub fn wake(&self) {
        self.embedded.wake();
    }

    /// Whether the engines answer, each by name.
    pub async fn check(&self) -> Vec<(&'static str, Result<String>)> {
        let mut answers = vec![("search", self.check_embedded().await)];
        if let Some(remote) = &self.remote {
            answers.push(("meilisearch", remote.check().await));
        }
        answers
    }

    async fn check_embedded(&self) -> Result<String> {
        match self.embedded.ready().await {
            Ok(index) => Ok(format!("the index knows {} products", index.documents())),
            Err(State::Opening) => Ok("the index is being opened".into()),
            Err(State::Building { done, total }) => Ok(format!(
                "the index is being built, {done} of {total} products"
            )),
            Err(State::Ready | State::Failed) => Err(Error::new(
                "SEARCH_INDEX_UNUSABLE",
                "The search index can't be used.",
            )
            .next(
                "Check that the data directory, or index_dir in [merchant], can be written to; \
                 what is in it may be deleted.",
            )),
        }
    }

    pub fn health(&self) -> Value {
        let state = match self.embedded.state() {
            State::Opening => json!("opening"),
            State::Building { done, total } => {
                json!({ "building": { "done": done, "total": total } })
            }
            State::Ready => json!("ready"),
            State::Failed => json!("failed"),
        };
        let mut health = json!({ "index": state, "documents": self.embedded.documents() });
        if let (Some(remote), Some(health)) = (&self.remote, health.as_object_mut()) {
            let state = match remote.step.known() {
                Some(true) => "ready",
                Some(false) | None => "not in step",
            };
            health.insert("meilisearch".into(), state.into());
        }
        health
    }
}
