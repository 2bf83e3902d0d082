//! `send_message`: answers once the message can't be lost.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool, Warning, context::Change};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    arguments::{self, AgentName, ExistingRoom},
    asking, define, tool_names,
};
use crate::{
    model::{
        message::{Draft, MAX_CLIENT_ID, MAX_MESSAGE},
        uris,
    },
    state::CounterState,
    store::{Call, UnknownMention},
};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("examples" = [json!({
    "agentName": "bob", "roomName": "dev", "message": "@eve Ready?"
})]))]
pub struct Input {
    agent_name: AgentName,
    room_name: ExistingRoom,
    /// The text; @name mentions an agent (@agent_nameでメンション可能)
    #[schemars(length(max = MAX_MESSAGE))]
    message: String,
    /// Anything for other programs
    #[serde(default)]
    #[schemars(transform = arguments::open_object)]
    metadata: Map<String, Value>,
    /// The message this answers (id)
    reply_to: Option<String>,
    /// A key of your own; repeat it in a retry, and nothing is sent twice
    #[schemars(length(max = MAX_CLIENT_ID))]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicate: Option<bool>,
    unread_count: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    warnings: Vec<Warning>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("send_message"),
        "Send message",
        "Send a message to a room you have entered; everybody who can use these tools can read it, nothing is private. メッセージ送信",
        Hints::ADDS,
        asking(state, handle),
    )
    .in_japanese("メッセージの送信")
}

async fn handle(state: Arc<CounterState>, context: Context, input: Input) -> Result<Output> {
    let name = input.room_name.name()?;
    let draft = Draft {
        agent: input.agent_name.unchecked(),
        text: input.message,
        metadata: input.metadata,
        reply_to: input.reply_to.filter(|id| !id.is_empty()),
        client_id: input.client_message_id.filter(|id| !id.is_empty()),
    };
    draft.check()?;
    let (agent, now) = (draft.agent.clone(), context.clock.now());
    let call = Call::of(&context);
    let allowed = state
        .store
        .may_send(call.clone(), name.clone(), agent.clone());
    allowed.await?;
    // Checked after the name, so that nobody can use up another agent's limit.
    state.may_send(&agent, now)?;
    let sent = state.store.send(call, name.clone(), draft).await;
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
        warnings: unknown_mentions(&sent.unknown).into_iter().collect(),
    })
}

/// The names that were mentioned and are not in the room.
fn unknown_mentions(unknown: &[UnknownMention]) -> Option<Warning> {
    if unknown.is_empty() {
        return None;
    }
    let names = kit::shortlist(unknown.iter().map(|it| format!("@{}", it.name)));
    let nearest: Vec<&str> = unknown
        .iter()
        .filter_map(|it| it.nearest.as_deref())
        .collect();
    let meant = match nearest.as_slice() {
        [] => "Members are in list_room_users.".to_owned(),
        nearest => format!("Did you mean {}?", kit::shortlist(nearest).sentence()),
    };
    let message = format!(
        "Not in this room, and will not see it before entering: {}. {meant}",
        names.sentence()
    );
    let names: Vec<&str> = unknown.iter().map(|it| it.name.as_str()).collect();
    Some(
        Warning::new("UNKNOWN_MENTION", message)
            .detail("names", names)
            .detail("nearest", nearest),
    )
}
