//! `list_tasks`: the board, filtered.

use std::sync::Arc;

use kit::{Context, Result, Tool, context::Language, page};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{LOOKS, Words, arguments, check, reads};
use crate::{
    errors,
    model::{
        Status, TaskId,
        board::{Board, Task},
        graph::Graph,
        listed,
    },
    project::Project,
};

#[derive(Deserialize)]
pub struct Input {
    status: Option<String>,
    category: Option<String>,
    ready: Option<bool>,
    blocked: Option<bool>,
    overdue: Option<bool>,
    #[serde(default = "fifty")]
    limit: usize,
    cursor: Option<String>,
}

fn fifty() -> usize {
    50
}

#[derive(Serialize)]
pub struct Output {
    tasks: Vec<Row>,
    total_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Clone, Serialize)]
struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<TaskId>,
    title: String,
    status: Status,
    category: String,
    subtasks_count: usize,
    priority: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    due: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocked_by: Vec<TaskId>,
}

pub fn tool(project: &Arc<Project>) -> Tool {
    Words {
        name: "list_tasks",
        title: "List tasks",
        description: "タスク一覧を取得します。フィルタリング機能付き。",
        input: json!({
            "type": "object",
            "properties": {
                "status": {
                    "type": "string",
                    "enum": ["todo", "in_progress", "done"],
                    "description": "ステータスフィルタ（doing、completed、完了も可）"
                },
                "category": { "type": "string", "description": "カテゴリフィルタ" },
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 100,
                    "default": 50,
                    "description": "取得件数上限"
                },
                "ready": { "type": "boolean", "description": "着手可能（未着手で先行タスクが全て完了）" },
                "blocked": { "type": "boolean", "description": "先行タスクが未完了" },
                "overdue": { "type": "boolean", "description": "期日超過" },
                "cursor": { "type": "string", "description": "前回のnext_cursor" }
            }
        }),
        output: json!({
            "type": "object",
            "properties": {
                "tasks": {
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
                            "subtasks_count": {
                                "type": "integer",
                                "description": "サブタスク数"
                            },
                            "priority": {
                                "type": "integer",
                                "description": "優先度（位置ベース、小さいほど高優先度）"
                            },
                            "due": { "type": "string" },
                            "blocked_by": { "type": "array", "items": { "type": "string" } }
                        }
                    }
                },
                "total_count": { "type": "integer", "description": "総件数" },
                "next_cursor": { "type": "string" },
                "message": { "type": "string" },
                "warnings": { "type": "array", "items": { "type": "string" } }
            }
        }),
        hints: LOOKS,
        rules: &[errors::STATUS],
        normalise,
    }
    .tool(reads(project, handle))
}

fn normalise(_: &Context, arguments: &mut Map<String, Value>) {
    arguments::status(arguments, "status");
    arguments::integer(arguments, "limit");
}

fn handle(project: &Project, context: &Context, input: &Input) -> Result<Output> {
    let status = input.status.as_deref().map(check::status).transpose()?;
    let board = project.board()?;
    let category = input
        .category
        .as_deref()
        .map(|name| board.known_category(name.trim()).unwrap_or(name));
    let today = project.today(context);
    let graph = Graph::of(&board);
    let promised = project.promised(&board);
    let wanted = |filter: Option<bool>, is: bool| filter.is_none_or(|wanted| wanted == is);

    let mut rows = Vec::new();
    for task in &board.tasks {
        let open = task.status != Status::Done;
        let blocked_by: Vec<TaskId> = match task.id {
            Some(id) if open => graph.blockers(id).collect(),
            _ => Vec::new(),
        };
        let blocked = !blocked_by.is_empty();
        let ready = task.status == Status::Todo && !blocked;
        let overdue = open && task.due.is_some_and(|due| due < today);
        let matches = status.is_none_or(|status| task.status == status)
            && category.is_none_or(|category| board.category(task) == category)
            && wanted(input.ready, ready)
            && wanted(input.blocked, blocked)
            && wanted(input.overdue, overdue);
        if matches {
            rows.push((task, blocked_by));
        }
    }
    let total_count = rows.len();
    let page = page::slice(&rows, input.cursor.as_deref(), input.limit.clamp(1, 100))?;
    let id_of = |task: &Task| {
        task.id.or_else(|| {
            let found = promised.iter().find(|(other, _)| other.lines == task.lines);
            found.and_then(|(_, id)| *id)
        })
    };
    let message = (total_count == 0).then(|| match (board.tasks.is_empty(), context.language) {
        (true, Language::English) => "There are no tasks yet; create_task makes the first.",
        (true, Language::Japanese) => "タスクはまだありません。create_taskで作成できます。",
        (false, Language::English) => "No task matches; without filters all are listed.",
        (false, Language::Japanese) => {
            "該当するタスクはありません。絞り込みを外すと全件を表示します。"
        }
    });
    Ok(Output {
        message,
        tasks: page
            .items
            .into_iter()
            .map(|(task, blocked_by)| row(&board, task, id_of(task), blocked_by))
            .collect(),
        total_count,
        next_cursor: page.next_cursor,
        warnings: board.warnings.iter().take(20).cloned().collect(),
    })
}

fn row(board: &Board, task: &Task, id: Option<TaskId>, blocked_by: Vec<TaskId>) -> Row {
    Row {
        task_id: id,
        title: listed(&task.title),
        status: task.status,
        category: board.category(task).to_owned(),
        subtasks_count: task.subtasks.len(),
        priority: task.position,
        due: task.due.map(|due| due.to_string()),
        blocked_by,
    }
}
