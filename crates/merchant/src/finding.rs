//! Which products somebody means: Meilisearch when it is configured and
//! answers, the embedded index otherwise.
//!
//! `embedded` keeps our own index in step with the database, `outbox` does the
//! same for Meilisearch, `meilisearch` speaks to it, `breaker` spares callers a
//! server that is down.

mod breaker;
mod embedded;
mod meilisearch;
mod outbox;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use kit::{Error, Result, Store, time::Clock};
use search::{Facets, Query, Sort};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::Settings;
use breaker::Breaker;
use embedded::{Embedded, State};
use meilisearch::{Hits, Meilisearch};
use outbox::Outbox;

pub struct Finder {
    embedded: Arc<Embedded>,
    remote: Option<Remote>,
    store: Arc<dyn Store>,
    stop: CancellationToken,
}

struct Remote {
    meilisearch: Arc<Meilisearch>,
    breaker: Breaker,
    in_step: Arc<AtomicBool>,
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
            url => Some(Remote {
                meilisearch: Arc::new(
                    Meilisearch::new(url, &settings.meilisearch_master_key)
                        .map_err(Error::internal)?,
                ),
                breaker: Breaker::default(),
                in_step: Arc::default(),
            }),
        };
        Ok(Self {
            embedded: Arc::new(Embedded::new(settings.index_dir.clone(), Arc::clone(store))),
            remote,
            store: Arc::clone(store),
            stop: CancellationToken::new(),
        })
    }

    /// Asks `only` when a page of its answer was already given, else whoever
    /// can answer.
    pub async fn find(
        &self,
        query: &Query,
        only: Option<Engine>,
    ) -> std::result::Result<Found, NoIndex> {
        let mut degraded = None;
        if let Some(remote) = self
            .remote
            .as_ref()
            .filter(|_| only != Some(Engine::Embedded))
        {
            match remote.find(query).await {
                // Typos it does not see through may still be found.
                Ok(found) if found.ids.is_empty() && query.offset == 0 && only.is_none() => {}
                Ok(found) => return Ok(found),
                Err(reason) => degraded = Some(reason),
            }
        }
        if only == Some(Engine::Meilisearch) {
            return Err(NoIndex(
                degraded.unwrap_or("Meilisearch is no longer configured."),
            ));
        }
        let index = self.embedded.ready().await.map_err(|state| {
            NoIndex(match state {
                State::Building { .. } => "The search index is being built.",
                State::Opening => "The search index is being opened.",
                State::Ready | State::Failed => "The search index can't be used.",
            })
        })?;
        // Some milliseconds of plain work, which other calls must not wait for.
        let query = query.clone();
        let searched = tokio::task::spawn_blocking(move || index.search(&query)).await;
        let hits = match searched {
            Ok(Ok(hits)) => hits,
            failed => {
                tracing::error!(?failed, "the search index does not answer");
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
        self.embedded.start();
        if let Some(remote) = &self.remote {
            let outbox = Outbox::new(
                Arc::clone(&remote.meilisearch),
                Arc::clone(&self.store),
                clock.clone(),
                Arc::clone(&remote.in_step),
            );
            tokio::spawn(outbox.run(self.stop.clone()));
        }
    }

    pub fn stop(&self) {
        self.stop.cancel();
        self.embedded.stop();
    }

    /// Brings the embedded index up to date before this process ends.
    pub async fn catch_up(&self) {
        self.embedded.catch_up().await;
    }

    /// The catalogue changed in this process.
    pub fn wake(&self) {
        self.embedded.wake();
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
            let in_step = remote.in_step.load(Ordering::Relaxed);
            health.insert(
                "meilisearch".into(),
                if in_step { "ready" } else { "not in step" }.into(),
            );
        }
        health
    }
}

impl Remote {
    /// The error is the reason why it can't be asked.
    async fn find(&self, query: &Query) -> std::result::Result<Found, &'static str> {
        if !self.in_step.load(Ordering::Relaxed) {
            return Err("Meilisearch does not know the whole catalogue yet.");
        }
        if !self.breaker.lets_through(Instant::now()) {
            return Err("Meilisearch did not answer lately.");
        }
        match self.meilisearch.search(&body(query)).await {
            Ok(hits) => {
                self.breaker.succeeded();
                Ok(found(hits, query.facets))
            }
            Err(failure) => {
                self.breaker.failed(Instant::now());
                tracing::warn!(%failure, "the embedded index answers instead");
                Err("Meilisearch did not answer.")
            }
        }
    }
}

fn body(query: &Query) -> Value {
    let mut body = Map::new();
    body.insert("q".into(), query.text.as_str().into());
    body.insert("limit".into(), query.limit.into());
    body.insert("offset".into(), query.offset.into());
    body.insert("attributesToRetrieve".into(), json!(["id"]));
    body.insert("locales".into(), json!(["jpn"]));
    let mut filters = Vec::new();
    for (name, among) in [("category", &query.category), ("brand", &query.brand)] {
        if !among.is_empty() {
            let values: Vec<String> = among.iter().map(|v| meilisearch::quoted(v)).collect();
            filters.push(format!("{name} IN [{}]", values.join(", ")));
        }
    }
    for (sign, bound) in [(">=", query.min_price), ("<=", query.max_price)] {
        if let Some(bound) = bound {
            filters.push(format!("price_jpy {sign} {bound}"));
        }
    }
    if query.in_stock_only {
        filters.push("in_stock = true".into());
    }
    if !filters.is_empty() {
        body.insert("filter".into(), filters.join(" AND ").into());
    }
    let sort = match query.sort {
        Sort::Relevance => None,
        Sort::PriceAsc => Some("price_jpy:asc"),
        Sort::PriceDesc => Some("price_jpy:desc"),
        Sort::Newest => Some("id:desc"),
        Sort::Name => Some("name:asc"),
    };
    if let Some(sort) = sort {
        body.insert("sort".into(), json!([sort]));
    }
    if query.facets {
        body.insert("facets".into(), json!(["category", "brand", "price_jpy"]));
    }
    Value::Object(body)
}

fn found(hits: Hits, with_facets: bool) -> Found {
    let counts = |name: &str| -> Vec<(String, u64)> {
        let counts = hits.facet_distribution.get(name).and_then(Value::as_object);
        let mut counts: Vec<(String, u64)> = counts
            .into_iter()
            .flatten()
            .filter_map(|(value, count)| Some((value.clone(), count.as_u64()?)))
            .collect();
        counts.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.cmp(b)));
        counts
    };
    let facets = with_facets.then(|| Facets {
        category: counts("category"),
        brand: counts("brand"),
        ..Facets::default()
    });
    Found {
        facets,
        ids: hits.hits.iter().map(|hit| hit.id).collect(),
        engine: Engine::Meilisearch,
        degraded: None,
    }
}
