//! `get_context`: what is known about a task.

use std::sync::Arc;

use kit::{Context, Result, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{LOOKS, Words, arguments, check, reads};
use crate::{
    errors,
    files::Folder,
    model::TaskId,
    project::{Project, context_file},
};

#[derive(Deserialize)]
pub struct Input {
    task_id: String,
}

#[derive(Serialize)]
pub struct Output {
    task_id: TaskId,
    content: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    file_path: String,
    updated_at: String,
}

/// More than this is cut: clients have limits of their own, and the resource
/// has all of it.
const MOST_BYTES: usize = 100_000;

pub fn tool(project: &Arc<Project>) -> Tool {
    Words {
        name: "get_context",
        title: "Read a task's context",
        description: "main-taskのコンテキスト情報を取得します。",
        input: json!({
            "type": "object",
            "properties": {
                "task_id": {
                    "type": "string",
                    "pattern": "^T[0-9]{3}$",
                    "description": "対象のタスクID（2、#t2も可）"
                }
            },
            "required": ["task_id"]
        }),
        output: json!({
            "type": "object",
            "properties": {
                "task_id": { "type": "string", "pattern": "^T[0-9]{3}$" },
                "content": { "type": "string", "description": "コンテキスト内容" },
                "truncated": { "type": "boolean" },
                "file_path": { "type": "string", "description": "contextファイルパス" },
                "updated_at": { "type": "string", "format": "date-time" }
            }
        }),
        hints: LOOKS,
        rules: &[errors::TASK_ID],
        normalise,
    }
    .tool(reads(project, handle))
}

fn normalise(_: &Context, arguments: &mut Map<String, Value>) {
    arguments::task_id(arguments, "task_id");
}

fn handle(project: &Project, _: &Context, input: &Input) -> Result<Output> {
    let id = check::task_id("task_id", &input.task_id)?;
    let board = project.board()?;
    project.find(&board, "task_id", id)?;
    let name = context_file(id);
    let loaded = project
        .folder()?
        .read(&name)?
        .ok_or_else(|| errors::no_context(id))?;
    let (content, truncated) = cut(&loaded.text);
    Ok(Output {
        task_id: id,
        content,
        truncated,
        file_path: Folder::shown(&name),
        updated_at: project.when_ms(loaded.stamp.modified_ms()),
    })
}

/// A text that fits into an answer, and whether something is missing.
pub fn cut(text: &str) -> (String, bool) {
    if text.len() <= MOST_BYTES {
        return (text.to_owned(), false);
    }
    let mut end = MOST_BYTES;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (text.get(..end).unwrap_or_default().to_owned(), true)
}
