//! `get_status`: how much there is, and what is wrong with it.

use std::{collections::HashSet, sync::Arc};

use kit::{Context, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Definition, LOOKS, arguments, blocking, define, in_rooms};
use crate::{errors, house::House, model::members::Status, store::Listed};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    room_name: Option<String>,
}

fn input() -> Value {
    arguments::input(
        json!({ "roomName": arguments::room("Only this room") }),
        &[],
    )
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    rooms: Vec<Room>,
    total_rooms: usize,
    // Agents, each counted once however many rooms it is in.
    total_online_users: usize,
    total_messages: usize,
    /// Damage found in the files, in words.
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct Room {
    name: String,
    online_users: usize,
    total_messages: usize,
    /// Bytes.
    storage_size: u64,
}

pub fn tool(house: &Arc<House>) -> Tool {
    define::<Output>(Definition {
        name: "agent_communication/get_status",
        aliases: &["agent_communication_get_status", "get_status"],
        title: "Status of the rooms",
        description: "Get online users, messages and storage of all rooms or of one, with warnings about damaged files.",
        input: input(),
        hints: LOOKS,
        rules: &[errors::ROOM],
        run: blocking(house, handle),
    })
}

fn handle(house: &House, context: &Context, input: Input) -> Result<Output> {
    let only = input.room_name.as_deref();
    let (found, unreadable) = in_rooms(house, only, |listed| status(house, context, listed))?;
    let mut warnings = match only {
        Some(_) => Vec::new(),
        None => house.store.complaints()?,
    };
    let mut rooms = Vec::new();
    let mut online = HashSet::new();
    for status in found {
        let name = &status.room.name;
        let found = status.warnings.iter();
        warnings.extend(found.map(|found| format!("{name}: {found}")));
        online.extend(status.online);
        rooms.push(status.room);
    }
    warnings.extend(unreadable);
    Ok(Output {
        total_rooms: rooms.len(),
        total_online_users: online.len(),
        total_messages: rooms.iter().map(|room| room.total_messages).sum(),
        rooms,
        warnings,
    })
}

struct RoomStatus {
    room: Room,
    online: Vec<String>,
    warnings: Vec<String>,
}

fn status(house: &House, context: &Context, listed: Listed) -> Result<RoomStatus> {
    let room = house.store.room(&listed.name)?;
    let members = house.store.members(&room, context.clock.now())?;
    let online = members.into_iter().filter(|m| m.status == Status::Online);
    let online: Vec<String> = online.map(|member| member.name).collect();
    let health = house.store.health(&room)?;
    Ok(RoomStatus {
        room: Room {
            name: listed.name.to_string(),
            online_users: online.len(),
            total_messages: house.store.count(&room)?,
            storage_size: health.bytes,
        },
        online,
        warnings: health.warnings,
    })
}
