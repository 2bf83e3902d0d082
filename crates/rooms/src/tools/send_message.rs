//! `send_message`: answers once the message is on the disk.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool, context::Change};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    arguments::{self, AgentName},
    define, tool_names, waiting,
};
use crate::{
    model::{
        message::{Draft, MAX_CLIENT_ID, MAX_MESSAGE},
        names::RoomName,
        owners::Actor,
        uris,
    },
    state::CounterState,
    store::Room,
};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// Your name
    agent_name: AgentName,
    /// The room
    room_name: RoomName,
    /// The text; @name mentions an agent
    #[schemars(length(min = 1, max = MAX_MESSAGE))]
    message: String,
    /// Anything for other programs
    #[serde(default)]
    #[schemars(transform = arguments::open_object)]
    metadata: Map<String, Value>,
    /// Id of the message this answers
    reply_to: Option<String>,
    /// A key of your own; reuse it when you retry, and nothing is sent twice
    #[schemars(length(min = 1, max = MAX_CLIENT_ID))]
    client_message_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    success: bool,
    message_id: String,
    room_name: String,
    timestamp: String,
    mentions: Vec<String>,
    /// True when this clientMessageId had been sent before.
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicate: Option<bool>,
    /// What you have not read in this room.
    unread_count: usize,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("send_message"),
        "Send a message",
        "Send a message to a room you have entered. @name in the text mentions somebody.",
        Hints::ADDS,
        waiting(state, handle),
    )
}

async fn handle(state: Arc<CounterState>, context: Context, input: Input) -> Result<Output> {
    let name = input.room_name;
    let draft = Draft {
        agent: input.agent_name.unchecked(),
        text: input.message,
        metadata: input.metadata,
        reply_to: input.reply_to.filter(|id| !id.is_empty()),
        client_id: input.client_message_id.filter(|id| !id.is_empty()),
    };
    draft.check()?;
    let (agent, now) = (draft.agent.clone(), context.clock.now());
    let room = room(&state, &context, &name, &agent).await?;
    // Checked after the name, so that nobody can use up another agent's limit.
    state.may_send(&agent, now)?;
    let sent = room.send(draft, context.clock.clone()).await;
    if sent.as_ref().is_ok_and(|sent| !sent.repeated) {
        context.changed(Change::Resource(uris::messages(&name)));
    } else {
        state.has_not_sent(&agent, now);
    }
    let sent = sent?;
    let line = sent.line;
    Ok(Output {
        success: true,
        message_id: line.id,
        room_name: name.to_string(),
        timestamp: line.timestamp,
        mentions: line.mentions,
        duplicate: sent.repeated.then_some(true),
        unread_count: sent.unread,
    })
}

/// The room, if the caller may use this name.
async fn room(
    state: &Arc<CounterState>,
    context: &Context,
    name: &RoomName,
    agent: &str,
) -> Result<Arc<Room>> {
    let actor = Actor::of(context);
    match state.store.opened(name) {
        // Whether it still exists is checked when the message is written.
        Some(room) if actor == Actor::Local => Ok(room),
        _ => {
            let (name, agent, now) = (name.clone(), agent.to_owned(), context.clock.now());
            state
                .blocking(move |state| {
                    let room = state.store.room(&name)?;
                    state.store.act(&actor, &room, &agent, now)?;
                    Ok(room)
                })
                .await
        }
    }
}
