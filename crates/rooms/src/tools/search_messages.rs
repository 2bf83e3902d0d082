//! `search_messages`: who said what, and when.

use std::sync::Arc;

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use kit::{Context, Effect, Result, Tool, text::fold};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{LOOKS, arguments, blocking};
use crate::{
    errors,
    house::House,
    model::{
        message::Message,
        names::{self, RoomName},
    },
    store::Search,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    query: Option<String>,
    room_name: Option<String>,
    agent_name: Option<String>,
    since: Option<String>,
    until: Option<String>,
    limit: Option<usize>,
}

fn input() -> Value {
    arguments::input(
        json!({
            "query": {
                "type": "string",
                "description": "Words that must all be in the text; case, width and kana do not matter",
                "maxLength": 1000
            },
            "roomName": arguments::room("Only this room"),
            "agentName": arguments::agent("Only what this agent said"),
            "since": { "type": "string", "description": "RFC 3339 time or YYYY-MM-DD (UTC)" },
            "until": { "type": "string", "description": "Likewise" },
            "limit": arguments::limit()
        }),
        &[],
    )
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    messages: Vec<Found>,
    count: usize,
    /// There are older ones: narrow the search, or give until.
    has_more: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct Found {
    room_name: String,
    #[serde(flatten)]
    message: Message,
}

pub fn tool(house: &Arc<House>) -> Tool {
    Tool {
        name: "agent_communication/search_messages",
        aliases: &["agent_communication_search_messages", "search_messages"],
        title: "Search messages",
        description: "Search messages by text, agent and time, newest first; archived ones too.",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: LOOKS,
        effect: Effect::Read,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[errors::ROOM, errors::AGENT],
        normalise: arguments::tidy,
        meta: None,
        run: blocking(house, handle),
    }
}

fn handle(house: &House, context: &Context, input: Input) -> Result<Output> {
    if let Some(agent) = &input.agent_name {
        names::check_agent(agent)?;
    }
    let query = input.query.unwrap_or_default();
    let search = Search {
        terms: terms(&query),
        agent: input.agent_name,
        since: time("since", input.since.as_deref(), false)?,
        until: time("until", input.until.as_deref(), true)?,
        limit: arguments::limit_of(input.limit),
    };
    let names = match input.room_name {
        Some(name) => vec![RoomName::parse(&name)?],
        None => {
            let listed = house.store.rooms()?.into_iter();
            listed.map(|listed| listed.name).collect()
        }
    };
    let rooms: Result<Vec<_>> = names.iter().map(|name| house.store.room(name)).collect();
    let hits = house
        .store
        .search(&rooms?, &search, || context.check_cancelled())?;
    Ok(Output {
        count: hits.messages.len(),
        has_more: hits.has_more,
        messages: hits
            .messages
            .into_iter()
            .map(|(room, line)| Found {
                room_name: room.name.to_string(),
                message: line.into(),
            })
            .collect(),
    })
}

/// The words of a query, folded. One of signs only, which folding takes away,
/// finds nothing rather than everything.
fn terms(query: &str) -> Vec<String> {
    let words = query.split_whitespace();
    words
        .map(|word| Some(fold(word)).filter(|folded| !folded.is_empty()))
        .map(|folded| folded.unwrap_or_else(|| "\0".to_owned()))
        .collect()
}

/// A time, or a day: its beginning, or its end.
fn time(field: &str, text: Option<&str>, end: bool) -> Result<Option<Timestamp>> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(Some(time));
    }
    let day = text.parse::<Date>().ok().and_then(|day| {
        let day = if end { day.tomorrow().ok()? } else { day };
        let start = day.to_zoned(TimeZone::UTC).ok()?.timestamp();
        if end {
            Timestamp::from_millisecond(start.as_millisecond() - 1).ok()
        } else {
            Some(start)
        }
    });
    match day {
        Some(time) => Ok(Some(time)),
        None => Err(errors::invalid_time(field)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_days() {
        let at = |text, end| time("since", Some(text), end).unwrap().unwrap().to_string();
        assert_eq!(
            at("2026-11-15T09:30:00+09:00", false),
            "2026-11-15T00:30:00Z"
        );
        assert_eq!(at("2026-11-15", false), "2026-11-15T00:00:00Z");
        assert_eq!(at("2026-11-15", true), "2026-11-15T23:59:59.999Z");
        assert_eq!(time("since", Some(" "), false).unwrap(), None);
        let refused = time("since", Some("yesterday"), false).unwrap_err();
        assert_eq!(refused.code, "INVALID_ARGUMENT");
    }

    #[test]
    fn words_are_folded_and_signs_find_nothing() {
        assert_eq!(terms("ﾘﾘｰｽ Plan"), ["リリス", "plan"]);
        assert_eq!(terms("!?"), ["\0"]);
        assert!(terms("  ").is_empty());
    }
}
