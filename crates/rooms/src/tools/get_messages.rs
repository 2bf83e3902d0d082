//! `get_messages`: newest first, page by page.

use std::sync::Arc;

use jiff::Timestamp;
use kit::{Context, Hints, Result, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    arguments::{self, AgentName, ExistingRoom, Limit},
    asking, define, tool_names,
};
use crate::{
    errors,
    model::{
        message::{Form, Message, shown},
        names::RoomName,
    },
    state::CounterState,
    store::{Call, MessageRef, Page, Pick, Start},
};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    room_name: ExistingRoom,
    /// You, for mentionsOnly and unreadCount (メンションフィルタリング用)
    agent_name: Option<AgentName>,
    #[serde(default)]
    limit: Limit,
    /// How many of the newest to skip
    #[serde(default)]
    offset: usize,
    /// Only messages that mention agentName (自分宛のメンションのみ)
    #[serde(default)]
    mentions_only: bool,
    /// nextCursor, in place of offset
    cursor: Option<String>,
    /// Older than this message (id) or time
    before: Option<String>,
    /// Newer than this message (id) or time
    after: Option<String>,
    /// From this time on (RFC 3339 or YYYY-MM-DD; UTC without offset)
    since: Option<String>,
    /// Without metadata, mentions and repeated times
    #[serde(default)]
    compact: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    room_name: String,
    messages: Vec<Message>,
    count: usize,
    has_more: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unread_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    details: Option<Value>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("get_messages"),
        "Get messages",
        "Get a room's messages, newest first; they stay unread (see wait_for_messages). メッセージ取得",
        Hints::READS,
        asking(state, handle),
    )
    .in_japanese("メッセージの取得")
}

async fn handle(state: Arc<CounterState>, context: Context, input: Input) -> Result<Output> {
    let now = context.clock.now();
    let start = start(&input, now)?;
    let (after, since) = lower_bound(&input, now)?;
    let agent = input.agent_name.map(AgentName::checked).transpose()?;
    let mentions_of = match (input.mentions_only, &agent) {
        (true, None) => return Err(errors::agent_name_missing()),
        (true, agent) => agent.clone(),
        (false, _) => None,
    };
    let name = input.room_name.name()?;
    let pick = Pick {
        start,
        after,
        since,
        limit: input.limit.get(),
        mentions_of,
    };
    let call = Call::of(&context);
    let (page, unread) = state
        .store
        .page(call, name.clone(), agent, pick.clone())
        .await?;
    let form = Form {
        compact: input.compact,
        ..Form::default()
    };
    Ok(Output {
        unread_count: unread,
        ..output(&name, page, &pick, form)
    })
}

fn given(text: Option<&String>) -> Option<&str> {
    text.map(|text| text.trim()).filter(|text| !text.is_empty())
}

/// Where the page starts. If several arguments say so, the most exact one decides.
fn start(input: &Input, now: Timestamp) -> Result<Start> {
    if let Some(cursor) = given(input.cursor.as_ref()) {
        return Ok(Start::Cursor(MessageRef::from_cursor(cursor)));
    }
    let Some(before) = given(input.before.as_ref()) else {
        return Ok(Start::Offset(input.offset));
    };
    // An id never parses as a time.
    Ok(match arguments::time("before", Some(before), false, now) {
        Ok(Some(time)) => Start::BeforeTime(time),
        _ => Start::BeforeMessage(before.to_owned()),
    })
}

/// The message after which, and the time from which on messages are wanted.
fn lower_bound(input: &Input, now: Timestamp) -> Result<(Option<String>, Option<Timestamp>)> {
    let since = arguments::time("since", input.since.as_deref(), false, now)?;
    let Some(after) = given(input.after.as_ref()) else {
        return Ok((None, since));
    };
    Ok(match arguments::time("after", Some(after), false, now) {
        Ok(Some(time)) => (None, since.max(Some(time))),
        _ => (Some(after.to_owned()), since),
    })
}

fn output(name: &RoomName, page: Page, pick: &Pick, form: Form) -> Output {
    let why = page.messages.is_empty().then(|| why_empty(&page, pick));
    let (message, details) = why.unzip();
    let next = page.next.filter(|_| page.has_more);
    let messages = shown(page.messages, form);
    Output {
        room_name: name.to_string(),
        count: messages.len(),
        has_more: page.has_more,
        next_cursor: next.map(|last| last.to_cursor()),
        messages,
        unread_count: None,
        message,
        details,
    }
}

fn why_empty(page: &Page, pick: &Pick) -> (String, Value) {
    let total = page.total;
    let message = match (&pick.mentions_of, &pick.start) {
        _ if total == 0 => "There are no messages in this room yet.".to_owned(),
        (Some(agent), _) => {
            format!("No message that was asked for mentions {agent}; the room has {total}.")
        }
        (None, Start::Offset(offset)) if *offset >= total => {
            format!("Offset {offset} is beyond the oldest message; the room has {total}.")
        }
        _ if pick.after.is_some() || pick.since.is_some() => {
            format!("No message is that new; the room has {total}.")
        }
        _ => format!("No message is that old; the room has {total}."),
    };
    (message, json!({ "totalMessages": total }))
}

/// The page for the resource of a room's messages.
pub fn latest() -> Pick {
    Pick {
        start: Start::Offset(0),
        after: None,
        since: None,
        limit: arguments::DEFAULT_LIMIT,
        mentions_of: None,
    }
}

/// That page as the resource shows it.
pub fn shown_latest(name: &RoomName, page: Page) -> Output {
    output(name, page, &latest(), Form::default())
}
