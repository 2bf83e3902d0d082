//! `list_room_users`: the members of a room, and who is online.

use std::sync::Arc;

use jiff::Timestamp;
use kit::{Context, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{blocking, define, tool_names};
use crate::{
    model::{
        members::{Profile, Status},
        names::RoomName,
    },
    state::CounterState,
    store::Room,
};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// The room
    room_name: RoomName,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    room_name: String,
    users: Vec<User>,
    online_count: usize,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct User {
    name: String,
    status: Status,
    message_count: u64,
    /// In wait_for_messages right now.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<Profile>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("list_room_users"),
        "List who is in a room",
        "List a room's members with their status, message count and profile.",
        Hints::READS,
        blocking(state, handle),
    )
}

fn handle(state: &CounterState, context: &Context, input: Input) -> Result<Output> {
    let room = state.store.room(&input.room_name)?;
    users(&room, context.clock.now())
}

/// Also for the resource of a room.
pub fn users(room: &Room, now: Timestamp) -> Result<Output> {
    let members = room.members.list(now)?;
    let online = members.iter().filter(|m| m.status == Status::Online);
    Ok(Output {
        room_name: room.name.to_string(),
        online_count: online.count(),
        users: members
            .into_iter()
            .map(|member| User {
                name: member.name,
                status: member.status,
                message_count: member.message_count,
                waiting: member.is_waiting.then_some(true),
                profile: member.profile,
            })
            .collect(),
    })
}
