//! `delete_room`: a room and everything in it.

use std::sync::Arc;

use kit::{
    Context, Effect, Result, Tool,
    context::{Change, Language},
};
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
    message: String,
    deleted_messages: usize,
}

pub fn tool(house: &Arc<House>) -> Tool {
    Tool {
        name: "agent_communication/delete_room",
        aliases: &["agent_communication_delete_room", "delete_room"],
        title: "Delete a room",
        description: "Delete a room with its members and messages for good.",
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
    let deleted_messages = house.store.delete(&name)?;
    context.changed(Change::ResourceList);
    context.changed(Change::Resource(resources::room_uri(&name)));
    context.changed(Change::Resource(resources::messages_uri(&name)));
    Ok(Output {
        success: true,
        message: match context.language {
            Language::English => format!("Room '{name}' was deleted."),
            Language::Japanese => format!("ルーム「{name}」を削除しました。"),
        },
        room_name: input.room_name,
        deleted_messages,
    })
}
