//! `create_room`.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool, context::Change};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Done, arguments::AgentName, asking, define, tool_names};
use crate::{
    model::{
        names::{AGENT_PATTERN, RoomName},
        uris,
    },
    state::CounterState,
    store::{Call, NewRoom},
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
        asking(state, handle),
    )
    .in_japanese("ルームの作成")
    .implied_tools(|arguments| match arguments.contains_key("agentName") {
        true => &["enter_room"],
        false => &[],
    })
}

async fn handle(state: Arc<CounterState>, context: Context, input: Input) -> Result<Done> {
    let name = input.room_name;
    let agent = input.agent_name.map(AgentName::checked).transpose()?;
    let new = NewRoom {
        name: name.clone(),
        description: input.description.filter(|text| !text.trim().is_empty()),
        agent: agent.clone(),
    };
    state.store.create_room(Call::of(&context), new).await?;
    context.changed(Change::ResourceList);
    let mut english = format!("Room '{name}' was created.");
    let mut japanese = format!("ルーム「{name}」を作成しました。");
    if let Some(agent) = &agent {
        context.changed(Change::Resource(uris::room(&name)));
        english.push_str(&format!(" {agent} entered it."));
        japanese.push_str(&format!("{agent} が入室しました。"));
    }
    Ok(Done::new(&context, &name, english, japanese))
}
