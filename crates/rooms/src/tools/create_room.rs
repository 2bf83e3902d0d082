//! `create_room`.

use std::sync::Arc;

use kit::{Context, Result, Tool, context::Change};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ADDS, Definition, Done, arguments, blocking, define};
use crate::{
    errors,
    house::House,
    model::{names::RoomName, owners::Actor},
};

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

pub fn tool(house: &Arc<House>) -> Tool {
    define::<Done>(Definition {
        name: "agent_communication/create_room",
        aliases: &["agent_communication_create_room", "create_room"],
        title: "Create a room",
        description: "Create a room. To talk in it, enter it with enter_room.",
        input: input(),
        hints: ADDS,
        rules: &[errors::ROOM],
        run: blocking(house, handle),
    })
}

fn handle(house: &House, context: &Context, input: Input) -> Result<Done> {
    let name = RoomName::parse(&input.room_name)?;
    let description = input.description.filter(|text| !text.trim().is_empty());
    house
        .store
        .create(&Actor::of(context), &name, description, context.clock.now())?;
    context.changed(Change::ResourceList);
    Ok(Done::new(
        context,
        &name,
        format!("Room '{name}' was created."),
        format!("ルーム「{name}」を作成しました。"),
    ))
}
