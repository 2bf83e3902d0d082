//! `enter_room`: becoming a member, or coming back.

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
    model::{
        members::Profile,
        names::{self, RoomName},
    },
    resources,
};

const MAX_PROFILE: usize = 10_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    agent_name: String,
    room_name: String,
    profile: Option<Profile>,
}

fn input() -> Value {
    arguments::input(
        json!({
            "agentName": arguments::agent("Your name, the same in every call; unique in the room"),
            "roomName": arguments::room("The room"),
            "profile": {
                "type": "object",
                "description": "What others should know about you",
                "properties": {
                    "role": { "type": "string" },
                    "description": { "type": "string" },
                    "capabilities": { "type": "array", "items": { "type": "string" } },
                    "metadata": { "type": "object" }
                }
            }
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
    unread_count: usize,
}

pub fn tool(house: &Arc<House>) -> Tool {
    Tool {
        name: "agent_communication/enter_room",
        aliases: &["agent_communication_enter_room", "enter_room"],
        title: "Enter a room",
        description: "Become a member of a room, or come back online; needed before sending and waiting.",
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
    let size = serde_json::to_string(&input.profile).map_or(usize::MAX, |json| json.len());
    if size > MAX_PROFILE {
        return Err(errors::profile_too_large());
    }
    let room = house.store.room(&name)?;
    let again = house
        .store
        .enter(&room, agent, input.profile, context.clock.now())?;
    context.changed(Change::Resource(resources::room_uri(&name)));
    Ok(Output {
        success: true,
        unread_count: house.store.unread(&room, agent)?,
        message: match (context.language, again) {
            (Language::English, false) => format!("{agent} entered room '{name}'."),
            (Language::English, true) => format!("{agent} is back in room '{name}'."),
            (Language::Japanese, false) => {
                format!("{agent} がルーム「{name}」に入室しました。")
            }
            (Language::Japanese, true) => format!("{agent} がルーム「{name}」に戻りました。"),
        },
        room_name: input.room_name,
    })
}
