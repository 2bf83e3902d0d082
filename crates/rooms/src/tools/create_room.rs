//! `create_room`.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool, context::Change};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Done, blocking, define, tool_names};
use crate::{
    model::{names::RoomName, owners::Actor},
    state::CounterState,
};

const MAX_DESCRIPTION: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// Letters, digits, hyphens, underscores
    room_name: RoomName,
    /// What the room is for
    #[schemars(length(max = MAX_DESCRIPTION))]
    description: Option<String>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("create_room"),
        "Create a room",
        "Create a room. To talk in it, enter it with enter_room.",
        Hints::ADDS,
        blocking(state, handle),
    )
}

fn handle(state: &CounterState, context: &Context, input: Input) -> Result<Done> {
    let name = input.room_name;
    let description = input.description.filter(|text| !text.trim().is_empty());
    state
        .store
        .create(&Actor::of(context), &name, description, context.clock.now())?;
    context.changed(Change::ResourceList);
    Ok(Done::new(
        context,
        &name,
        format!("Room '{name}' was created."),
        format!("ルーム「{name}」を作成しました。"),
    ))
}
