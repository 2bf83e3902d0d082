//! `list_rooms`: all rooms, or those that an agent is in.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{NO_ROOMS, arguments::AgentName, blocking, define, in_rooms, tool_names};
use crate::{model::owners::Actor, state::CounterState, store::Listed};

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
        blocking(state, handle),
    )
}

fn handle(state: &CounterState, context: &Context, input: Input) -> Result<Output> {
    let agent = input.agent_name.map(AgentName::checked).transpose()?;
    let agent = agent.as_deref();
    if let Some(agent) = agent {
        state.store.names.may_use(&Actor::of(context), agent)?;
    }
    let (rooms, warnings) = in_rooms(state, None, |listed| {
        describe(state, context, listed, agent)
    })?;
    let rooms: Vec<Room> = rooms.into_iter().flatten().collect();
    let total = state.store.rooms()?.len();
    let message = match agent {
        _ if !rooms.is_empty() => None,
        _ if total == 0 => Some(NO_ROOMS.to_owned()),
        Some(agent) => Some(format!(
            "{agent} is in no room. list_rooms without agentName lists all ({total})."
        )),
        // The rooms can't be read, as the warnings say.
        None => None,
    };
    Ok(Output {
        details: message.is_some().then(|| json!({ "totalRooms": total })),
        rooms,
        warnings,
        message,
    })
}

/// `None` for a room that the agent is not in.
fn describe(
    state: &CounterState,
    context: &Context,
    listed: Listed,
    agent: Option<&str>,
) -> Result<Option<Room>> {
    let room = state.store.room(&listed.name)?;
    let members = room.members.load()?;
    let is_joined = agent.map(|agent| members.users.get(agent).is_some());
    if is_joined == Some(false) {
        return Ok(None);
    }
    if let Some(agent) = agent {
        room.members.heard_of(agent, context.clock.now());
    }
    let unread = agent.map(|agent| room.reads.unread(agent));
    Ok(Some(Room {
        name: listed.name.to_string(),
        description: listed.description,
        created_at: listed.created_at,
        user_count: members.users.len(),
        message_count: room.log.count()?,
        is_joined,
        unread_count: unread.transpose()?,
    }))
}
