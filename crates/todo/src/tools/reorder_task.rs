//! `reorder_task`: moves a task within its category.

use std::sync::Arc;

use kit::{Definition, Effect, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{check, declare::writes, hints};
use crate::{
    errors,
    model::{
        TaskId,
        board::{Board, Task},
        edit,
        placement::Destination,
    },
    state::CounterState,
    txn::Txn,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    #[schemars(with = "TaskId")]
    task_id: String,
    #[schemars(extend("enum" = ["first", "last", "before", "after"]))]
    position: String,
    /// For before and after
    #[schemars(with = "Option<TaskId>")]
    reference_task_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    task_id: TaskId,
    old_position: usize,
    new_position: usize,
    #[schemars(extend("format" = "date-time"))]
    updated_at: String,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "reorder_task",
            title: "Move a task",
            description: "Moves a task; position is priority. タスクの位置を変更し、優先度を調整します。",
            hints: Hints::SETS,
            effect: Effect::Write,
        },
        writes(state, apply),
    )
    .in_japanese("タスクの並べ替え")
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
        "first" => others().next().map(Destination::Before),
        "last" => others().last().map(Destination::After),
        "before" => Some(Destination::Before(reference(txn, &board, task, input)?)),
        "after" => Some(Destination::After(reference(txn, &board, task, input)?)),
        other => {
            let message = errors::POSITION_MESSAGE;
            return Err(errors::invalid_position("position", other, message));
        }
    };
    let moved = match place {
        Some(place) => edit::relocate(&board, task, id, place),
        // It is the only task in its category.
        None => edit::change(&board, task, id, &edit::TaskChange::default()),
    };
    let moved = moved.map_err(|refusal| check::refused(refusal, ""))?;
    let new_position = txn.find(&moved, "task_id", id)?.position;
    if new_position < old_position {
        hints::warn_if_blocked(txn, &moved, id);
    }
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
