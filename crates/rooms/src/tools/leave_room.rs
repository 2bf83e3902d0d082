//! `leave_room`: ends a membership.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool, context::Change};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Done, arguments::AgentName, blocking, define, tool_names};
use crate::{
    errors,
    model::{names::RoomName, owners::Actor, uris},
    state::CounterState,
};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// Your name
    agent_name: AgentName,
    /// The room
    room_name: RoomName,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("leave_room"),
        "Leave a room",
        "End your membership of a room. What you said stays.",
        Hints::ADDS,
        blocking(state, handle),
    )
}

fn handle(state: &CounterState, context: &Context, input: Input) -> Result<Done> {
    let name = input.room_name;
    let agent = &input.agent_name.checked()?;
    let room = state.store.room(&name)?;
    let acts = state
        .store
        .act(&Actor::of(context), &room, agent, context.clock.now());
    acts.map_err(errors::nothing_to_leave)?;
    room.leave(agent)?;
    context.changed(Change::Resource(uris::room(&name)));
    Ok(Done::new(
        context,
        &name,
        format!("{agent} left room '{name}'."),
        format!("{agent} がルーム「{name}」から退室しました。"),
    ))
}
