//! `mark_read`: moves the read position.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{arguments::AgentName, blocking, define, tool_names};
use crate::{
    model::{names::RoomName, owners::Actor},
    state::CounterState,
};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// Your name
    agent_name: AgentName,
    /// The room
    room_name: RoomName,
    /// Up to this message; all if left out
    message_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    success: bool,
    room_name: String,
    unread_count: usize,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("mark_read"),
        "Mark as read",
        "Mark a room's messages as read, so that wait_for_messages passes over them.",
        Hints::SETS,
        blocking(state, handle),
    )
}

fn handle(state: &CounterState, context: &Context, input: Input) -> Result<Output> {
    let agent = &input.agent_name.checked()?;
    let room = state.store.room(&input.room_name)?;
    room.members.require(agent)?;
    let now = context.clock.now();
    state.store.act(&Actor::of(context), &room, agent, now)?;
    let up_to = input.message_id.as_deref().filter(|id| !id.is_empty());
    let unread_count = room.mark_read(agent, up_to, now)?;
    room.members.heard_of(agent, now);
    Ok(Output {
        success: true,
        room_name: input.room_name.to_string(),
        unread_count,
    })
}
