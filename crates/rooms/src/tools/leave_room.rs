//! `leave_room`: the end of a membership.

use std::sync::Arc;

use kit::{Context, Result, Tool, context::Change};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ADDS, Definition, Done, arguments, blocking, define};
use crate::{
    errors,
    house::House,
    model::{
        names::{self, RoomName},
        owners::Actor,
    },
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

pub fn tool(house: &Arc<House>) -> Tool {
    define::<Done>(Definition {
        name: "agent_communication/leave_room",
        aliases: &["agent_communication_leave_room", "leave_room"],
        title: "Leave a room",
        description: "End your membership of a room. What you said stays.",
        input: input(),
        hints: ADDS,
        rules: &[errors::ROOM, errors::AGENT],
        run: blocking(house, handle),
    })
}

fn handle(house: &House, context: &Context, input: Input) -> Result<Done> {
    let name = RoomName::parse(&input.room_name)?;
    let agent = &input.agent_name;
    names::check_agent(agent)?;
    let room = house.store.room(&name)?;
    let acts = house
        .store
        .act(&Actor::of(context), &room, agent, context.clock.now());
    acts.map_err(errors::nothing_to_leave)?;
    house.store.leave(&room, agent)?;
    context.changed(Change::Resource(resources::room_uri(&name)));
    Ok(Done::new(
        context,
        &name,
        format!("{agent} left room '{name}'."),
        format!("{agent} がルーム「{name}」から退室しました。"),
    ))
}
