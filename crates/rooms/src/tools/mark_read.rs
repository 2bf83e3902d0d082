//! `mark_read`: how far one has read.

use std::sync::Arc;

use kit::{Context, Effect, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ADDS, arguments, blocking};
use crate::{
    errors,
    house::House,
    model::names::{self, RoomName},
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
    Tool {
        name: "agent_communication/mark_read",
        aliases: &["agent_communication_mark_read", "mark_read"],
        title: "Mark as read",
        description: "Mark a room's messages as read, so that wait_for_messages passes over them.",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: Hints {
            idempotent: true,
            ..ADDS
        },
        effect: Effect::Write,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[errors::ROOM, errors::AGENT],
        normalise: arguments::tidy,
        meta: None,
        run: blocking(house, handle),
    }
}

fn handle(house: &House, context: &Context, input: Input) -> Result<Output> {
    let name = RoomName::parse(&input.room_name)?;
    let agent = &input.agent_name;
    names::check_agent(agent)?;
    let room = house.store.room(&name)?;
    house.store.require_member(&room, agent)?;
    let now = context.clock.now();
    let up_to = input.message_id.as_deref().filter(|id| !id.is_empty());
    let unread_count = house.store.mark_read(&room, agent, up_to, now)?;
    house.store.heard_of(&room, agent, now);
    Ok(Output {
        success: true,
        room_name: input.room_name,
        unread_count,
    })
}
