//! `list_room_users`: who is in a room, and who is there right now.

use std::sync::Arc;

use jiff::Timestamp;
use kit::{Context, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Definition, LOOKS, arguments, blocking, define};
use crate::{
    errors,
    house::House,
    model::{
        members::{Profile, Status},
        names::RoomName,
    },
    store::Room,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    room_name: String,
}

fn input() -> Value {
    arguments::input(
        json!({ "roomName": arguments::room("The room") }),
        &["roomName"],
    )
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

pub fn tool(house: &Arc<House>) -> Tool {
    define::<Output>(Definition {
        name: "agent_communication/list_room_users",
        aliases: &["agent_communication_list_room_users", "list_room_users"],
        title: "List who is in a room",
        description: "List a room's members with their status, message count and profile.",
        input: input(),
        hints: LOOKS,
        rules: &[errors::ROOM],
        run: blocking(house, handle),
    })
}

fn handle(house: &House, context: &Context, input: Input) -> Result<Output> {
    let name = RoomName::parse(&input.room_name)?;
    let room = house.store.room(&name)?;
    users(house, &room, context.clock.now())
}

/// Also what the room's resource shows.
pub fn users(house: &House, room: &Room, now: Timestamp) -> Result<Output> {
    let members = house.store.members(room, now)?;
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
