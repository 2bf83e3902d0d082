//! `list_room_users`: the members of a room, and who is online.

use std::sync::Arc;

use kit::{Context, Error, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    arguments::{ExistingRoom, Limit},
    asking, define, tool_names,
};
use crate::{
    model::{
        answer_size::{ANSWER_BYTES, bytes_in_answer},
        members::{Profile, Status},
        names::RoomName,
    },
    state::CounterState,
    store::{Call, Member},
};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    room_name: ExistingRoom,
    /// All that fit into an answer, if left out
    limit: Option<Limit>,
    /// nextCursor
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    room_name: String,
    /// By name
    users: Vec<User>,
    /// In the whole room
    online_count: usize,
    user_count: usize,
    has_more: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
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
        asking(state, handle),
    )
    .in_japanese("メンバーの一覧")
}

async fn handle(state: Arc<CounterState>, context: Context, input: Input) -> Result<Output> {
    let name = input.room_name.name()?;
    let members = state
        .store
        .members(Call::of(&context), name.clone())
        .await?;
    let limit = input.limit.map_or(usize::MAX, Limit::get);
    page(&name, members, input.cursor.as_deref(), limit)
}

/// Also for the resource of a room.
pub fn users(name: &RoomName, members: Vec<Member>) -> Result<Output> {
    page(name, members, None, usize::MAX)
}

/// The users after the one named `cursor`, as many as fit into an answer.
fn page(
    name: &RoomName,
    mut members: Vec<Member>,
    cursor: Option<&str>,
    limit: usize,
) -> Result<Output> {
    members.sort_by(|a, b| a.name.cmp(&b.name));
    let user_count = members.len();
    let online = members.iter().filter(|m| m.status == Status::Online);
    let online_count = online.count();
    members.retain(|member| cursor.is_none_or(|last| *member.name > *last));
    let (mut users, mut bytes): (Vec<User>, usize) = (Vec::new(), 0);
    let left = members.len();
    for member in members {
        let user = User {
            name: member.name,
            status: member.status,
            message_count: member.message_count,
            waiting: member.is_waiting.then_some(true),
            profile: member.profile,
        };
        let json = serde_json::to_vec(&user).map_err(Error::internal)?;
        bytes += bytes_in_answer(&json);
        let is_full = bytes > ANSWER_BYTES && !users.is_empty();
        if is_full || users.len() == limit {
            break;
        }
        users.push(user);
    }
    let has_more = users.len() < left;
    let last = users.last().filter(|_| has_more);
    Ok(Output {
        room_name: name.to_string(),
        online_count,
        user_count,
        has_more,
        next_cursor: last.map(|user| user.name.clone()),
        message: match (user_count, users.is_empty()) {
            (0, _) => Some("Nobody is in this room; enter_room makes you its first member."),
            (_, true) => Some("There are no more users."),
            _ => None,
        },
        users,
    })
}
