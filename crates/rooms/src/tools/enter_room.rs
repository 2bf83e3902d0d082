//! `enter_room`: makes an agent a member, or brings it back online.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool, context::Change};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Done,
    arguments::{self, AgentName},
    blocking, define, tool_names,
};
use crate::{
    errors,
    model::{members::Profile, message, names::RoomName, owners::Actor, uris},
    state::CounterState,
};

const MAX_PROFILE: usize = 10_000;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// Your name, the same in every call; unique in the room
    agent_name: AgentName,
    /// The room
    room_name: RoomName,
    /// What others should know about you
    #[schemars(transform = arguments::open_object)]
    profile: Option<Profile>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    #[serde(flatten)]
    done: Done,
    unread_count: usize,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("enter_room"),
        "Enter a room",
        "Become a member of a room, or come back online; needed before sending and waiting.",
        Hints::ADDS,
        blocking(state, handle),
    )
}

fn handle(state: &CounterState, context: &Context, input: Input) -> Result<Output> {
    let name = input.room_name;
    let agent = &input.agent_name.checked()?;
    let metadata = input.profile.as_ref().and_then(|p| p.metadata.as_ref());
    if metadata.is_some_and(message::is_too_deep) {
        return Err(errors::profile_too_deep(message::MAX_DEPTH));
    }
    let size = serde_json::to_string(&input.profile).map_or(usize::MAX, |json| json.len());
    if size > MAX_PROFILE {
        return Err(errors::profile_too_large());
    }
    let room = state.store.room(&name)?;
    let now = context.clock.now();
    let actor = Actor::of(context);
    state.store.names.may_use(&actor, agent)?;
    room.members.may_enter(agent, now)?;
    state.store.names.claim(&actor, agent, now)?;
    let again = state.store.enter(&room, agent, input.profile, now)?;
    context.changed(Change::Resource(uris::room(&name)));
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
        unread_count: room.reads.unread(agent)?,
    })
}
