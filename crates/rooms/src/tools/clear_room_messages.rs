//! `clear_room_messages`: all of a room's messages, archived ones too.

use std::sync::Arc;

use kit::{Context, Result, Tool, context::Change};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Definition, REMOVES, arguments::Confirmed, blocking, define};
use crate::{errors, house::House, resources, store::Remover};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    success: bool,
    room_name: String,
    cleared_count: usize,
}

pub fn tool(house: &Arc<House>) -> Tool {
    define::<Output>(Definition {
        name: "agent_communication/clear_room_messages",
        aliases: &[
            "agent_communication_clear_room_messages",
            "clear_room_messages",
        ],
        title: "Clear a room's messages",
        description: "Delete all messages of a room for good; members stay.",
        input: Confirmed::schema(),
        hints: REMOVES,
        rules: &[errors::ROOM, errors::CONFIRM],
        run: blocking(house, handle),
    })
}

fn handle(house: &House, context: &Context, input: Confirmed) -> Result<Output> {
    let name = input.room()?;
    let room = house.store.room(&name)?;
    let cleared_count = house.store.clear(&Remover::of(context), &room)?;
    context.changed(Change::Resource(resources::messages_uri(&name)));
    Ok(Output {
        success: true,
        room_name: name.to_string(),
        cleared_count,
    })
}
