//! `get_messages`: newest first, page by page.

use std::sync::Arc;

use kit::{Context, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Definition, LOOKS, arguments, blocking, define};
use crate::{
    errors,
    house::House,
    model::{
        message::Message,
        names::{self, RoomName},
        owners::Actor,
    },
    store::{Page, Pick, Place, Room, Start},
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    room_name: String,
    agent_name: Option<String>,
    limit: Option<usize>,
    offset: Option<usize>,
    mentions_only: Option<bool>,
    cursor: Option<String>,
    before: Option<String>,
}

fn input() -> Value {
    arguments::input(
        json!({
            "roomName": arguments::room("The room"),
            "agentName": arguments::agent("Your name, for mentionsOnly and your unread count"),
            "limit": arguments::limit(),
            "offset": {
                "type": "integer",
                "description": "How many of the newest to skip",
                "minimum": 0,
                "default": 0
            },
            "mentionsOnly": {
                "type": "boolean",
                "description": "Only messages that mention agentName",
                "default": false
            },
            "cursor": {
                "type": "string",
                "description": "nextCursor of the answer before, in place of offset: stays right while others send"
            },
            "before": {
                "type": "string",
                "description": "Older than this message (id) or time, in place of offset"
            }
        }),
        &["roomName"],
    )
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    room_name: String,
    messages: Vec<Message>,
    count: usize,
    /// There are older ones.
    has_more: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unread_count: Option<usize>,
}

pub fn tool(house: &Arc<House>) -> Tool {
    define::<Output>(Definition {
        name: "agent_communication/get_messages",
        aliases: &["agent_communication_get_messages", "get_messages"],
        title: "Get messages",
        description: "Get a room's messages, newest first. Reading does not mark them as read.",
        input: input(),
        hints: LOOKS,
        rules: &[errors::ROOM, errors::AGENT],
        run: blocking(house, handle),
    })
}

fn handle(house: &House, context: &Context, input: Input) -> Result<Output> {
    let name = RoomName::parse(&input.room_name)?;
    let agent = input.agent_name.as_deref();
    if let Some(agent) = agent {
        names::check_agent(agent)?;
        house.store.may_use(&Actor::of(context), agent)?;
    }
    let mentions_of = match (input.mentions_only.unwrap_or_default(), agent) {
        (true, None) => return Err(errors::agent_name_missing()),
        (true, agent) => agent,
        (false, _) => None,
    };
    let room = house.store.room(&name)?;
    let page = house.store.page(
        &room,
        &Pick {
            start: start(&input)?,
            limit: arguments::limit_of(input.limit),
            mentions_of,
        },
    )?;
    let mut output = output(&room, page);
    if let Some(agent) = agent
        && room.members()?.users.get(agent).is_some()
    {
        house.store.heard_of(&room, agent, context.clock.now());
        output.unread_count = Some(house.store.unread(&room, agent)?);
    }
    Ok(output)
}

/// Where the page starts: of several places the most exact one.
fn start(input: &Input) -> Result<Start> {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    if let Some(cursor) = given(&input.cursor) {
        return Ok(Start::Cursor(Place::from_cursor(&cursor)));
    }
    let Some(before) = given(&input.before) else {
        return Ok(Start::Offset(input.offset.unwrap_or_default()));
    };
    // No id looks like a time.
    Ok(match arguments::time("before", Some(&before), false) {
        Ok(Some(time)) => Start::BeforeTime(time),
        _ => Start::BeforeMessage(before.trim().to_owned()),
    })
}

fn output(room: &Room, page: Page) -> Output {
    let messages: Vec<Message> = page.messages.into_iter().map(Message::from).collect();
    Output {
        room_name: room.name.to_string(),
        count: messages.len(),
        has_more: page.has_more,
        next_cursor: page
            .next
            .filter(|_| page.has_more)
            .map(|place| place.to_cursor()),
        messages,
        unread_count: None,
    }
}

/// What the messages' resource shows.
pub fn latest(house: &House, room: &Room) -> Result<Output> {
    let pick = Pick {
        start: Start::Offset(0),
        limit: arguments::DEFAULT_LIMIT,
        mentions_of: None,
    };
    Ok(output(room, house.store.page(room, &pick)?))
}
