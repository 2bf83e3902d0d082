//! What the search tools share: their input, the shape of their output, and the
//! search over files.

use kit::{Context, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{arguments, check, listing::Explanation};
use crate::{
    errors,
    model::QUERY_LENGTH,
    search::{FileKind, Hit, Query, excerpt},
    state::CounterState,
};

#[derive(Deserialize, JsonSchema)]
pub struct QueryInput {
    #[schemars(length(min = 1, max = QUERY_LENGTH))]
    query: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct SearchInput {
    #[serde(flatten)]
    query: QueryInput,
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
}

fn default_limit() -> usize {
    20
}

#[derive(Serialize, JsonSchema)]
pub struct SearchOutput<R> {
    pub results: Vec<R>,
    pub total_matches: usize,
    #[serde(flatten)]
    #[schemars(skip)]
    pub explanation: Explanation,
}

impl<R> SearchOutput<R> {
    /// For a query of which nothing is left after folding.
    pub fn without_words(context: &Context) -> Self {
        Self {
            results: Vec::new(),
            total_matches: 0,
            explanation: Explanation::new(
                context,
                "The query has no letters or digits to search for.".into(),
                "検索できる文字がクエリにありません。".into(),
                Value::Null,
            ),
        }
    }
}

// The fields that every result has.
#[derive(Serialize, JsonSchema)]
pub struct Match {
    #[schemars(range(min = 0, max = 1))]
    pub match_score: f64,
    pub matched_content: String,
}

impl QueryInput {
    /// `None` when the query has no searchable characters.
    pub fn query(&self) -> Result<Option<Query>> {
        check::length("query", &self.query, QUERY_LENGTH)?;
        Ok(Some(Query::new(&self.query)).filter(|query| !query.is_empty()))
    }
}

impl SearchInput {
    pub fn query(&self) -> Result<Option<Query>> {
        self.query.query()
    }

    pub fn limit(&self) -> usize {
        self.limit.clamp(1, 50)
    }
}

pub fn normalise(_: &Context, arguments: &mut Map<String, Value>) {
    arguments::integer(arguments, "limit");
}

/// Searches the files of the wanted kinds. `row` makes a result from the hit, the
/// file's text and the match.
pub fn search_files<R>(
    state: &CounterState,
    query: &Query,
    limit: usize,
    wanted: fn(FileKind) -> bool,
    row: impl Fn(&Hit, Match) -> R,
) -> Result<SearchOutput<R>> {
    let folder = state.files.folder()?;
    let hits = state
        .catalog
        .search(&folder, query, limit, wanted)
        .map_err(|error| errors::io(".todo", false, error))?;
    let mut results = Vec::with_capacity(hits.best.len());
    for hit in hits.best {
        // The file may have been deleted since the search.
        let Some(loaded) = folder.read(&hit.name)? else {
            continue;
        };
        let matched = Match {
            match_score: hit.score,
            matched_content: excerpt(&loaded.text, query),
        };
        results.push(row(&hit, matched));
    }
    Ok(SearchOutput {
        results,
        total_matches: hits.total,
        explanation: Explanation::default(),
    })
}
