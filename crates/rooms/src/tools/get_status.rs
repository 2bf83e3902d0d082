//! `get_status`: counts, storage, and warnings about damaged files.

use std::{collections::HashSet, sync::Arc};

use kit::{Context, Hints, Result, Tool, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NO_ROOMS, arguments::ExistingRoom, blocking, define, in_rooms, tool_names};
use crate::{model::members::Status, state::CounterState, store::Listed};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// Only this room (省略時は全体)
    room_name: Option<ExistingRoom>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    rooms: Vec<Room>,
    total_rooms: usize,
    // Agents, each counted once however many rooms it is in.
    total_online_users: usize,
    total_messages: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'static str>,
    // Damage of the files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    warnings: Vec<Warning>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct Room {
    name: String,
    online_users: usize,
    total_messages: usize,
    storage_size: u64,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("get_status"),
        "Status",
        "Count online users, messages (with archived ones) and bytes of all rooms or one. ステータス取得",
        Hints::READS,
        blocking(state, handle),
    )
}

fn handle(state: &CounterState, context: &Context, input: Input) -> Result<Output> {
    let only = input.room_name.map(|room| room.name()).transpose()?;
    let only = only.as_ref();
    let (found, unreadable) = in_rooms(state, only, |listed| status(state, context, listed))?;
    let mut warnings = Vec::new();
    if only.is_none() {
        warnings.extend(state.store.warnings()?.into_iter().map(damage));
    }
    let mut rooms = Vec::new();
    let mut online = HashSet::new();
    for status in found {
        let name = &status.room.name;
        let found = status.warnings.iter();
        let found = found.map(|found| format!("{name}: {found}"));
        warnings.extend(found.map(|found| damage(found).detail("roomName", name.as_str())));
        online.extend(status.online);
        rooms.push(status.room);
    }
    warnings.extend(unreadable);
    Ok(Output {
        total_rooms: rooms.len(),
        total_online_users: online.len(),
        total_messages: rooms.iter().map(|room| room.total_messages).sum(),
        message: (rooms.is_empty() && warnings.is_empty()).then_some(NO_ROOMS),
        rooms,
        warnings,
    })
}

fn damage(what: String) -> Warning {
    Warning::new("DAMAGED_FILE", what)
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
