//! `mark_read`: moves the read position.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    arguments::{AgentName, ExistingRoom},
    asking, define, tool_names,
};
use crate::{state::CounterState, store::Call};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    agent_name: AgentName,
    room_name: ExistingRoom,
    /// Up to this message; all if left out
    message_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    success: bool,
    room_name: String,
    unread_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'static str>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("mark_read"),
        "Mark read",
        "Mark a room's messages as read, so that wait_for_messages skips them.",
        Hints::SETS,
        asking(state, handle),
    )
    .in_japanese("既読にする")
}

async fn handle(state: Arc<CounterState>, context: Context, input: Input) -> Result<Output> {
    let agent = input.agent_name.checked()?;
    let name = input.room_name.name()?;
    let up_to = input.message_id.filter(|id| !id.is_empty());
    let marked = state
        .store
        .mark_read(Call::of(&context), name.clone(), agent, up_to);
    let marked = marked.await?;
    Ok(Output {
        success: true,
        room_name: name.to_string(),
        unread_count: marked.after,
        message: (marked.before == marked.after)
            .then_some("Nothing changed: they were read already."),
    })
}
