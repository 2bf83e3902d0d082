//! `undo`: undoes the caller's last change.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::declare::{DESTROYS, blocking};
use crate::{errors, state::CounterState, sync::locked};

#[derive(Deserialize, JsonSchema)]
pub struct Input {}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// 取り消した操作
    undone: String,
    files: Vec<String>,
    undone_at: String,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "undo",
            title: "Undo",
            description: "自分の直前の変更を取り消します。その後の他者の変更は保持します。",
            hints: DESTROYS,
            effect: Effect::Write,
        },
        blocking(state, handle),
    )
}

fn handle(state: &CounterState, context: &Context, _: &Input) -> Result<Output> {
    let last = locked(&state.undo).last(&context.caller.id);
    let done = last.ok_or_else(errors::nothing_to_undo)?;
    let output = state.write_unrecorded(context, |txn| {
        Ok(Output {
            files: txn.revert(&done)?,
            undone: done.label.clone(),
            undone_at: txn.now_text(),
        })
    })?;
    locked(&state.undo).forget(&done);
    Ok(output)
}
