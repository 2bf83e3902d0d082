//! `mark_read`: how far one has read.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ADDS, Definition, arguments, blocking, define};
use crate::{
    errors,
    house::House,
    model::{
        names::{self, RoomName},
        owners::Actor,
    },
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    agent_name: String,
    room_name: String,
    message_id: Option<String>,
}

fn input() -> Value {
    arguments::input(
        json!({
            "agentName": arguments::agent("Your name"),
            "roomName": arguments::room("The room"),
            "messageId": { "type": "string", "description": "Up to this message; all if left out" }
        }),
        &["agentName", "roomName"],
    )
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    success: bool,
    room_name: String,
    unread_count: usize,
}

pub fn tool(house: &Arc<House>) -> Tool {
    define::<Output>(Definition {
        name: "agent_communication/mark_read",
        aliases: &["agent_communication_mark_read", "mark_read"],
        title: "Mark as read",
        description: "Mark a room's messages as read, so that wait_for_messages passes over them.",
        input: input(),
        hints: Hints {
            idempotent: true,
            ..ADDS
        },
        rules: &[errors::ROOM, errors::AGENT],
        run: blocking(house, handle),
    })
}

fn handle(house: &House, context: &Context, input: Input) -> Result<Output> {
    let name = RoomName::parse(&input.room_name)?;
    let agent = &input.agent_name;
    names::check_agent(agent)?;
    let room = house.store.room(&name)?;
    house.store.require_member(&room, agent)?;
    let now = context.clock.now();
    house.store.act(&Actor::of(context), &room, agent, now)?;
    let up_to = input.message_id.as_deref().filter(|id| !id.is_empty());
    let unread_count = house.store.mark_read(&room, agent, up_to, now)?;
    house.store.heard_of(&room, agent, now);
    Ok(Output {
        success: true,
        room_name: input.room_name,
        unread_count,
    })
}
