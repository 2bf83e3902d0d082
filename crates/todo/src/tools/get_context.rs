//! `get_context`: reads a task's context file.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{arguments, check, declare::blocking};
use crate::{
    errors,
    files::{Folder, context_file},
    model::TaskId,
    state::CounterState,
    task_lookup::find,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Also 2, #t2
    #[schemars(with = "TaskId")]
    task_id: String,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    task_id: TaskId,
    content: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(skip)]
    truncated: bool,
    file_path: String,
    #[schemars(extend("format" = "date-time"))]
    updated_at: String,
}

/// Longer texts are cut, since clients have limits too. The resource has the
/// whole text.
const MOST_BYTES: usize = 100_000;

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "get_context",
            title: "Read context",
            description: "Reads a context. main-taskのコンテキスト情報を取得します。",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        blocking(state, handle),
    )
    .in_japanese("コンテキストの表示")
    .normalise(|_, arguments| arguments::task_id(arguments, "task_id"))
}

fn handle(state: &CounterState, _: &Context, input: &Input) -> Result<Output> {
    let id = check::task_id("task_id", &input.task_id)?;
    let board = state.files.board()?;
    find(&state.files.folder()?, &board, "task_id", id)?;
    let name = context_file(id);
    let loaded = state
        .files
        .folder()?
        .read(&name)?
        .ok_or_else(|| errors::no_context(id))?;
    let (content, truncated) = cut(&loaded.text);
    Ok(Output {
        task_id: id,
        content,
        truncated,
        file_path: Folder::shown(&name),
        updated_at: state.when_ms(loaded.stamp.modified_ms()),
    })
}

/// Cuts a text to the size of an answer. `true` if it was cut.
pub fn cut(text: &str) -> (String, bool) {
    if text.len() <= MOST_BYTES {
        return (text.to_owned(), false);
    }
    let mut end = MOST_BYTES;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (text.get(..end).unwrap_or_default().to_owned(), true)
}
