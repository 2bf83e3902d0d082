//! `send_message`: on the disk before it is answered.

use std::sync::Arc;

use kit::{Context, Result, Tool, context::Change};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{ADDS, Definition, arguments, define, task};
use crate::{
    errors,
    house::House,
    model::{
        message::{Draft, MAX_CLIENT_ID, MAX_MESSAGE},
        names::RoomName,
        owners::Actor,
    },
    resources,
    store::Room,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    agent_name: String,
    room_name: String,
    message: String,
    #[serde(default)]
    metadata: Map<String, Value>,
    reply_to: Option<String>,
    client_message_id: Option<String>,
}

fn input() -> Value {
    arguments::input(
        json!({
            "agentName": arguments::agent("Your name"),
            "roomName": arguments::room("The room"),
            "message": {
                "type": "string",
                "description": "The text; @name mentions an agent",
                "minLength": 1,
                "maxLength": MAX_MESSAGE
            },
            "metadata": { "type": "object", "description": "Anything for other programs" },
            "replyTo": { "type": "string", "description": "Id of the message this answers" },
            "clientMessageId": {
                "type": "string",
                "description": "A key of your own; reuse it when you retry, and nothing is sent twice",
                "minLength": 1,
                "maxLength": MAX_CLIENT_ID
            }
        }),
        &["agentName", "roomName", "message"],
    )
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

pub fn tool(house: &Arc<House>) -> Tool {
    define::<Output>(Definition {
        name: "agent_communication/send_message",
        aliases: &["agent_communication_send_message", "send_message"],
        title: "Send a message",
        description: "Send a message to a room you have entered. @name in the text mentions somebody.",
        input: input(),
        hints: ADDS,
        rules: &[
            errors::ROOM,
            errors::AGENT,
            errors::MESSAGE,
            errors::METADATA,
        ],
        run: task(house, handle),
    })
}

async fn handle(house: Arc<House>, context: Context, input: Input) -> Result<Output> {
    let name = RoomName::parse(&input.room_name)?;
    let draft = Draft {
        agent: input.agent_name,
        text: input.message,
        metadata: input.metadata,
        reply_to: input.reply_to.filter(|id| !id.is_empty()),
        client_id: input.client_message_id.filter(|id| !id.is_empty()),
    };
    draft.check()?;
    let (agent, now) = (draft.agent.clone(), context.clock.now());
    let room = room(&house, &context, &name, &agent).await?;
    // Only whoever may use the name uses up what it may send.
    house.may_send(&agent, now)?;
    let sent = house.store.send(&room, draft, context.clock.clone()).await;
    if sent.as_ref().is_ok_and(|sent| !sent.repeated) {
        context.changed(Change::Resource(resources::messages_uri(&name)));
    } else {
        house.has_not_sent(&agent, now);
    }
    let sent = sent?;
    let line = sent.line;
    Ok(Output {
        success: true,
        message_id: line.id,
        room_name: input.room_name,
        timestamp: line.timestamp,
        mentions: line.mentions,
        duplicate: sent.repeated.then_some(true),
        unread_count: sent.unread,
    })
}

/// The room, for somebody who may speak under this name.
async fn room(
    house: &Arc<House>,
    context: &Context,
    name: &RoomName,
    agent: &str,
) -> Result<Arc<Room>> {
    let actor = Actor::of(context);
    match house.store.opened(name) {
        // Whether it still exists is checked when the message is written.
        Some(room) if actor == Actor::Local => Ok(room),
        _ => {
            let (name, agent, now) = (name.clone(), agent.to_owned(), context.clock.now());
            house
                .blocking(move |house| {
                    let room = house.store.room(&name)?;
                    house.store.act(&actor, &room, &agent, now)?;
                    Ok(room)
                })
                .await
        }
    }
}
