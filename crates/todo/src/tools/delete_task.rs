//! `delete_task`: a task and its context file.

use std::sync::Arc;

use kit::{Result, Tool, tool::as_is};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{TAKES, Words, check, writes};
use crate::{
    errors,
    files::Folder,
    model::{TaskId, edit},
    project::{Project, context_file},
    txn::Txn,
};

#[derive(Deserialize)]
pub struct Input {
    task_id: String,
}

#[derive(Serialize)]
pub struct Output {
    task_id: TaskId,
    deleted_files: Vec<String>,
    deleted_at: String,
}

pub fn tool(project: &Arc<Project>) -> Tool {
    Words {
        name: "delete_task",
        title: "Delete a task",
        description: "main-taskを削除し、対応するcontextファイルも同時に削除します。",
        input: json!({
            "type": "object",
            "properties": {
                "task_id": {
                    "type": "string",
                    "pattern": "^T[0-9]{3}$",
                    "description": "削除対象のタスクID"
                }
            },
            "required": ["task_id"]
        }),
        output: json!({
            "type": "object",
            "properties": {
                "task_id": { "type": "string", "pattern": "^T[0-9]{3}$" },
                "deleted_files": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "削除されたファイルのリスト"
                },
                "deleted_at": { "type": "string", "format": "date-time" }
            }
        }),
        hints: TAKES,
        rules: &[errors::TASK_ID],
        normalise: as_is,
    }
    .tool(writes(project, apply))
}

pub fn apply(txn: &mut Txn<'_>, input: &Input) -> Result<Output> {
    let id = check::task_id("task_id", &input.task_id)?;
    let board = txn.board()?;
    let task = txn.find(&board, "task_id", id)?;
    let without = edit::remove(&board, task).map_err(|refusal| check::refused(refusal, ""))?;
    txn.set_board(without);
    let name = context_file(id);
    let mut deleted_files = Vec::new();
    if txn.delete(&name)? {
        deleted_files.push(Folder::shown(&name));
    }
    txn.label(format!("delete_task {id}"));
    Ok(Output {
        task_id: id,
        deleted_files,
        deleted_at: txn.now_text(),
    })
}
