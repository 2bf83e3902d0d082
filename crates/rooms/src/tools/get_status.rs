//! `get_status`: counts, storage, and warnings about damaged files.

use std::{collections::HashSet, sync::Arc};

use kit::{Context, Hints, Result, Tool, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NO_ROOMS, arguments::ExistingRoom, asking, define, tool_names};
use crate::{state::CounterState, store::Call};

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
        asking(state, handle),
    )
    .in_japanese("状態の確認")
}

async fn handle(state: Arc<CounterState>, context: Context, input: Input) -> Result<Output> {
    let only = input.room_name.map(|room| room.name()).transpose()?;
    let report = state.store.status(Call::of(&context), only).await?;
    let mut warnings: Vec<Warning> = report.damage.into_iter().map(damage).collect();
    let mut rooms = Vec::new();
    let mut online = HashSet::new();
    for status in report.rooms {
        let name = &status.name;
        let found = status.damage.iter();
        let found = found.map(|found| format!("{name}: {found}"));
        warnings.extend(found.map(|found| damage(found).detail("roomName", name.as_str())));
        rooms.push(Room {
            name: name.to_string(),
            online_users: status.online.len(),
            total_messages: status.messages,
            storage_size: status.bytes,
        });
        online.extend(status.online);
    }
    warnings.extend(report.unreadable);
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
