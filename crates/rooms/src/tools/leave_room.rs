//! `leave_room`: the end of a membership.

use std::sync::Arc;

use kit::{
    Context, Effect, Result, Tool,
    context::{Change, Language},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ADDS, arguments, blocking};
use crate::{
    errors,
    house::House,
    model::names::{self, RoomName},
    resources,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    agent_name: String,
    room_name: String,
}

fn input() -> Value {
    arguments::input(
        json!({
            "agentName": arguments::agent("Your name"),
            "roomName": arguments::room("The room")
        }),
        &["agentName", "roomName"],
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
        name: "agent_communication/leave_room",
        aliases: &["agent_communication_leave_room", "leave_room"],
        title: "Leave a room",
        description: "End your membership of a room. What you said stays.",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: ADDS,
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
    house.store.leave(&room, agent)?;
    context.changed(Change::Resource(resources::room_uri(&name)));
    Ok(Output {
        success: true,
        message: match context.language {
            Language::English => format!("{agent} left room '{name}'."),
            Language::Japanese => format!("{agent} がルーム「{name}」から退室しました。"),
        },
        room_name: input.room_name,
    })
}
