//! `undo`: undoes a change, in whichever process it was made.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Result, Tool, tool::InnerCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    batch::calls_in,
    declare::{Changed, DESTROYS, unlisted},
    delete_task,
};
use crate::{
    errors,
    files::undo_history::{RecordedChange, UndoHistory},
    model::{
        TaskId,
        board::{Board, TaskLookup},
        merge, shortened,
    },
    state::CounterState,
    sync::locked,
    txn::UndoScope,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Default: your last change
    change_id: Option<String>,
}

#[derive(Serialize)]
pub struct Output {
    undone: String,
    files: Vec<String>,
    // The lines that came and went, with `+` and `-`.
    diff: String,
    undone_at: String,
}

/// Characters of the difference to answer with.
const DIFF: usize = 1000;

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "undo",
            title: "Undo",
            description: "Undoes a change. 変更を取り消します。",
            hints: DESTROYS,
            effect: Effect::Write,
        },
        unlisted(state, handle),
    )
    .in_japanese("元に戻す")
    .inner_calls(inner_calls(Arc::clone(state)))
}

/// Where the calls are put that an undo amounts to.
const CALLS: &str = "calls";
/// Stands for arguments that only the recorded texts tell.
const AS_BEFORE: &str = "as before";

/// Undoing the creation of a task deletes it, so whoever may not delete tasks
/// may not undo that. The desk checks these calls like those of a batch.
fn inner_calls(
    state: Arc<CounterState>,
) -> impl for<'a> Fn(&Context, &'a mut Map<String, Value>) -> Vec<InnerCall<'a>> {
    move |context, arguments| {
        let given = arguments.get("change_id").and_then(Value::as_str);
        let last = || locked(&state.last_changes).last(&context.caller.id);
        let id = given.map(str::to_owned).or_else(last);
        // Pinned also if it is not found: what the handler undoes is what was checked.
        let pinned = id.clone().unwrap_or_default();
        arguments.insert("change_id".into(), pinned.into());
        let found = id.zip(state.files.folder().ok());
        let found = found.and_then(|(id, folder)| UndoHistory::of(&folder).find(&id).ok()?);
        // The handler says why there is nothing to undo.
        let Some(done) = found else {
            return Vec::new();
        };
        let calls = done.label.split(", ").filter_map(inner_call);
        arguments.insert(CALLS.into(), calls.collect());
        calls_in(arguments, CALLS, |value| value == AS_BEFORE)
    }
}

/// The call that undoes `create_task T001`, or redoes `undo create_task T001`.
fn inner_call(operation: &str) -> Option<Value> {
    let plain = operation.trim_start_matches("undo ");
    let undone = (operation.len() - plain.len()) / "undo ".len();
    let (tool, target) = plain.split_once(' ')?;
    let tool = match (tool, undone.is_multiple_of(2)) {
        ("create_task", true) | ("delete_task", false) => "delete_task",
        ("create_task", false) | ("delete_task", true) => "create_task",
        // Agents can't edit an ADR's text; who may set its status may take that back.
        ("edit_adr", _) => "update_adr_status",
        _ => tool,
    };
    let open: &[&str] = match tool {
        "create_task" => &["title"],
        "reorder_task" => &["position"],
        "link_tasks" => &["relation", "target"],
        "update_context" => &["content"],
        "create_adr" => &["title", "context", "decision", "rationale"],
        "update_adr_status" => &["status"],
        _ => &[],
    };
    let mut arguments: Map<String, Value> = open
        .iter()
        .map(|name| ((*name).to_owned(), AS_BEFORE.into()))
        .collect();
    match tool {
        "create_task" | "create_adr" => {}
        "update_adr_status" => {
            arguments.insert("adr_number".into(), target.parse::<u16>().ok()?.into());
        }
        _ => {
            arguments.insert("task_id".into(), target.into());
        }
    }
    Some(json!({ "tool": tool, "arguments": arguments }))
}

fn handle(state: &CounterState, context: &Context, input: &Input) -> Result<Changed<Output>> {
    let last = || locked(&state.last_changes).last(&context.caller.id);
    let id = input.change_id.clone().or_else(last);
    // Empty: there was nothing to undo when the call was checked.
    let id = id.filter(|id| !id.is_empty());
    let id = id.ok_or_else(errors::nothing_to_undo)?;
    let history = UndoHistory::of(&state.files.folder()?);
    let written = state.write(context, UndoScope::ByIdOnly, |txn| {
        // Read under the lock, so that two processes do not undo it twice.
        let done = history
            .find(&id)
            .map_err(|error| errors::io("The history of changes", false, error))?
            .ok_or_else(|| errors::change_not_found(&id))?;
        for operation in done.label.split(", ") {
            txn.label(format!("undo {operation}"));
        }
        let before = txn.board()?;
        let files = txn.revert(&id, &done)?;
        for deleted in check_tasks(&before, &*txn.board()?)? {
            txn.keep_number(deleted)?;
        }
        Ok(Output {
            files,
            diff: diff(&done),
            undone: done.label,
            undone_at: txn.now_text(),
        })
    })?;
    locked(&state.last_changes).forget(&id);
    if let Err(error) = history.remove(&id) {
        tracing::warn!(%error, "an undone change is still recorded");
    }
    Ok(written.into())
}

/// The tasks that the undo deletes. An error if others wait for one of them, or if a restored
/// task's id was given to another one.
fn check_tasks(before: &Board, after: &Board) -> Result<Vec<TaskId>> {
    let ids = |board: &Board| -> Vec<TaskId> {
        let ids = board.tasks.iter().filter_map(|task| task.id);
        ids.collect()
    };
    let (old, new) = (ids(before), ids(after));
    let deleted: Vec<TaskId> = old.into_iter().filter(|id| !new.contains(id)).collect();
    delete_task::check_dependants(before, &deleted)?;
    let is_double = |board: &Board, id| matches!(board.find(id), TaskLookup::Several(_));
    let mut new = new.into_iter();
    match new.find(|id| is_double(after, *id) && !is_double(before, *id)) {
        Some(id) => Err(errors::id_taken(id)),
        None => Ok(deleted),
    }
}

/// What the undo changes, line by line.
fn diff(done: &RecordedChange) -> String {
    let steps = done.steps.iter().map(|step| {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        merge::diff(&text(&step.after), &text(&step.before))
    });
    shortened(steps.collect::<String>().trim_end(), DIFF)
}
