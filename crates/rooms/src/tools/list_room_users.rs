//! `list_room_users`: the members of a room, and who is online.

use std::sync::Arc;

use jiff::Timestamp;
use kit::{Context, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{arguments::ExistingRoom, blocking, define, tool_names};
use crate::{
    model::members::{Profile, Status},
    state::CounterState,
    store::Room,
};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    room_name: ExistingRoom,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    room_name: String,
    users: Vec<User>,
    online_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct User {
    name: String,
    status: Status,
    message_count: u64,
    /// In wait_for_messages now
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<bool>,
    /// As in enter_room
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    profile: Option<Profile>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("list_room_users"),
        "List users",
        "List a room's members with their status, message count and profile. ルーム内ユーザー一覧",
        Hints::READS,
        blocking(state, handle),
    )
}

fn handle(state: &CounterState, context: &Context, input: Input) -> Result<Output> {
    let room = state.store.room(&input.room_name.name()?)?;
    users(&room, context.clock.now())
}

/// Also for the resource of a room.
pub fn users(room: &Room, now: Timestamp) -> Result<Output> {
    let members = room.members.list(now)?;
    let online = members.iter().filter(|m| m.status == Status::Online);
    Ok(Output {
        room_name: room.name.to_string(),
        online_count: online.count(),
        message: members
            .is_empty()
            .then_some("Nobody is in this room; enter_room makes you its first member."),
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
