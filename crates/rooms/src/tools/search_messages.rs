//! `search_messages`: finds messages by text, agent and time.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use kit::{Context, Error, Hints, Result, Tool, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    NO_ROOMS,
    arguments::{self, AgentName, ExistingRoom, Limit},
    asking, define, tool_names,
};
use crate::{
    errors,
    model::{
        message::{Form, Message, shown},
        names::RoomName,
        query::Query,
    },
    state::CounterState,
    store::{Call, Search, SearchCursor, SearchHits},
};

/// An empty answer is explained by more searches, if the first was quicker than this.
const QUICK: Duration = Duration::from_secs(1);
const IN_PARTS: &str =
    "No message contains the words as written. These contain the parts of the compounds.";

const NOTHING: &str = "No message matches.";

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// Words or parts of words, in any order; case, width and kana do not matter
    #[schemars(length(max = 1000))]
    query: Option<String>,
    room_name: Option<ExistingRoom>,
    /// Who said it
    agent_name: Option<AgentName>,
    /// Inclusive; as in get_messages
    since: Option<String>,
    /// Inclusive
    until: Option<String>,
    #[serde(default)]
    limit: Limit,
    /// nextCursor, with otherwise the same arguments
    cursor: Option<String>,
    /// As in get_messages
    #[serde(default)]
    compact: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// As in get_messages, with roomName
    #[schemars(with = "Vec<serde_json::Map<String, Value>>")]
    messages: Vec<Message>,
    count: usize,
    has_more: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    looked_for: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    details: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    warnings: Vec<Warning>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("search_messages"),
        "Search",
        "Search messages by text, agent and time (each optional), newest first; archived ones too.",
        Hints::READS,
        asking(state, handle),
    )
    .in_japanese("メッセージの検索")
}

async fn handle(state: Arc<CounterState>, context: Context, input: Input) -> Result<Output> {
    // The semaphore is never closed.
    let turn = state.searches.acquire().await;
    let found = find(&state, &Call::of(&context), input).await;
    drop(turn);
    found
}

async fn find(state: &CounterState, call: &Call, input: Input) -> Result<Output> {
    let now = call.now();
    let query = Query::parse(&input.query.unwrap_or_default())?;
    let room = input.room_name.map(|room| room.name()).transpose()?;
    let room = room.as_ref();
    let mut search = Search {
        words: query.words.clone(),
        agent: input.agent_name.map(AgentName::unchecked),
        since: arguments::time("since", input.since.as_deref(), false, now)?,
        until: arguments::time("until", input.until.as_deref(), true, now)?,
        after: cursor(input.cursor.as_deref())?,
        limit: input.limit.get(),
    };
    let started = Instant::now();
    let (mut found, warnings) = search_rooms(state, call, room, &search).await?;
    let (mut looked_for, mut message, mut details) = (query.shown.clone(), None, None);
    if found.hits.is_empty()
        && let Some(parts) = query.in_parts()
    {
        search.words = parts.words;
        found = search_rooms(state, call, room, &search).await?.0;
        if !found.hits.is_empty() {
            looked_for = parts.shown;
            message = Some(IN_PARTS.to_owned());
        }
    }
    if found.hits.is_empty() {
        if let Some(agent) = &search.agent
            && !state.store.is_known(call.clone(), agent.clone()).await?
        {
            return Err(errors::agent_not_found(agent));
        }
        let explains = search.after.is_none() && started.elapsed() < QUICK;
        let (why, more) = match explains {
            true => why_empty(state, call, room, &query, &search).await?,
            false => (NOTHING.to_owned(), json!({ "lookedFor": looked_for })),
        };
        (message, details) = (Some(why), Some(more));
    }
    let (has_more, next) = (found.has_more, found.next());
    let lines = found.hits.into_iter().map(|hit| hit.line);
    let messages = shown(
        lines,
        Form {
            compact: input.compact,
            with_rooms: true,
        },
    );
    Ok(Output {
        count: messages.len(),
        has_more,
        next_cursor: next.map(|next| next.write()),
        messages,
        looked_for,
        message,
        details,
        warnings,
    })
}

fn cursor(text: Option<&str>) -> Result<Option<SearchCursor>> {
    match text.map(str::trim).filter(|text| !text.is_empty()) {
        None => Ok(None),
        Some(text) => match SearchCursor::parse(text) {
            None => Err(kit::page::unknown_cursor()),
            cursor => Ok(cursor),
        },
    }
}

async fn search_rooms(
    state: &CounterState,
    call: &Call,
    only: Option<&RoomName>,
    search: &Search,
) -> Result<(SearchHits, Vec<Warning>)> {
    let (call, only) = (call.clone(), only.cloned());
    state.store.search(call, only, search.clone()).await
}

/// Why nothing was found: the words are elsewhere, or not all of them are in one message.
async fn why_empty(
    state: &CounterState,
    call: &Call,
    room: Option<&RoomName>,
    query: &Query,
    search: &Search,
) -> Result<(String, Value)> {
    let first = async |room, words: Vec<String>, search: Search| {
        let search = Search {
            words,
            limit: 1,
            ..search
        };
        let found = search_rooms(state, call, room, &search).await?.0;
        Ok::<_, Error>(found.hits.into_iter().next().map(|hit| hit.line))
    };
    if room.is_none() && state.store.rooms(call.budget.clone()).await?.is_empty() {
        return Ok((NO_ROOMS.to_owned(), json!({ "lookedFor": query.shown })));
    }
    let words = query.shown.join("`, `");
    if query.words.is_empty() {
        return Ok((NOTHING.to_owned(), json!({ "lookedFor": [] })));
    }
    if (room.is_some() || search.has_filters())
        && let Some(line) = first(None, query.words.clone(), Search::default()).await?
    {
        let message = format!(
            "No message with `{words}` matches the other filters. Without them there is one of \
             {} in `{}`, sent {}.",
            line.agent_name, line.room_name, line.timestamp
        );
        let elsewhere = json!({
            "id": line.id, "roomName": line.room_name, "agentName": line.agent_name,
            "timestamp": line.timestamp
        });
        let details = json!({ "lookedFor": query.shown, "withoutFilters": elsewhere });
        return Ok((message, details));
    }
    let mut alone = Vec::new();
    for word in query.each() {
        if first(room, word.words, search.clone()).await?.is_some() {
            alone.extend(word.shown);
        }
    }
    let message = match alone.as_slice() {
        [] => format!("No message contains `{words}`."),
        some => format!(
            "No message contains all of `{words}`. Found by themselves: `{}`.",
            some.join("`, `")
        ),
    };
    let details = json!({ "lookedFor": query.shown, "foundAlone": alone });
    Ok((message, details))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_search_waits_for_its_turn() {
        let directory = tempfile::tempdir().unwrap();
        let state = Arc::new(CounterState::on_files(crate::Settings {
            data_dir: directory.path().to_owned(),
            ..crate::Settings::default()
        }));
        let permits = state.searches.available_permits();
        let others = state.searches.acquire_many(permits as u32).await.unwrap();
        let context = Context::of_the_desk(kit::time::Clock::system());
        let input: Input = serde_json::from_str("{}").unwrap();
        let mut search = tokio::spawn(handle(Arc::clone(&state), context, input));
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert!(!search.is_finished());
        drop(others);
        assert_eq!((&mut search).await.unwrap().unwrap().count, 0);
        assert_eq!(state.searches.available_permits(), permits);
    }
}
