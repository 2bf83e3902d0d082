//! `enter_room`: becoming a member, or coming back.

use std::sync::Arc;

use kit::{Context, Result, Tool, context::Change};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ADDS, Definition, Done, arguments, blocking, define};
use crate::{
    errors,
    house::House,
    model::{
        members::Profile,
        message,
        names::{self, RoomName},
        owners::Actor,
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
    #[serde(flatten)]
    done: Done,
    unread_count: usize,
}

pub fn tool(house: &Arc<House>) -> Tool {
    define::<Output>(Definition {
        name: "agent_communication/enter_room",
        aliases: &["agent_communication_enter_room", "enter_room"],
        title: "Enter a room",
        description: "Become a member of a room, or come back online; needed before sending and waiting.",
        input: input(),
        hints: ADDS,
        rules: &[errors::ROOM, errors::AGENT],
        run: blocking(house, handle),
    })
}

fn handle(house: &House, context: &Context, input: Input) -> Result<Output> {
    let name = RoomName::parse(&input.room_name)?;
    let agent = &input.agent_name;
    names::check_agent(agent)?;
    let metadata = input.profile.as_ref().and_then(|p| p.metadata.as_ref());
    if metadata.is_some_and(message::is_too_deep) {
        return Err(errors::profile_too_deep());
    }
    let size = serde_json::to_string(&input.profile).map_or(usize::MAX, |json| json.len());
    if size > MAX_PROFILE {
        return Err(errors::profile_too_large());
    }
    let room = house.store.room(&name)?;
    let now = context.clock.now();
    let actor = Actor::of(context);
    house.store.may_use(&actor, agent)?;
    house.store.may_enter(&room, agent, now)?;
    house.store.claim(&actor, agent, now)?;
    let again = house.store.enter(&room, agent, input.profile, now)?;
    context.changed(Change::Resource(resources::room_uri(&name)));
    let (english, japanese) = match again {
        false => ("entered", "に入室しました"),
        true => ("is back in", "に戻りました"),
    };
    Ok(Output {
        done: Done::new(
            context,
            &name,
            format!("{agent} {english} room '{name}'."),
            format!("{agent} がルーム「{name}」{japanese}。"),
        ),
        unread_count: house.store.unread(&room, agent)?,
    })
}
