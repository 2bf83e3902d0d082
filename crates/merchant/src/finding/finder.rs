//! Asks the search engines, and starts and stops them.

use std::{
    num::NonZero,
    sync::{Arc, Mutex, PoisonError},
    thread::available_parallelism,
    time::Duration,
};

use kit::{BoxFuture, Error, Result, Store, time::Clock};
use search::Query;
use serde_json::{Value, json};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    candidates::{Candidates, Engine, Unavailable},
    embedded::{EmbeddedIndex, IndexState},
    index_work::IndexWork,
    meilisearch::Meilisearch,
    meilisearch_feed::MeilisearchFeed,
    remote::RemoteSearch,
};
use crate::settings::Settings;

/// How long work in progress may take when the program ends.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(5);

pub struct Finder {
    embedded: Arc<EmbeddedIndex>,
    remote: Option<RemoteSearch>,
    store: Arc<dyn Store>,
    /// More searches at once than there are processors would be no faster, and
    /// each takes memory.
    searching: IndexWork,
    /// The engine that answered last, for the operator.
    answered_by: Mutex<Option<Engine>>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Finder {
    pub fn new(settings: &Settings, store: &Arc<dyn Store>) -> Result<Self> {
        let remote = match settings.meilisearch_url.as_str() {
            "" => None,
            url => Some(RemoteSearch::new(
                Meilisearch::new(url, &settings.meilisearch_master_key).map_err(|problem| {
                    Error::new("INVALID_CONFIG", format!("[merchant] {problem}."))
                        .next("Correct it, or leave meilisearch_url empty.")
                })?,
                store,
            )),
        };
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        Ok(Self {
            embedded: Arc::new(EmbeddedIndex::new(
                settings.index_dir.clone(),
                Arc::clone(store),
                stop.clone(),
                tasks.clone(),
            )),
            remote,
            store: Arc::clone(store),
            searching: IndexWork::new(available_parallelism().map_or(2, NonZero::get)),
            answered_by: Mutex::default(),
            stop,
            tasks,
        })
    }

    /// Asks `only` if it gave the pages before, otherwise the first engine that answers.
    pub async fn find(
        &self,
        query: &Query,
        only: Option<Engine>,
    ) -> std::result::Result<Candidates, Unavailable> {
        let found = self.ask(query, only).await?;
        let mut last = self
            .answered_by
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *last = Some(found.engine);
        Ok(found)
    }

    async fn ask(
        &self,
        query: &Query,
        only: Option<Engine>,
    ) -> std::result::Result<Candidates, Unavailable> {
        let (mut degraded, mut nothing) = (None, None);
        if let Some(remote) = self
            .remote
            .as_ref()
            .filter(|_| only != Some(Engine::Embedded))
        {
            match remote.find(query).await {
                // The embedded index may recognise a typo that Meilisearch does not.
                Ok(found) if found.ids.is_empty() && query.offset == 0 && only.is_none() => {
                    nothing = Some(found);
                }
                Ok(found) => return Ok(found),
                Err(reason) => degraded = Some(reason),
            }
        }
        if only == Some(Engine::Meilisearch) {
            return Err(Unavailable(
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
    ) -> std::result::Result<Candidates, Unavailable> {
        let index = self.embedded.ready().await.map_err(|state| {
            Unavailable(match state {
                IndexState::Building { .. } => "The search index is being built.",
                IndexState::Opening => "The search index is being opened.",
                IndexState::Ready | IndexState::Failed => "The search index can't be used.",
            })
        })?;
        let mut query = query.clone();
        query.alternatives = self.embedded.synonyms().alternatives(&query.text);
        let searched = self.searching.run(move || index.search(&query)).await;
        let hits = searched.map_err(|error| {
            tracing::error!(%error, cause = ?error.cause, "the search index failed");
            self.embedded.search_failed();
            Unavailable("The search index can't be used.")
        })?;
        Ok(Candidates {
            ids: hits.ids,
            facets: hits.facets,
            engine: Engine::Embedded,
            degraded,
        })
    }

    /// Keeps the engines up to date until [`Finder::stop`].
    pub fn start(&self, clock: &Clock) {
        self.embedded.start_for_long();
        if let Some(remote) = &self.remote {
            let feed = MeilisearchFeed::new(
                Arc::clone(&remote.meilisearch),
                Arc::clone(&self.store),
                clock.clone(),
                Arc::clone(&remote.sync_state),
            );
            self.tasks.spawn(feed.run(self.stop.clone()));
        }
    }

    /// Stops the background work and waits a little for it to end.
    pub async fn stop(&self) {
        self.stop.cancel();
        self.tasks.close();
        if tokio::time::timeout(SHUTDOWN_LIMIT, self.tasks.wait())
            .await
            .is_err()
        {
            tracing::warn!("the search index is not up to date; the next start continues the work");
        }
    }

    /// Updates the embedded index before this process ends. While it is built for the
    /// first time, `report` gets how many products it has, of how many.
    pub async fn catch_up<'a>(&self, report: impl Fn(u64, u64) -> BoxFuture<'a, ()>) {
        let mut states = self.embedded.states();
        let mut work = std::pin::pin!(self.embedded.catch_up());
        loop {
            tokio::select! {
                () = &mut work => return,
                Ok(()) = states.changed() => {
                    let state = states.borrow_and_update().clone();
                    if let IndexState::Building { done, total } = state {
                        report(done, total).await;
                    }
                }
            }
        }
    }

    /// Call this when the catalogue changed in this process.
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
            Err(IndexState::Opening) => Ok("the index is being opened".into()),
            Err(IndexState::Building { done, total }) => Ok(format!(
                "the index is being built, {done} of {total} products"
            )),
            Err(IndexState::Ready | IndexState::Failed) => Err(Error::new(
                "SEARCH_INDEX_UNUSABLE",
                "The search index can't be used.",
            )
            .next(
                "Check that the data directory, or index_dir in [merchant], is writable; its \
                 contents may be deleted.",
            )),
        }
    }

    pub fn health(&self) -> Value {
        let state = match self.embedded.state() {
            IndexState::Opening => json!("opening"),
            IndexState::Building { done, total } => {
                json!({ "building": { "done": done, "total": total } })
            }
            IndexState::Ready => json!("ready"),
            IndexState::Failed => json!("failed"),
        };
        let answered_by = *self
            .answered_by
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut health = json!({
            "index": state,
            "documents": self.embedded.documents(),
            "answered_by": answered_by.map(Engine::as_str),
        });
        if let (Some(remote), Some(health)) = (&self.remote, health.as_object_mut()) {
            let state = match remote.sync_state.known() {
                Some(true) => "ready",
                Some(false) | None => "not in step",
            };
            health.insert("meilisearch".into(), state.into());
        }
        health
    }
}
