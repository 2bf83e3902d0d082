//! `get_status`: counts, storage, and warnings about damaged files.

use std::{collections::HashSet, sync::Arc};

use kit::{Context, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{blocking, define, in_rooms, tool_names};
use crate::{
    model::{members::Status, names::RoomName},
    state::CounterState,
    store::Listed,
};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// Only this room
    room_name: Option<RoomName>,
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

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("get_status"),
        "Status of the rooms",
        "Get online users, messages and storage of all rooms or of one, with warnings about damaged files.",
        Hints::READS,
        blocking(state, handle),
    )
}

fn handle(state: &CounterState, context: &Context, input: Input) -> Result<Output> {
    let only = input.room_name.as_ref();
    let (found, unreadable) = in_rooms(state, only, |listed| status(state, context, listed))?;
    let mut warnings = match only {
        Some(_) => Vec::new(),
        None => state.store.warnings()?,
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

fn status(state: &CounterState, context: &Context, listed: Listed) -> Result<RoomStatus> {
    let room = state.store.room(&listed.name)?;
    let members = room.members.list(context.clock.now())?;
    let online = members.into_iter().filter(|m| m.status == Status::Online);
    let online: Vec<String> = online.map(|member| member.name).collect();
    let health = state.store.health(&room)?;
    Ok(RoomStatus {
        room: Room {
            name: listed.name.to_string(),
            online_users: online.len(),
            total_messages: room.log.count()?,
            storage_size: health.bytes,
        },
        online,
        warnings: health.warnings,
    })
}
