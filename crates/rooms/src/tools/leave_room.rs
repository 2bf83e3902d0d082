//! `leave_room`: ends a membership.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool, context::Change};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Done,
    arguments::{AgentName, ExistingRoom},
    blocking, define, tool_names,
};
use crate::{
    errors,
    model::{owners::Actor, uris},
    state::CounterState,
};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    agent_name: AgentName,
    room_name: ExistingRoom,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("leave_room"),
        "Leave room",
        "End your membership of a room; what you said stays. ルーム退室",
        Hints::ADDS,
        blocking(state, handle),
    )
}

fn handle(state: &CounterState, context: &Context, input: Input) -> Result<Done> {
    let name = input.room_name.name()?;
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
