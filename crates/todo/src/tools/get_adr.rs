//! `get_adr`: one decision in full.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{arguments, check, declare::unlisted, get_context::cut, list_adrs::times};
use crate::{
    errors,
    files::{Folder, adr_file},
    model::{
        TaskId,
        adr::{Adr, Status},
        task_text::Link,
    },
    state::CounterState,
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Also adr-003
    adr_number: i64,
}

#[derive(Serialize)]
pub struct Output {
    adr_number: u16,
    adr_id: String,
    title: String,
    status: Status,
    created_at: String,
    updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<u16>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    supersedes: Vec<u16>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tasks: Vec<TaskId>,
    content: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    file_path: String,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "get_adr",
            title: "Read an ADR",
            description: "One ADR in full. ADRの全文を取得します。",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        unlisted(state, handle),
    )
    .in_japanese("ADRの表示")
    .normalise(|_, arguments| arguments::adr_number(arguments, "adr_number"))
}

fn handle(state: &CounterState, _: &Context, input: &Input) -> Result<Output> {
    let number = check::adr_number("adr_number", input.adr_number)?;
    let stem = state.files.adr_stem("adr_number", number)?;
    let name = adr_file(&stem);
    let loaded = state
        .files
        .folder()?
        .read(&name)?
        .ok_or_else(|| errors::adr_not_found("adr_number", number))?;
    let adr = Adr::parse(&stem, number, &loaded.text);
    let board = state.files.board()?;
    let tasks = board
        .tasks
        .iter()
        .filter(|task| task.linked(Link::Adr).any(|linked| linked == number))
        .filter_map(|task| task.id)
        .collect();
    let (created_at, updated_at) = times(state, &adr);
    let (content, truncated) = cut(&loaded.text);
    Ok(Output {
        adr_number: number,
        title: adr.title,
        status: adr.status,
        created_at,
        updated_at,
        superseded_by: adr.superseded_by,
        supersedes: adr.supersedes,
        tasks,
        content,
        truncated,
        file_path: Folder::shown(&name),
        adr_id: stem,
    })
}
