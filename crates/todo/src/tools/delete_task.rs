//! `delete_task`: a task and its context file.

use std::sync::Arc;

use kit::{Definition, Effect, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    check,
    declare::{DESTROYS, writes},
    link_tasks,
};
use crate::{
    errors,
    files::{Folder, context_file},
    model::{Status, TaskId, board::Board, edit, graph::Graph, listed, task_text::Link},
    state::CounterState,
    txn::Txn,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    #[schemars(with = "TaskId")]
    task_id: String,
    /// They then wait for what it waited for
    relink: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    task_id: TaskId,
    deleted_files: Vec<String>,
    #[schemars(extend("format" = "date-time"))]
    deleted_at: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    relinked: Vec<TaskId>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "delete_task",
            title: "Delete a task",
            description: "Refused while others wait for it. \
                main-taskを削除し、対応するcontextファイルも同時に削除します。",
            hints: DESTROYS,
            effect: Effect::Write,
        },
        writes(state, apply),
    )
    .in_japanese("タスクの削除")
    .implied_tools(|arguments| match arguments.get("relink") {
        None | Some(Value::Bool(false)) => &[],
        Some(_) => &["link_tasks"],
    })
}

pub fn apply(txn: &mut Txn<'_>, input: &Input) -> Result<Output> {
    let id = check::task_id("task_id", &input.task_id)?;
    let relinked = match input.relink.unwrap_or(false) {
        true => relink(txn, id)?,
        false => {
            let board = txn.board()?;
            txn.find(&board, "task_id", id)?;
            check_dependants(&board, &[id])?;
            Vec::new()
        }
    };
    let board = txn.board()?;
    let task = txn.find(&board, "task_id", id)?;
    let without = edit::remove(&board, task).map_err(|refusal| check::refused(refusal, ""))?;
    txn.set_board(without);
    txn.keep_number(id)?;
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
        relinked,
    })
}

/// An error if one of these tasks is unfinished and other unfinished tasks wait for
/// it.
pub fn check_dependants(board: &Board, deleted: &[TaskId]) -> Result<()> {
    let graph = Graph::of(board);
    let open = || {
        let tasks = board.tasks.iter();
        let open = tasks.filter(|task| task.status != Status::Done);
        open.filter_map(|task| Some((task.id?, task)))
    };
    for (id, _) in open().filter(|(id, _)| deleted.contains(id)) {
        let waiting: Vec<TaskId> = graph.waiting(id).collect();
        let dependants: Vec<(TaskId, String)> = open()
            .filter(|(other, _)| waiting.contains(other) && !deleted.contains(other))
            .map(|(other, task)| (other, listed(&task.title)))
            .collect();
        if !dependants.is_empty() {
            return Err(errors::has_dependants(id, &dependants));
        }
    }
    Ok(())
}

/// How many links a deletion may add. Each is an edit of the whole file.
const MOST_NEW_LINKS: usize = 200;

/// Lets the tasks that wait for this one wait for its own dependencies.
fn relink(txn: &mut Txn<'_>, id: TaskId) -> Result<Vec<TaskId>> {
    let board = txn.board()?;
    txn.find(&board, "task_id", id)?;
    let graph = Graph::of(&board);
    let exists = |other: &TaskId| board.tasks.iter().any(|task| task.id == Some(*other));
    let waiting: Vec<TaskId> = graph.waiting(id).filter(exists).collect();
    let first: Vec<TaskId> = graph.waits_for(id).filter(exists).collect();
    if waiting.len() * first.len() > MOST_NEW_LINKS {
        return Err(errors::too_many_links(waiting.len() * first.len()));
    }
    for waiting in &waiting {
        txn.label(format!("link_tasks {waiting}"));
        link_tasks::set(txn, *waiting, Link::After, id.0, true)?;
        for first in &first {
            let waits_already = graph.waits_for(*waiting).any(|other| other == *first);
            if !waits_already {
                link_tasks::set(txn, *waiting, Link::After, first.0, false)?;
            }
        }
    }
    for first in first {
        link_tasks::set(txn, first, Link::Blocks, id.0, true)?;
    }
    Ok(waiting)
}
