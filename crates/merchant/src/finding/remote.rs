//! Searches in Meilisearch, as long as it is up to date and answers.

use std::{sync::Arc, time::Instant};

use kit::{Store, sql::Budget};
use search::{Facets, Query, Sort};
use serde_json::{Map, Value, json};

use super::{
    breaker::Breaker,
    candidates::{Candidates, Engine},
    meilisearch::{Failure, Hits, Meilisearch, quoted},
    sync_state::SyncState,
};
use crate::store;

/// Stands for a hit that is not one of our products, so that offsets stay right.
const NO_PRODUCT: i64 = i64::MIN;

pub struct RemoteSearch {
    pub meilisearch: Arc<Meilisearch>,
    pub sync_state: Arc<SyncState>,
    store: Arc<dyn Store>,
    breaker: Breaker,
}

impl RemoteSearch {
    pub fn new(meilisearch: Meilisearch, store: &Arc<dyn Store>) -> Self {
        Self {
            meilisearch: Arc::new(meilisearch),
            sync_state: Arc::default(),
            store: Arc::clone(store),
            breaker: Breaker::default(),
        }
    }

    /// The error is the reason why it did not answer.
    pub async fn find(&self, query: &Query) -> Result<Candidates, &'static str> {
        if !self.is_in_step().await {
            return Err("Meilisearch does not know the whole catalogue yet.");
        }
        if !self.breaker.allows(Instant::now()) {
            return Err("Meilisearch has not answered recently.");
        }
        match self.meilisearch.search(&body(query)).await {
            Ok(hits) => {
                self.answered();
                Ok(found(&hits, query))
            }
            Err(failure) => {
                tracing::warn!(%failure, "the embedded index answers instead");
                Err(self.did_not_find(&failure))
            }
        }
    }

    /// Whether it answers to our key, for the operator.
    pub async fn check(&self) -> kit::Result<String> {
        match self.meilisearch.documents().await {
            Ok(Some(count)) => Ok(format!("answers, and has {count} documents")),
            Ok(None) => Ok("answers; the catalogue has not been sent yet".into()),
            Err(failure) => {
                let what = failure.to_string();
                let what = format!("{}.", what.trim_end_matches('.'));
                Err(kit::Error::new("MEILISEARCH_UNUSABLE", what).next(
                    "Check meilisearch_url and meilisearch_master_key in [merchant]; until then \
                     the embedded index answers.",
                ))
            }
        }
    }

    fn did_not_find(&self, failure: &Failure) -> &'static str {
        if failure.is("index_not_found") {
            self.answered();
            self.sync_state.index_is_missing();
            return "Meilisearch has lost the catalogue.";
        }
        if failure.is_about_one_search() {
            self.answered();
            return "Meilisearch refused this search.";
        }
        self.breaker.failed(Instant::now());
        match failure {
            Failure::Unreachable(_) => "Meilisearch did not answer.",
            Failure::Refused { .. } => "Meilisearch can't answer.",
        }
    }

    fn answered(&self) {
        if self.breaker.succeeded() {
            // Send at once what changed in the meantime.
            self.sync_state.wake.notify_one();
        }
    }

    /// Asks the database where no feed runs: in a process that makes only one call.
    async fn is_in_step(&self) -> bool {
        if let Some(known) = self.sync_state.known() {
            return known;
        }
        let meilisearch = Arc::clone(&self.meilisearch);
        let looked = self
            .store
            .query(Budget::default(), move |sql| {
                let Some(catalogue) = store::catalogue_id(sql)? else {
                    return Ok(false);
                };
                let position = store::sync_position(sql, &meilisearch.target(&catalogue))?;
                Ok(position > 0 && position >= store::newest_change(sql)?)
            })
            .await;
        let is_in = looked.unwrap_or(false);
        if is_in {
            self.sync_state.set_first(true);
        }
        is_in
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
            let values: Vec<String> = among.iter().map(|v| quoted(v)).collect();
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
        body.insert("facets".into(), json!(["category", "brand"]));
    }
    Value::Object(body)
}

fn found(hits: &Hits, query: &Query) -> Candidates {
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
    let facets = query.facets.then(|| Facets {
        category: counts("category"),
        brand: counts("brand"),
        ..Facets::default()
    });
    let hits = hits.hits.iter().take(query.limit);
    Candidates {
        facets,
        ids: hits.map(|hit| hit.id().unwrap_or(NO_PRODUCT)).collect(),
        engine: Engine::Meilisearch,
        degraded: None,
    }
}
