//! `search_tasks`: tasks by their titles, notes and contexts.

use std::{collections::HashMap, sync::Arc};

use kit::{Context, Result, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{LOOKS, Words, arguments, check, reads};
use crate::{
    errors,
    model::{
        QUERY_LENGTH, Status, TaskId,
        board::{Board, Task},
        lines::slice,
    },
    project::{Project, context_file},
    search::{Query, Strength, excerpt, fold, fold_bytes},
};

#[derive(Deserialize)]
pub struct Input {
    query: String,
    #[serde(default = "title_and_content")]
    search_in: Vec<String>,
    #[serde(default = "twenty")]
    limit: usize,
}

fn title_and_content() -> Vec<String> {
    vec!["title".into(), "content".into()]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<TaskId>,
    title: String,
    status: Status,
    category: String,
    match_score: f64,
    matched_content: String,
}

pub fn tool(project: &Arc<Project>) -> Tool {
    Words {
        name: "search_tasks",
        title: "Search tasks",
        description: "全文検索によるタスク検索を行います。",
        input: json!({
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "検索クエリ",
                    "minLength": 1,
                    "maxLength": 200
                },
                "search_in": {
                    "type": "array",
                    "items": { "type": "string", "enum": ["title", "content", "context"] },
                    "default": ["title", "content"],
                    "description": "検索対象"
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
                            "title": { "type": "string" },
                            "status": {
                                "type": "string",
                                "enum": ["todo", "in_progress", "done"]
                            },
                            "category": { "type": "string" },
                            "match_score": {
                                "type": "number",
                                "minimum": 0,
                                "maximum": 1,
                                "description": "関連度スコア"
                            },
                            "matched_content": {
                                "type": "string",
                                "description": "マッチしたコンテンツの抜粋"
                            }
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
    arguments::list(arguments, "search_in");
    arguments::integer(arguments, "limit");
}

/// Where the best match was.
#[derive(Clone, Copy)]
enum Place {
    Title,
    Content,
    Context,
}

struct Match<'b> {
    task: &'b Task,
    score: f64,
    place: Place,
}

fn handle(project: &Project, _: &Context, input: &Input) -> Result<Output> {
    check::length("query", &input.query, QUERY_LENGTH)?;
    let query = Query::new(&input.query);
    let empty = Output {
        results: Vec::new(),
        total_matches: 0,
    };
    if query.is_empty() {
        return Ok(empty);
    }
    let board = project.board()?;
    let searched = |place: &str| input.search_in.iter().any(|wanted| wanted == place);
    let contexts: HashMap<TaskId, f64> = match searched("context") {
        true => {
            let found = project.catalog.contexts(&project.folder()?, &query)?;
            found.into_iter().collect()
        }
        false => HashMap::new(),
    };
    let find = |strength: Strength| -> Vec<Match<'_>> {
        let matches = board.tasks.iter().filter_map(|task| {
            let title = searched("title")
                .then(|| query.score(&fold_bytes(&task.title), b"", strength))
                .flatten();
            let content = searched("content")
                .then(|| query.score(b"", &fold_bytes(board.block(task)), strength))
                .flatten();
            let context = task.id.and_then(|id| contexts.get(&id).copied());
            let places = [
                (title, Place::Title, 1.0),
                (content, Place::Content, 0.9),
                (context, Place::Context, 0.8),
            ];
            places
                .into_iter()
                .filter_map(|(score, place, weight)| Some((score? * weight, place)))
                .max_by(|(one, _), (other, _)| one.total_cmp(other))
                .map(|(score, place)| Match { task, score, place })
        });
        matches.collect()
    };
    let mut found = find(Strength::All);
    if found.is_empty() && query.has_several_words() {
        found = find(Strength::Any);
    }
    let total_matches = found.len();
    // Equal matches stay in the order of the file.
    found.sort_by(|one, other| other.score.total_cmp(&one.score));
    found.truncate(input.limit.clamp(1, 50));
    let promised = project.promised(&board);
    let results = found
        .iter()
        .map(|found| {
            let promise = promised
                .iter()
                .find(|(task, _)| task.lines == found.task.lines);
            Row {
                task_id: found.task.id.or_else(|| promise.and_then(|(_, id)| *id)),
                title: found.task.title.clone(),
                status: found.task.status,
                category: board.category(found.task).to_owned(),
                match_score: (found.score * 1000.0).round() / 1000.0,
                matched_content: shown(project, &board, found, &query),
            }
        })
        .collect();
    Ok(Output {
        results,
        total_matches,
    })
}

fn shown(project: &Project, board: &Board, found: &Match<'_>, query: &Query) -> String {
    match (found.place, found.task.id) {
        (Place::Title, _) => excerpt(&found.task.title, query),
        (Place::Context, Some(id)) => {
            let text = project
                .folder()
                .and_then(|folder| folder.read(&context_file(id)));
            match text {
                Ok(Some(loaded)) => excerpt(&loaded.text, query),
                _ => String::new(),
            }
        }
        _ => {
            let block = board.block(found.task);
            let line = board.line(found.task.lines.start);
            // The title is shown already; what stands below it says more.
            let below = slice(block, line.len()..block.len());
            let best = excerpt(below, query);
            let matches = query.words().any(|word| fold(&best).contains(word));
            if matches { best } else { excerpt(block, query) }
        }
    }
}
