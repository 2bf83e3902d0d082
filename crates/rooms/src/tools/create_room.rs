//! `create_room`.

use std::sync::Arc;

use kit::{
    Context, Effect, Result, Tool,
    context::{Change, Language},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ADDS, arguments, blocking};
use crate::{errors, house::House, model::names::RoomName};

const MAX_DESCRIPTION: usize = 200;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    room_name: String,
    description: Option<String>,
}

fn input() -> Value {
    arguments::input(
        json!({
            "roomName": arguments::room("Letters, digits, hyphens, underscores"),
            "description": {
                "type": "string",
                "description": "What the room is for",
                "maxLength": MAX_DESCRIPTION
            }
        }),
        &["roomName"],
    )
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    success: bool,
    room_name: String,
    message: String,
}

pub fn tool(house: &Arc<House>) -> Tool {
    Tool {
        name: "agent_communication/create_room",
        aliases: &["agent_communication_create_room", "create_room"],
        title: "Create a room",
        description: "Create a room. To talk in it, enter it with enter_room.",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: ADDS,
        effect: Effect::Write,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[errors::ROOM],
        normalise: arguments::tidy,
        meta: None,
        run: blocking(house, handle),
    }
}

fn handle(house: &House, context: &Context, input: Input) -> Result<Output> {
    let name = RoomName::parse(&input.room_name)?;
    let description = input.description.filter(|text| !text.trim().is_empty());
    house
        .store
        .create(&name, description, context.clock.now())?;
    context.changed(Change::ResourceList);
    Ok(Output {
        success: true,
        message: match context.language {
            Language::English => format!("Room '{name}' was created."),
            Language::Japanese => format!("ルーム「{name}」を作成しました。"),
        },
        room_name: input.room_name,
    })
}
