//! `delete_task`: a task and its context file.

use std::sync::Arc;

use kit::{Definition, Effect, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    check,
    declare::{DESTROYS, writes},
};
use crate::{
    files::{Folder, context_file},
    model::{TaskId, edit},
    state::CounterState,
    txn::Txn,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// 削除対象のタスクID
    #[schemars(with = "TaskId")]
    task_id: String,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    task_id: TaskId,
    /// 削除されたファイルのリスト
    deleted_files: Vec<String>,
    #[schemars(extend("format" = "date-time"))]
    deleted_at: String,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "delete_task",
            title: "Delete a task",
            description: "main-taskを削除し、対応するcontextファイルも同時に削除します。",
            hints: DESTROYS,
            effect: Effect::Write,
        },
        writes(state, apply),
    )
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
