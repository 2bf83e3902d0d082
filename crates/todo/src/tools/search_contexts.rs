//! `search_contexts`: contexts, and the other Markdown people keep in `.todo/`.

use std::sync::Arc;

use kit::{Context, Result, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{LOOKS, Words, arguments, check, reads};
use crate::{
    errors,
    files::Folder,
    model::{QUERY_LENGTH, TaskId},
    project::Project,
    search::{Kind, Query, excerpt},
};

#[derive(Deserialize)]
pub struct Input {
    query: String,
    #[serde(default = "twenty")]
    limit: usize,
}

fn twenty() -> usize {
    20
}

#[derive(Serialize)]
pub struct Output {
    results: Vec<Row>,
    total_matches: usize,
}

#[derive(Serialize)]
struct Row {
    /// None for files that are no task's context.
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<TaskId>,
    match_score: f64,
    matched_content: String,
    file_path: String,
}

pub fn tool(project: &Arc<Project>) -> Tool {
    Words {
        name: "search_contexts",
        title: "Search contexts",
        description: "全コンテキストファイルを検索します。",
        input: json!({
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "検索クエリ",
                    "minLength": 1,
                    "maxLength": 200
                },
                "limit": { "type": "integer", "minimum": 1, "maximum": 50, "default": 20 }
            },
            "required": ["query"]
        }),
        output: json!({
            "type": "object",
            "properties": {
                "results": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "task_id": { "type": "string", "pattern": "^T[0-9]{3}$" },
                            "match_score": { "type": "number", "minimum": 0, "maximum": 1 },
                            "matched_content": {
                                "type": "string",
                                "description": "マッチしたコンテンツの抜粋"
                            },
                            "file_path": { "type": "string" }
                        }
                    }
                },
                "total_matches": { "type": "integer" }
            }
        }),
        hints: LOOKS,
        rules: &[errors::QUERY_LONG],
        normalise,
    }
    .tool(reads(project, handle))
}

fn normalise(_: &Context, arguments: &mut Map<String, Value>) {
    arguments::drop_nulls(arguments);
    arguments::integer(arguments, "limit");
}

fn handle(project: &Project, _: &Context, input: &Input) -> Result<Output> {
    check::length("query", &input.query, QUERY_LENGTH)?;
    let query = Query::new(&input.query);
    let folder = project.folder()?;
    if query.is_empty() {
        return Ok(Output {
            results: Vec::new(),
            total_matches: 0,
        });
    }
    let limit = input.limit.clamp(1, 50);
    let no_adr = |kind| !matches!(kind, Kind::Adr(_));
    let (hits, total_matches) = project.catalog.search(&folder, &query, limit, no_adr)?;
    let mut results = Vec::with_capacity(hits.len());
    for hit in hits {
        let Some(loaded) = folder.read(&hit.name)? else {
            continue;
        };
        results.push(Row {
            task_id: match hit.kind {
                Kind::Context(id) => Some(id),
                _ => None,
            },
            match_score: hit.score,
            matched_content: excerpt(&loaded.text, &query),
            file_path: Folder::shown(&hit.name),
        });
    }
    Ok(Output {
        results,
        total_matches,
    })
}
