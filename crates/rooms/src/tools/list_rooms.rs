//! `list_rooms`: which rooms there are, or which one is in.

use std::sync::Arc;

use kit::{Context, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Definition, LOOKS, arguments, blocking, define, in_rooms};
use crate::{
    errors,
    house::House,
    model::{names, owners::Actor},
    store::Listed,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    agent_name: Option<String>,
}

fn input() -> Value {
    arguments::input(
        json!({ "agentName": arguments::agent("Only rooms this agent is in, with its unread count") }),
        &[],
    )
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    rooms: Vec<Room>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Rooms that cannot be read, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<String>>,
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

pub fn tool(house: &Arc<House>) -> Tool {
    define::<Output>(Definition {
        name: "agent_communication/list_rooms",
        aliases: &["agent_communication_list_rooms", "list_rooms"],
        title: "List rooms",
        description: "List all rooms, or only those an agent is in.",
        input: input(),
        hints: LOOKS,
        rules: &[errors::AGENT],
        run: blocking(house, handle),
    })
}

fn handle(house: &House, context: &Context, input: Input) -> Result<Output> {
    let agent = input.agent_name.as_deref();
    if let Some(agent) = agent {
        names::check_agent(agent)?;
        house.store.may_use(&Actor::of(context), agent)?;
    }
    let (rooms, warnings) = in_rooms(house, None, |listed| {
        describe(house, context, listed, agent)
    })?;
    let rooms: Vec<Room> = rooms.into_iter().flatten().collect();
    let message = match agent {
        _ if !rooms.is_empty() => None,
        Some(agent) => Some(format!(
            "{agent} is in no room; list_rooms without agentName shows all of them."
        )),
        // A room that cannot be read is a warning, and a room all the same.
        None if !warnings.is_empty() => None,
        None => Some("There are no rooms yet; create_room makes the first.".to_owned()),
    };
    Ok(Output {
        rooms,
        warnings: Some(warnings).filter(|warnings| !warnings.is_empty()),
        message,
    })
}

/// `None` for a room that the agent is not in.
fn describe(
    house: &House,
    context: &Context,
    listed: Listed,
    agent: Option<&str>,
) -> Result<Option<Room>> {
    let room = house.store.room(&listed.name)?;
    let members = room.members()?;
    let is_joined = agent.map(|agent| members.users.get(agent).is_some());
    if is_joined == Some(false) {
        return Ok(None);
    }
    if let Some(agent) = agent {
        house.store.heard_of(&room, agent, context.clock.now());
    }
    let unread = agent.map(|agent| house.store.unread(&room, agent));
    Ok(Some(Room {
        name: listed.name.to_string(),
        description: listed.description,
        created_at: listed.created_at,
        user_count: members.users.len(),
        message_count: house.store.count(&room)?,
        is_joined,
        unread_count: unread.transpose()?,
    }))
}
