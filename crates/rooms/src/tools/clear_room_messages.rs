//! `clear_room_messages`: all of a room's messages, archived ones too.

use std::sync::Arc;

use kit::{Context, Effect, Result, Tool, context::Change};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{REMOVES, arguments, blocking};
use crate::{errors, house::House, model::names::RoomName, resources};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    room_name: String,
    #[serde(default)]
    confirm: bool,
}

fn input() -> Value {
    arguments::input(
        json!({
            "roomName": arguments::room("The room"),
            "confirm": { "type": "boolean", "description": "Must be true" }
        }),
        &["roomName", "confirm"],
    )
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    success: bool,
    room_name: String,
    cleared_count: usize,
}

pub fn tool(house: &Arc<House>) -> Tool {
    Tool {
        name: "agent_communication/clear_room_messages",
        aliases: &[
            "agent_communication_clear_room_messages",
            "clear_room_messages",
        ],
        title: "Clear a room's messages",
        description: "Delete all messages of a room for good; members stay.",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: REMOVES,
        effect: Effect::Write,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[errors::ROOM, errors::CONFIRM],
        normalise: arguments::tidy,
        meta: None,
        run: blocking(house, handle),
    }
}

fn handle(house: &House, context: &Context, input: Input) -> Result<Output> {
    let name = RoomName::parse(&input.room_name)?;
    if !input.confirm {
        return Err(errors::confirmation_required());
    }
    let room = house.store.room(&name)?;
    let cleared_count = house.store.clear(&room)?;
    context.changed(Change::Resource(resources::messages_uri(&name)));
    Ok(Output {
        success: true,
        room_name: input.room_name,
        cleared_count,
    })
}
