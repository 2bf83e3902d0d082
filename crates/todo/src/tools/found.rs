//! What the three searches share: the question, and the shape of the answer.

use kit::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{arguments, check};
use crate::{
    errors,
    model::QUERY_LENGTH,
    project::Project,
    search::{Hit, Kind, Query, excerpt},
};

#[derive(Deserialize)]
pub struct Question {
    query: String,
    #[serde(default = "twenty")]
    limit: usize,
}

fn twenty() -> usize {
    20
}

#[derive(Serialize)]
pub struct Found<R> {
    pub results: Vec<R>,
    pub total_matches: usize,
}

impl<R> Default for Found<R> {
    fn default() -> Self {
        Self {
            results: Vec::new(),
            total_matches: 0,
        }
    }
}

impl Question {
    /// `None` when nothing is left of it that could be looked for.
    pub fn query(&self) -> Result<Option<Query>> {
        check::length("query", &self.query, QUERY_LENGTH)?;
        Ok(Some(Query::new(&self.query)).filter(|query| !query.is_empty()))
    }

    pub fn limit(&self) -> usize {
        self.limit.clamp(1, 50)
    }
}

pub fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": "検索クエリ",
                "minLength": 1,
                "maxLength": QUERY_LENGTH
            },
            "limit": { "type": "integer", "minimum": 1, "maximum": 50, "default": 20 }
        },
        "required": ["query"]
    })
}

/// With the fields of one result beside those that all have.
pub fn output(fields: Value) -> Value {
    let mut row = match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    row.insert(
        "match_score".into(),
        json!({ "type": "number", "minimum": 0, "maximum": 1, "description": "関連度スコア" }),
    );
    row.insert(
        "matched_content".into(),
        json!({ "type": "string", "description": "マッチしたコンテンツの抜粋" }),
    );
    json!({
        "type": "object",
        "properties": {
            "results": {
                "type": "array",
                "items": { "type": "object", "properties": row }
            },
            "total_matches": { "type": "integer" }
        }
    })
}

pub fn normalise(_: &Context, arguments: &mut Map<String, Value>) {
    arguments::integer(arguments, "limit");
}

/// The files of these kinds that match, each as `row` shows it: with its text,
/// and the place in it that matched.
pub fn among<R>(
    project: &Project,
    question: &Question,
    wanted: fn(Kind) -> bool,
    row: impl Fn(Hit, &str, String) -> Option<R>,
) -> Result<Found<R>> {
    let Some(query) = question.query()? else {
        return Ok(Found::default());
    };
    let folder = project.folder()?;
    let hits = project
        .catalog
        .search(&folder, &query, question.limit(), wanted)
        .map_err(|error| errors::io(".todo", false, error))?;
    let mut results = Vec::with_capacity(hits.best.len());
    for hit in hits.best {
        // Gone since it was found.
        let Some(loaded) = folder.read(&hit.name)? else {
            continue;
        };
        let matched = excerpt(&loaded.text, &query);
        results.extend(row(hit, &loaded.text, matched));
    }
    Ok(Found {
        results,
        total_matches: hits.total,
    })
}
