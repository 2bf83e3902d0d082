//! `reorder_task`: another place in the same category.

use std::sync::Arc;

use kit::{Result, Tool, tool::as_is};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{SETS, Words, check, writes};
use crate::{
    errors,
    model::{
        TaskId,
        board::{Board, Task},
        edit,
        place::Place,
    },
    project::Project,
    txn::Txn,
};

#[derive(Deserialize)]
pub struct Input {
    task_id: String,
    position: String,
    reference_task_id: Option<String>,
}

#[derive(Serialize)]
pub struct Output {
    task_id: TaskId,
    old_position: usize,
    new_position: usize,
    updated_at: String,
}

pub fn tool(project: &Arc<Project>) -> Tool {
    Words {
        name: "reorder_task",
        title: "Move a task",
        description: "タスクの位置を変更し、優先度を調整します。",
        input: json!({
            "type": "object",
            "properties": {
                "task_id": {
                    "type": "string",
                    "pattern": "^T[0-9]{3}$",
                    "description": "移動対象のタスクID"
                },
                "position": {
                    "type": "string",
                    "enum": ["first", "last", "before", "after"],
                    "description": "移動先の位置"
                },
                "reference_task_id": {
                    "type": "string",
                    "pattern": "^T[0-9]{3}$",
                    "description": "参照タスクID（position が before/after の場合必須）"
                }
            },
            "required": ["task_id", "position"]
        }),
        output: json!({
            "type": "object",
            "properties": {
                "task_id": { "type": "string", "pattern": "^T[0-9]{3}$" },
                "old_position": { "type": "integer", "description": "元の位置" },
                "new_position": { "type": "integer", "description": "新しい位置" },
                "updated_at": { "type": "string", "format": "date-time" }
            }
        }),
        hints: SETS,
        rules: &[errors::TASK_ID, errors::POSITION, errors::REFERENCE_ID],
        normalise: as_is,
    }
    .tool(writes(project, apply))
}

pub fn apply(txn: &mut Txn<'_>, input: &Input) -> Result<Output> {
    let id = check::task_id("task_id", &input.task_id)?;
    let board = txn.board()?;
    let task = txn.find(&board, "task_id", id)?;
    let old_position = task.position;
    let others = || {
        board
            .in_category(board.category(task))
            .filter(|other| other.lines != task.lines)
    };
    let place = match input.position.as_str() {
        "first" => others().next().map(Place::Before),
        "last" => others().last().map(Place::After),
        "before" => Some(Place::Before(reference(txn, &board, task, input)?)),
        "after" => Some(Place::After(reference(txn, &board, task, input)?)),
        other => {
            let message = "A position is first, last, before or after.";
            return Err(errors::invalid_position("position", other, message));
        }
    };
    let moved = match place {
        Some(place) => edit::relocate(&board, task, id, place),
        // It is alone in its category.
        None => edit::change(&board, task, id, &edit::Change::default()),
    };
    let moved = moved.map_err(|refusal| check::refused(refusal, ""))?;
    let new_position = txn.find(&moved, "task_id", id)?.position;
    txn.set_board(moved);
    txn.label(format!("reorder_task {id}"));
    Ok(Output {
        task_id: id,
        old_position,
        new_position,
        updated_at: txn.now_text(),
    })
}

fn reference<'b>(txn: &Txn<'_>, board: &'b Board, task: &Task, input: &Input) -> Result<&'b Task> {
    const FIELD: &str = "reference_task_id";
    let Some(text) = input.reference_task_id.as_deref() else {
        let message = "before and after need reference_task_id.";
        return Err(errors::invalid_position(FIELD, "", message));
    };
    let id = check::task_id(FIELD, text)?;
    let other = txn.find(board, FIELD, id)?;
    if other.lines == task.lines {
        let message = "A task cannot be placed before or after itself.";
        return Err(errors::invalid_position(FIELD, text, message));
    }
    let category = board.category(other);
    if category != board.category(task) {
        let message = format!(
            "{id} is in the category {category}; move the task there with update_task first."
        );
        return Err(errors::invalid_position(FIELD, text, message));
    }
    Ok(other)
}
