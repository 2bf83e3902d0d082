//! `create_room`.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool, context::Change};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Done, arguments::AgentName, blocking, define, enter_room, tool_names};
use crate::{
    model::{
        names::{self, AGENT_PATTERN, RoomName},
        owners::Actor,
    },
    state::CounterState,
};

const MAX_DESCRIPTION: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// Letters, digits, - and _ (英数字、ハイフン、アンダースコア)
    room_name: RoomName,
    /// What the room is for (ルームの説明)
    #[schemars(length(max = MAX_DESCRIPTION))]
    description: Option<String>,
    /// Also enter it under this name
    #[schemars(regex(pattern = AGENT_PATTERN))]
    agent_name: Option<AgentName>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("create_room"),
        "Create room",
        "Create a room, and enter it if agentName is given. ルーム作成",
        Hints::ADDS,
        blocking(state, handle),
    )
    .implied_tools(|arguments| match arguments.contains_key("agentName") {
        true => &["enter_room"],
        false => &[],
    })
}

fn handle(state: &CounterState, context: &Context, input: Input) -> Result<Done> {
    let name = input.room_name;
    let actor = Actor::of(context);
    let agent = input.agent_name.map(AgentName::checked).transpose()?;
    if let Some(agent) = &agent {
        // Before the room is there: a refused call creates nothing.
        names::check_newcomer(agent)?;
        state.store.names.may_use(&actor, agent)?;
    }
    let description = input.description.filter(|text| !text.trim().is_empty());
    let now = context.clock.now();
    state.store.create(&actor, &name, description, now)?;
    context.changed(Change::ResourceList);
    let mut english = format!("Room '{name}' was created.");
    let mut japanese = format!("ルーム「{name}」を作成しました。");
    if let Some(agent) = &agent {
        let room = state.store.room(&name)?;
        enter_room::enter(state, context, &room, agent, None)?;
        english.push_str(&format!(" {agent} entered it."));
        japanese.push_str(&format!("{agent} が入室しました。"));
    }
    Ok(Done::new(context, &name, english, japanese))
}
