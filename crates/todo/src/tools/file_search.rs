//! What the search tools share: their input, the shape of their output, and the
//! search over files.

use kit::{Context, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{arguments, check};
use crate::{
    errors,
    model::QUERY_LENGTH,
    search::{FileKind, Hit, Query, excerpt},
    state::CounterState,
};

#[derive(Deserialize, JsonSchema)]
pub struct SearchInput {
    /// 検索クエリ
    #[schemars(length(min = 1, max = QUERY_LENGTH))]
    query: String,
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
}

impl<R> Default for SearchOutput<R> {
    fn default() -> Self {
        Self {
            results: Vec::new(),
            total_matches: 0,
        }
    }
}

// The fields that every result has.
#[derive(Serialize, JsonSchema)]
pub struct Match {
    /// 関連度スコア
    #[schemars(range(min = 0, max = 1))]
    pub match_score: f64,
    /// マッチしたコンテンツの抜粋
    pub matched_content: String,
}

impl SearchInput {
    /// `None` when the query has no searchable characters.
    pub fn query(&self) -> Result<Option<Query>> {
        check::length("query", &self.query, QUERY_LENGTH)?;
        Ok(Some(Query::new(&self.query)).filter(|query| !query.is_empty()))
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
    input: &SearchInput,
    wanted: fn(FileKind) -> bool,
    row: impl Fn(&Hit, &str, Match) -> Option<R>,
) -> Result<SearchOutput<R>> {
    let Some(query) = input.query()? else {
        return Ok(SearchOutput::default());
    };
    let folder = state.files.folder()?;
    let hits = state
        .catalog
        .search(&folder, &query, input.limit(), wanted)
        .map_err(|error| errors::io(".todo", false, error))?;
    let mut results = Vec::with_capacity(hits.best.len());
    for hit in hits.best {
        // The file may have been deleted since the search.
        let Some(loaded) = folder.read(&hit.name)? else {
            continue;
        };
        let matched = Match {
            match_score: hit.score,
            matched_content: excerpt(&loaded.text, &query),
        };
        results.extend(row(&hit, &loaded.text, matched));
    }
    Ok(SearchOutput {
        results,
        total_matches: hits.total,
    })
}
