//! `search_tasks`: tasks by their titles, notes and contexts.

use std::{collections::HashMap, sync::Arc};

use kit::{Context, Result, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    LOOKS, Words, arguments,
    found::{self, Found, Question},
    reads,
};
use crate::{
    errors,
    model::{
        Status, TaskId,
        board::{Board, Task},
        lines::slice,
        listed,
    },
    project::{Project, context_file},
    search::{Query, Strength, excerpt, fold, fold_bytes},
};

#[derive(Deserialize)]
pub struct Input {
    #[serde(flatten)]
    question: Question,
    #[serde(default = "title_and_content")]
    search_in: Vec<String>,
}

fn title_and_content() -> Vec<String> {
    vec!["title".into(), "content".into()]
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
    let mut input = found::input();
    if let Some(properties) = input.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert(
            "search_in".into(),
            json!({
                "type": "array",
                "items": { "type": "string", "enum": ["title", "content", "context"] },
                "default": title_and_content(),
                "description": "検索対象"
            }),
        );
    }
    Words {
        name: "search_tasks",
        title: "Search tasks",
        description: "全文検索によるタスク検索を行います。",
        input,
        output: found::output(json!({
            "task_id": { "type": "string", "pattern": "^T[0-9]{3}$" },
            "title": { "type": "string" },
            "status": { "type": "string", "enum": ["todo", "in_progress", "done"] },
            "category": { "type": "string" }
        })),
        hints: LOOKS,
        rules: &[errors::QUERY_LONG],
        normalise,
    }
    .tool(reads(project, handle))
}

fn normalise(context: &Context, arguments: &mut Map<String, Value>) {
    found::normalise(context, arguments);
    arguments::list(arguments, "search_in");
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

fn handle(project: &Project, _: &Context, input: &Input) -> Result<Found<Row>> {
    let Some(query) = input.question.query()? else {
        return Ok(Found::default());
    };
    let board = project.board()?;
    let searched = |place: &str| input.search_in.iter().any(|wanted| wanted == place);
    let contexts = match searched("context") {
        true => project
            .catalog
            .contexts(&project.folder()?, &query)
            .map_err(|error| errors::io(".todo", false, error))?,
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
    found.truncate(input.question.limit());
    let promised = project.promised(&board);
    let results = found
        .iter()
        .map(|found| {
            let promise = promised
                .iter()
                .find(|(task, _)| task.lines == found.task.lines);
            Row {
                task_id: found.task.id.or_else(|| promise.and_then(|(_, id)| *id)),
                title: listed(&found.task.title),
                status: found.task.status,
                category: board.category(found.task).to_owned(),
                match_score: (found.score * 1000.0).round() / 1000.0,
                matched_content: shown(project, &board, found, &query),
            }
        })
        .collect();
    Ok(Found {
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
