//! `enter_room`: makes an agent a member, or brings it back online.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool, Warning, context::Change};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    Done,
    arguments::{self, AgentName, ExistingRoom},
    asking, define, tool_names,
};
use crate::{
    errors,
    model::{members::Profile, message, names::AGENT_PATTERN, uris},
    state::CounterState,
    store::{self, Call, Entrance},
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
        asking(state, handle),
    )
    .in_japanese("入室")
}

async fn handle(state: Arc<CounterState>, context: Context, input: Input) -> Result<Output> {
    let name = input.room_name.name()?;
    let agent = input.agent_name.checked()?;
    let metadata = input.profile.as_ref().and_then(|p| p.metadata.as_ref());
    if metadata.is_some_and(message::is_too_deep) {
        return Err(errors::profile_too_deep(message::MAX_DEPTH));
    }
    let size = serde_json::to_string(&input.profile).map_or(usize::MAX, |json| json.len());
    if size > MAX_PROFILE {
        return Err(errors::profile_too_large());
    }
    let call = Call::of(&context);
    let entered = state
        .store
        .enter(call, name.clone(), agent.clone(), input.profile)
        .await?;
    let inside = Inside::from(entered.inside);
    let (english, japanese) = match entered.entrance {
        Entrance::New => ("entered", "に入室しました"),
        Entrance::Back => ("is back in", "に戻りました"),
        Entrance::AlreadyIn => {
            let error = errors::agent_already_in_room(&agent, name.as_str());
            return Err(error.details(json!(inside)));
        }
    };
    context.changed(Change::Resource(uris::room(&name)));
    Ok(Output {
        done: Done::new(
            &context,
            &name,
            format!("{agent} {english} room '{name}'."),
            format!("{agent} がルーム「{name}」{japanese}。"),
        ),
        inside,
        warnings: entered.similar.map(similar_warning).into_iter().collect(),
    })
}

fn similar_warning(name: String) -> Warning {
    let message = format!(
        "`{name}` is another member, whose name differs from yours only in case or width. If that \
         is you, leave and use that name; if not, a clearer name avoids mistakes."
    );
    Warning::new("SIMILAR_NAME", message).detail("name", name)
}

impl From<store::Inside> for Inside {
    fn from(inside: store::Inside) -> Self {
        Self {
            description: inside.description,
            user_count: inside.user_count,
            online_users: inside.online.into_iter().take(NAMED).collect(),
            unread_count: inside.unread,
        }
    }
}
