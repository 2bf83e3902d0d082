//! `create_task`: a line in `task.md`, and a context file.

use std::sync::Arc;

use kit::{Context, Result, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{ADDS, Words, arguments, check, writes};
use crate::{
    errors,
    files::Folder,
    model::{DESCRIPTION_LENGTH, TaskId, context, document, edit, edit::NewTask, place},
    project::{Project, context_file},
    txn::Txn,
};

const NAME: &str = "create_task";

#[derive(Deserialize)]
pub struct Input {
    title: String,
    category: Option<String>,
    description: Option<String>,
    #[serde(default)]
    subtasks: Vec<String>,
    due: Option<String>,
    idempotency_key: Option<String>,
}

#[derive(Serialize)]
pub struct Output {
    task_id: TaskId,
    file_path: String,
    created_at: String,
}

pub fn tool(project: &Arc<Project>) -> Tool {
    Words {
        name: NAME,
        title: "Create a task",
        description: "新規main-taskを作成し、対応するcontextファイルを生成します。",
        input: json!({
            "type": "object",
            "properties": {
                "title": {
                    "type": "string",
                    "description": "タスクのタイトル",
                    "maxLength": 100,
                    "minLength": 1
                },
                "category": {
                    "type": "string",
                    "description": "タスクのカテゴリ（セクション名）",
                    "maxLength": 50
                },
                "description": {
                    "type": "string",
                    "description": "タスクの詳細説明",
                    "maxLength": 500
                },
                "subtasks": {
                    "type": "array",
                    "description": "サブタスクリスト",
                    "items": { "type": "string", "maxLength": 100 },
                    "maxItems": 20
                },
                "due": { "type": "string", "description": "期日 YYYY-MM-DD" },
                "idempotency_key": {
                    "type": "string",
                    "description": "再試行時に同じ値を渡すと二重に作成されません",
                    "maxLength": 200
                }
            },
            "required": ["title"]
        }),
        output: json!({
            "type": "object",
            "properties": {
                "task_id": {
                    "type": "string",
                    "pattern": "^T[0-9]{3}$",
                    "description": "生成されたタスクID"
                },
                "file_path": {
                    "type": "string",
                    "description": "作成されたcontextファイルパス"
                },
                "created_at": {
                    "type": "string",
                    "format": "date-time",
                    "description": "作成日時"
                }
            }
        }),
        hints: ADDS,
        rules: &[
            errors::TITLE_LONG,
            errors::CATEGORY,
            errors::DESCRIPTION_LONG,
            errors::SUBTASKS_LONG,
            errors::SUBTASKS_MANY,
            errors::DUE,
        ],
        normalise,
    }
    .tool(writes(project, apply))
}

pub fn normalise(_: &Context, arguments: &mut Map<String, Value>) {
    arguments::list(arguments, "subtasks");
}

pub fn apply(txn: &mut Txn<'_>, input: &Input) -> Result<Output> {
    let title = check::title("title", &input.title)?;
    let category = input.category.as_deref().map(check::category).transpose()?;
    if let Some(description) = &input.description {
        check::length("description", description, DESCRIPTION_LENGTH)?;
        check::closed("description", description)?;
    }
    check::subtask_count(input.subtasks.len())?;
    for subtask in &input.subtasks {
        check::title("subtasks", subtask)?;
    }
    let due = input.due.as_deref().map(check::due).transpose()?;

    let board = txn.board()?;
    let key = input.idempotency_key.as_deref();
    let earlier = txn.earlier(NAME, key, &title)?;
    let id = match &earlier {
        Some(earlier) => {
            let id = TaskId(earlier.number);
            if board.tasks.iter().any(|task| task.id == Some(id)) {
                return Ok(Output {
                    task_id: id,
                    file_path: Folder::shown(&context_file(id)),
                    created_at: earlier.at.clone(),
                });
            }
            id
        }
        None => txn.new_task_id()?,
    };
    let category = category.as_deref().unwrap_or(place::default_category());
    let board = edit::create(
        &board,
        &NewTask {
            id,
            title: &title,
            category: board.known_category(category).unwrap_or(category),
            subtasks: &input.subtasks,
            due,
        },
    )
    .map_err(|refusal| check::refused(refusal, &title))?;
    txn.set_board(board);

    let created_at = txn.now_text();
    txn.note(NAME, key, &title, id.0, &created_at)?;
    let name = context_file(id);
    // A file of that name is somebody's notes for a task of that number.
    if txn.text(&name)?.is_none() {
        let description = match &input.description {
            Some(description) => description.clone(),
            None if document::is_closed(&title) => title,
            // A title may begin like a code fence; here it would be one.
            None => format!("\\{title}"),
        };
        txn.put(&name, context::new(id, &description, &created_at))?;
    }
    txn.label(format!("create_task {id}"));
    Ok(Output {
        task_id: id,
        file_path: Folder::shown(&name),
        created_at,
    })
}
