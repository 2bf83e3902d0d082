//! `search_messages`: finds messages by text, agent and time.

use std::sync::Arc;

use kit::{Context, Hints, Result, Tool, text::fold};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    arguments::{self, AgentName, Limit},
    define, in_rooms, tool_names, waiting,
};
use crate::{
    errors,
    model::{message::Message, names::RoomName},
    state::CounterState,
    store::{Search, SearchHits},
};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// Words that must all be in the text; case, width and kana do not matter
    #[schemars(length(max = 1000))]
    query: Option<String>,
    /// Only this room
    room_name: Option<RoomName>,
    /// Only what this agent said
    agent_name: Option<AgentName>,
    /// RFC 3339 time or YYYY-MM-DD; UTC without offset
    since: Option<String>,
    /// Likewise
    until: Option<String>,
    #[serde(default)]
    limit: Limit,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    messages: Vec<FoundMessage>,
    count: usize,
    /// There are older ones: narrow the search, or give until.
    has_more: bool,
    /// Rooms that could not be searched, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<String>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct FoundMessage {
    room_name: String,
    #[serde(flatten)]
    message: Message,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    define(
        tool_names!("search_messages"),
        "Search messages",
        "Search messages by text, agent and time, newest first; archived ones too.",
        Hints::READS,
        waiting(state, handle),
    )
}

async fn handle(state: Arc<CounterState>, context: Context, input: Input) -> Result<Output> {
    // The semaphore is never closed.
    let turn = state.searches.acquire().await;
    let found = state
        .blocking(move |state| find(state, &context, input))
        .await;
    drop(turn);
    found
}

fn find(state: &CounterState, context: &Context, input: Input) -> Result<Output> {
    let search = Search {
        terms: terms(&input.query.unwrap_or_default())?,
        agent: input.agent_name.map(AgentName::unchecked),
        since: arguments::time("since", input.since.as_deref(), false)?,
        until: arguments::time("until", input.until.as_deref(), true)?,
        limit: input.limit.get(),
    };
    let mut all: Option<SearchHits> = None;
    let (_, warnings) = in_rooms(state, input.room_name.as_ref(), |listed| {
        let room = state.store.room(&listed.name)?;
        let mut found = room.log.search(&search, || context.check_cancelled())?;
        // Lines of other programs may lack it.
        for (line, _) in &mut found.lines {
            line.room_name = room.name.to_string();
        }
        all = Some(match all.take() {
            Some(others) => others.merge(found, search.limit),
            None => found,
        });
        Ok(())
    })?;
    let found = all.unwrap_or_default();
    if let Some(agent) = &search.agent
        && found.lines.is_empty()
        && !state.store.is_known(agent)
    {
        return Err(errors::agent_not_found(agent));
    }
    Ok(Output {
        count: found.lines.len(),
        has_more: found.has_more,
        messages: found
            .lines
            .into_iter()
            .map(|(line, _)| FoundMessage {
                room_name: line.room_name.clone(),
                message: line.into(),
            })
            .collect(),
        warnings: Some(warnings).filter(|warnings| !warnings.is_empty()),
    })
}

/// Every message is searched for each of them.
const MAX_WORDS: usize = 32;

/// The words of a query, folded. Folding removes punctuation. A query of punctuation
/// alone finds nothing rather than everything.
fn terms(query: &str) -> Result<Vec<String>> {
    let words: Vec<String> = query.split_whitespace().map(fold).collect();
    if words.len() > MAX_WORDS {
        return Err(errors::too_many_words(MAX_WORDS));
    }
    let is_of_signs = !words.is_empty() && words.iter().all(String::is_empty);
    if is_of_signs {
        // No folded text contains a space.
        return Ok(vec![" ".to_owned()]);
    }
    Ok(words.into_iter().filter(|word| !word.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_and_punctuation_finds_nothing() {
        let terms_of = |query| terms(query).unwrap();
        assert_eq!(terms_of("ﾘﾘｰｽ Plan"), ["リリス", "plan"]);
        assert_eq!(terms_of("Plan - B!"), ["plan", "b"]);
        assert_eq!(terms_of("!? ~"), [" "]);
        assert!(terms_of("  ").is_empty());
        assert_eq!(terms_of(&"a ".repeat(MAX_WORDS)).len(), MAX_WORDS);
        assert!(terms(&"a ".repeat(MAX_WORDS + 1)).is_err());
    }

    #[tokio::test]
    async fn a_search_waits_for_its_turn() {
        let directory = tempfile::tempdir().unwrap();
        let state = Arc::new(CounterState::new(crate::Settings {
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
