//! `get_messages`: newest first, page by page.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    arguments::{self, AgentName, Limit},
    blocking, define, tool_names,
};
use crate::{
    errors,
    model::{message::Message, names::RoomName, owners::Actor},
    state::CounterState,
    store::{MessageRef, Page, Pick, Room, Start},
};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// The room
    room_name: RoomName,
    /// Your name, for mentionsOnly and your unread count
    agent_name: Option<AgentName>,
    #[serde(default)]
    limit: Limit,
    /// How many of the newest to skip
    #[serde(default)]
    offset: usize,
    /// Only messages that mention agentName
    #[serde(default)]
    mentions_only: bool,
    /// nextCursor of the answer before, in place of offset: stays right while others send
    cursor: Option<String>,
    /// Older than this message (id) or time, in place of offset
    before: Option<String>,
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

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("get_messages"),
        "Get messages",
        "Get a room's messages, newest first. Reading does not mark them as read.",
        Hints::READS,
        blocking(state, handle),
    )
}

fn handle(state: &CounterState, context: &Context, input: Input) -> Result<Output> {
    let start = start(&input)?;
    let agent = input.agent_name.map(AgentName::checked).transpose()?;
    let agent = agent.as_deref();
    if let Some(agent) = agent {
        state.store.names.may_use(&Actor::of(context), agent)?;
    }
    let mentions_of = match (input.mentions_only, agent) {
        (true, None) => return Err(errors::agent_name_missing()),
        (true, agent) => agent,
        (false, _) => None,
    };
    let room = state.store.room(&input.room_name)?;
    let page = room.log.page(&Pick {
        start,
        limit: input.limit.get(),
        mentions_of,
    })?;
    let mut output = output(&room, page);
    if let Some(agent) = agent
        && room.members.has(agent)?
    {
        room.members.heard_of(agent, context.clock.now());
        output.unread_count = Some(room.reads.unread(agent)?);
    }
    Ok(output)
}

/// Where the page starts. If several arguments say so, the most exact one decides.
fn start(input: &Input) -> Result<Start> {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    if let Some(cursor) = given(&input.cursor) {
        return Ok(Start::Cursor(MessageRef::from_cursor(&cursor)));
    }
    let Some(before) = given(&input.before) else {
        return Ok(Start::Offset(input.offset));
    };
    // An id never parses as a time.
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
            .map(|last| last.to_cursor()),
        messages,
        unread_count: None,
    }
}

/// For the resource of a room's messages.
pub fn latest(room: &Room) -> Result<Output> {
    let pick = Pick {
        start: Start::Offset(0),
        limit: arguments::DEFAULT_LIMIT,
        mentions_of: None,
    };
    Ok(output(room, room.log.page(&pick)?))
}
