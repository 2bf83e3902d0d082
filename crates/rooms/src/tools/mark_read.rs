//! `mark_read`: moves the read position.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    arguments::{AgentName, ExistingRoom},
    blocking, define, tool_names,
};
use crate::{model::owners::Actor, state::CounterState};

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
        blocking(state, handle),
    )
}

fn handle(state: &CounterState, context: &Context, input: Input) -> Result<Output> {
    let agent = &input.agent_name.checked()?;
    let room = state.store.room(&input.room_name.name()?)?;
    room.members.require(agent)?;
    let now = context.clock.now();
    state.store.act(&Actor::of(context), &room, agent, now)?;
    let up_to = input.message_id.as_deref().filter(|id| !id.is_empty());
    let before = room.reads.unread(agent)?;
    let unread_count = room.mark_read(agent, up_to, now)?;
    room.members.heard_of(agent, now);
    Ok(Output {
        success: true,
        room_name: room.name.to_string(),
        unread_count,
        message: (before == unread_count).then_some("Nothing changed: they were read already."),
    })
}
