//! `list_rooms`: all rooms, or those that an agent is in.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{NO_ROOMS, arguments::AgentName, asking, define, tool_names};
use crate::{
    state::CounterState,
    store::{Call, RoomSummary},
};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// Only rooms this agent is in, with its unread count (参加しているルームのみ)
    agent_name: Option<AgentName>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    rooms: Vec<Room>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    details: Option<Value>,
    // Rooms that can't be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    warnings: Vec<Warning>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct Room {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    created_at: String,
    user_count: usize,
    message_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_joined: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unread_count: Option<usize>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("list_rooms"),
        "List rooms",
        "List all rooms, or only those an agent is in. ルーム一覧",
        Hints::READS,
        asking(state, handle),
    )
    .in_japanese("ルームの一覧")
}

async fn handle(state: Arc<CounterState>, context: Context, input: Input) -> Result<Output> {
    let agent = input.agent_name.map(AgentName::checked).transpose()?;
    let list = state.store.list_rooms(Call::of(&context), agent.clone());
    let list = list.await?;
    let total = list.total;
    let message = match agent {
        _ if !list.rooms.is_empty() => None,
        _ if total == 0 => Some(NO_ROOMS.to_owned()),
        Some(agent) => Some(format!(
            "{agent} is in no room. list_rooms without agentName lists all ({total})."
        )),
        // The rooms can't be read, as the warnings say.
        None => None,
    };
    Ok(Output {
        details: message.is_some().then(|| json!({ "totalRooms": total })),
        rooms: list.rooms.into_iter().map(Room::from).collect(),
        warnings: list.warnings,
        message,
    })
}

impl From<RoomSummary> for Room {
    fn from(room: RoomSummary) -> Self {
        Self {
            name: room.listed.name.to_string(),
            description: room.listed.description,
            created_at: room.listed.created_at,
            user_count: room.users,
            message_count: room.messages,
            is_joined: room.unread.map(|_| true),
            unread_count: room.unread,
        }
    }
}
