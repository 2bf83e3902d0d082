//! `search_messages`: who said what, and when.

use std::sync::Arc;

use jiff::{
    Timestamp,
    civil::{Date, DateTime},
    tz::TimeZone,
};
use kit::{Context, Result, Tool, text::fold};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Definition, LOOKS, arguments, blocking, define, in_rooms};
use crate::{
    errors,
    house::House,
    model::message::{Line, Message},
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
            "since": { "type": "string", "description": "RFC 3339 time or YYYY-MM-DD; UTC where no offset is given" },
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
    /// Rooms that could not be searched, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<String>>,
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
    define::<Output>(Definition {
        name: "agent_communication/search_messages",
        aliases: &["agent_communication_search_messages", "search_messages"],
        title: "Search messages",
        description: "Search messages by text, agent and time, newest first; archived ones too.",
        input: input(),
        hints: LOOKS,
        rules: &[errors::ROOM, errors::AGENT],
        run: blocking(house, handle),
    })
}

fn handle(house: &House, context: &Context, input: Input) -> Result<Output> {
    let search = Search {
        terms: terms(&input.query.unwrap_or_default()),
        agent: input.agent_name,
        since: time("since", input.since.as_deref(), false)?,
        until: time("until", input.until.as_deref(), true)?,
        limit: arguments::limit_of(input.limit),
    };
    let (found, warnings) = in_rooms(house, input.room_name.as_deref(), |listed| {
        let room = house.store.room(&listed.name)?;
        let lines = house
            .store
            .search(&room, &search, || context.check_cancelled())?;
        let found = lines.into_iter().map(|line| (room.name.to_string(), line));
        Ok(found.collect::<Vec<_>>())
    })?;
    let several = found.len() > 1;
    let mut found: Vec<(String, Line)> = found.into_iter().flatten().collect();
    if several {
        found.sort_by_key(|(_, line)| std::cmp::Reverse(line.time()));
    }
    let has_more = found.len() > search.limit;
    found.truncate(search.limit);
    Ok(Output {
        count: found.len(),
        has_more,
        messages: found
            .into_iter()
            .map(|(room_name, line)| Found {
                room_name,
                message: line.into(),
            })
            .collect(),
        warnings: Some(warnings).filter(|warnings| !warnings.is_empty()),
    })
}

/// The words of a query, folded. Folding takes signs away; a query of nothing
/// else finds nothing rather than everything.
fn terms(query: &str) -> Vec<String> {
    let words: Vec<String> = query.split_whitespace().map(fold).collect();
    let is_of_signs = !words.is_empty() && words.iter().all(String::is_empty);
    if is_of_signs {
        // In no folded text.
        return vec![" ".to_owned()];
    }
    words.into_iter().filter(|word| !word.is_empty()).collect()
}

/// A time, or a day: its beginning, or its end.
fn time(field: &str, text: Option<&str>, end: bool) -> Result<Option<Timestamp>> {
    let text = text.map(kit::text::narrow).unwrap_or_default();
    if text.is_empty() {
        return Ok(None);
    }
    let time = text.parse::<Timestamp>().ok();
    let time = time.or_else(|| match text.len() == "2026-11-15".len() {
        true => day(text.parse().ok()?, end),
        false => in_utc(text.parse().ok()?),
    });
    time.map(Some).ok_or_else(|| errors::invalid_time(field))
}

fn day(day: Date, end: bool) -> Option<Timestamp> {
    if !end {
        return in_utc(day.into());
    }
    let next = in_utc(day.tomorrow().ok()?.into())?;
    Timestamp::from_millisecond(next.as_millisecond() - 1).ok()
}

fn in_utc(time: DateTime) -> Option<Timestamp> {
    TimeZone::UTC.to_timestamp(time).ok()
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
        assert_eq!(at("2026-11-15T09:30", true), "2026-11-15T09:30:00Z");
        assert_eq!(at("2026-11-15 09:30:01", false), "2026-11-15T09:30:01Z");
        assert_eq!(at("2026-11-15", false), "2026-11-15T00:00:00Z");
        assert_eq!(at("2026-11-15", true), "2026-11-15T23:59:59.999Z");
        assert_eq!(time("since", Some(" "), false).unwrap(), None);
        let refused = time("since", Some("yesterday"), false).unwrap_err();
        assert_eq!(refused.code, "INVALID_ARGUMENT");
    }

    #[test]
    fn words_are_folded_and_signs_find_nothing() {
        assert_eq!(terms("ﾘﾘｰｽ Plan"), ["リリス", "plan"]);
        assert_eq!(terms("Plan - B!"), ["plan", "b"]);
        assert_eq!(terms("!? ~"), [" "]);
        assert!(terms("  ").is_empty());
    }
}
