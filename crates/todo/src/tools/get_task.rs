//! `get_task`: everything about one task, in one look.

use std::sync::Arc;

use kit::{Context, Result, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{LOOKS, Words, arguments, check, reads};
use crate::{
    errors,
    model::{Status, TaskId, entry::Link, graph::Graph},
    project::{Project, context_file},
};

#[derive(Deserialize)]
pub struct Input {
    task_id: String,
}

#[derive(Serialize)]
pub struct Output {
    task_id: TaskId,
    title: String,
    status: Status,
    category: String,
    priority: usize,
    line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    due: Option<String>,
    overdue: bool,
    ready: bool,
    subtasks: Vec<Subtask>,
    depends_on: Vec<TaskId>,
    blocks: Vec<TaskId>,
    relates: Vec<TaskId>,
    decided_by: Vec<u16>,
    blocked_by: Vec<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_excerpt: Option<String>,
}

#[derive(Serialize)]
struct Subtask {
    title: String,
    status: Status,
}

/// Characters of the context shown; get_context has all of it.
const EXCERPT: usize = 400;

pub fn tool(project: &Arc<Project>) -> Tool {
    Words {
        name: "get_task",
        title: "Read a task",
        description: "タスク1件の詳細（サブタスク、リンク、期日、コンテキスト抜粋）を取得します。",
        input: json!({
            "type": "object",
            "properties": {
                "task_id": {
                    "type": "string",
                    "pattern": "^T[0-9]{3}$",
                    "description": "T002（2、#t2も可）"
                }
            },
            "required": ["task_id"]
        }),
        output: json!({
            "type": "object",
            "properties": {
                "task_id": { "type": "string" },
                "title": { "type": "string" },
                "status": { "type": "string" },
                "category": { "type": "string" },
                "priority": { "type": "integer" },
                "line": { "type": "integer" },
                "due": { "type": "string" },
                "overdue": { "type": "boolean" },
                "ready": { "type": "boolean" },
                "subtasks": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "title": { "type": "string" },
                            "status": { "type": "string" }
                        }
                    }
                },
                "depends_on": { "type": "array", "items": { "type": "string" } },
                "blocks": { "type": "array", "items": { "type": "string" } },
                "relates": { "type": "array", "items": { "type": "string" } },
                "decided_by": { "type": "array", "items": { "type": "integer" } },
                "blocked_by": {
                    "type": "array",
                    "description": "未完了の先行タスク",
                    "items": { "type": "string" }
                },
                "context_excerpt": { "type": "string" }
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

fn handle(project: &Project, context: &Context, input: &Input) -> Result<Output> {
    let id = check::task_id("task_id", &input.task_id)?;
    let board = project.board()?;
    let task = project.find(&board, "task_id", id)?;
    let graph = Graph::of(&board);
    let open = task.status != Status::Done;
    let blocked_by: Vec<TaskId> = match open {
        true => graph.blockers(id).collect(),
        false => Vec::new(),
    };
    let today = project.today(context);
    let linked = |link| task.linked(link).map(TaskId).collect::<Vec<_>>();
    let mut relates = linked(Link::See);
    for other in &board.tasks {
        if let Some(other_id) = other.id
            && other.linked(Link::See).any(|number| number == id.0)
            && !relates.contains(&other_id)
        {
            relates.push(other_id);
        }
    }
    let loaded = project.folder()?.read(&context_file(id))?;
    Ok(Output {
        task_id: id,
        title: task.title.clone(),
        status: task.status,
        category: board.category(task).to_owned(),
        priority: task.position,
        line: task.lines.start + 1,
        due: task.due.map(|due| due.to_string()),
        overdue: open && task.due.is_some_and(|due| due < today),
        ready: task.status == Status::Todo && blocked_by.is_empty(),
        subtasks: task
            .subtasks
            .iter()
            .map(|sub| Subtask {
                title: sub.title.clone(),
                status: sub.status,
            })
            .collect(),
        depends_on: graph.waits_for(id).collect(),
        blocks: graph.waiting(id).collect(),
        relates,
        decided_by: task.linked(Link::Adr).collect(),
        blocked_by,
        context_excerpt: loaded.map(|loaded| excerpt(&loaded.text)),
    })
}

/// The context without its title, cut.
fn excerpt(text: &str) -> String {
    let mut lines = text.trim_start_matches('\u{feff}').lines().peekable();
    if lines.peek().is_some_and(|line| line.starts_with("# ")) {
        lines.next();
    }
    let body = lines.collect::<Vec<_>>().join("\n");
    let body = body.trim();
    match body.char_indices().nth(EXCERPT) {
        Some((at, _)) => format!("{}…", body.get(..at).unwrap_or_default()),
        None => body.to_owned(),
    }
}
