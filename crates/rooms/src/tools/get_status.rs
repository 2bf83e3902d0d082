//! `get_status`: how much there is, and what is wrong with it.

use std::sync::Arc;

use kit::{Context, Effect, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{LOOKS, arguments, blocking};
use crate::{
    errors,
    house::House,
    model::{members::Status, names::RoomName},
};

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
    Tool {
        name: "agent_communication/get_status",
        aliases: &["agent_communication_get_status", "get_status"],
        title: "Status of the rooms",
        description: "Get online users, messages and storage of all rooms or of one, with warnings about damaged files.",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: LOOKS,
        effect: Effect::Read,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[errors::ROOM],
        normalise: arguments::tidy,
        meta: None,
        run: blocking(house, handle),
    }
}

fn handle(house: &House, context: &Context, input: Input) -> Result<Output> {
    let only = input.room_name.is_some();
    let names = match input.room_name {
        Some(name) => vec![RoomName::parse(&name)?],
        None => {
            let listed = house.store.rooms()?.into_iter();
            listed.map(|listed| listed.name).collect()
        }
    };
    let mut rooms = Vec::new();
    let mut warnings = Vec::new();
    for name in names {
        match status(house, context, &name) {
            Ok((room, found)) => {
                rooms.push(room);
                warnings.extend(found.into_iter().map(|found| format!("{name}: {found}")));
            }
            Err(error) if only || error.code != errors::STORAGE_ERROR => return Err(error),
            // One room that cannot be read must not hide the others.
            Err(error) => {
                tracing::error!(%error, cause = ?error.cause, room = %name, "a room cannot be read");
                warnings.push(format!("{name}: {}", error.message));
            }
        }
    }
    Ok(Output {
        total_rooms: rooms.len(),
        total_online_users: rooms.iter().map(|room| room.online_users).sum(),
        total_messages: rooms.iter().map(|room| room.total_messages).sum(),
        rooms,
        warnings,
    })
}

fn status(house: &House, context: &Context, name: &RoomName) -> Result<(Room, Vec<String>)> {
    let room = house.store.room(name)?;
    let members = house.store.members(&room, context.clock.now())?;
    let online = members.iter().filter(|m| m.status == Status::Online);
    let health = house.store.health(&room)?;
    let status = Room {
        name: name.to_string(),
        online_users: online.count(),
        total_messages: house.store.count(&room)?,
        storage_size: health.bytes,
    };
    Ok((status, health.warnings))
}
