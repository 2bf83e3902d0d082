//! `enter_room`: makes an agent a member, or brings it back online.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool, Warning, context::Change};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    Done,
    arguments::{self, AgentName, ExistingRoom},
    blocking, define, tool_names,
};
use crate::{
    errors,
    model::{
        members::{Profile, Status},
        message,
        names::{self, AGENT_PATTERN},
        owners::Actor,
        uris,
    },
    state::CounterState,
    store::Room,
};

const MAX_PROFILE: usize = 10_000;
/// How many names the answer lists.
const NAMED: usize = 50;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("examples" = [json!({
    "agentName": "bob", "roomName": "dev", "profile": { "role": "reviewer" }
})]))]
pub struct Input {
    /// Your name, the same in every call; unique in the room (一意)
    #[schemars(regex(pattern = AGENT_PATTERN))]
    agent_name: AgentName,
    room_name: ExistingRoom,
    /// What others should know about you (プロフィール)
    #[schemars(transform = arguments::open_object)]
    profile: Option<Profile>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    #[serde(flatten)]
    done: Done,
    #[serde(flatten)]
    inside: Inside,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    warnings: Vec<Warning>,
}

/// What an agent finds in a room.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Inside {
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    user_count: usize,
    online_users: Vec<String>,
    unread_count: usize,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("enter_room"),
        "Enter room",
        "Become a member of a room, or come back online; needed before sending and waiting. ルーム入室",
        Hints::ADDS,
        blocking(state, handle),
    )
}

fn handle(state: &CounterState, context: &Context, input: Input) -> Result<Output> {
    let name = input.room_name.name()?;
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
    let similar = similar_name(&room, agent)?;
    let again = match enter(state, context, &room, agent, input.profile) {
        Err(error) if error.code == errors::AGENT_ALREADY_IN_ROOM => {
            let inside = Inside::of(state, context, &room, agent)?;
            return Err(error.details(json!(inside)));
        }
        entered => entered?,
    };
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
        inside: Inside::of(state, context, &room, agent)?,
        warnings: similar.map(similar_warning).into_iter().collect(),
    })
}

/// Returns whether the agent was a member already, and had been offline.
pub fn enter(
    state: &CounterState,
    context: &Context,
    room: &Room,
    agent: &str,
    profile: Option<Profile>,
) -> Result<bool> {
    let now = context.clock.now();
    let actor = Actor::of(context);
    state.store.names.may_use(&actor, agent)?;
    room.members.may_enter(agent, now)?;
    state.store.names.claim(&actor, agent, now)?;
    let again = state.store.enter(room, agent, profile, now)?;
    context.changed(Change::Resource(uris::room(&room.name)));
    Ok(again)
}

/// Another member whose name people could take for this one.
fn similar_name(room: &Room, agent: &str) -> Result<Option<String>> {
    let members = room.members.load()?;
    if members.users.get(agent).is_some() {
        return Ok(None);
    }
    let visible = names::visible(agent);
    let mut names = members.users.names();
    let similar = names.find(|name| names::visible(name) == visible);
    Ok(similar.map(str::to_owned))
}

fn similar_warning(name: String) -> Warning {
    let message = format!(
        "`{name}` is another member, whose name differs from yours only in case or width. If that \
         is you, leave and use that name; if not, a clearer name avoids mistakes."
    );
    Warning::new("SIMILAR_NAME", message).detail("name", name)
}

impl Inside {
    fn of(state: &CounterState, context: &Context, room: &Room, agent: &str) -> Result<Self> {
        let members = room.members.list(context.clock.now())?;
        let user_count = members.len();
        let online = members.into_iter().filter(|m| m.status == Status::Online);
        Ok(Self {
            description: state.store.listed(&room.name)?.description,
            user_count,
            online_users: online.map(|member| member.name).take(NAMED).collect(),
            unread_count: room.reads.unread(agent)?,
        })
    }
}
