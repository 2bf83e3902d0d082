//! `leave_room`: ends a membership.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool, context::Change};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Done,
    arguments::{AgentName, ExistingRoom},
    asking, define, tool_names,
};
use crate::{model::uris, state::CounterState, store::Call};

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
        asking(state, handle),
    )
    .in_japanese("退室")
}

async fn handle(state: Arc<CounterState>, context: Context, input: Input) -> Result<Done> {
    let name = input.room_name.name()?;
    let agent = input.agent_name.checked()?;
    let left = state
        .store
        .leave(Call::of(&context), name.clone(), agent.clone());
    left.await?;
    context.changed(Change::Resource(uris::room(&name)));
    Ok(Done::new(
        &context,
        &name,
        format!("{agent} left room '{name}'."),
        format!("{agent} がルーム「{name}」から退室しました。"),
    ))
}
