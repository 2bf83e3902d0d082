//! `calendar.list`: what is planned.

use std::sync::Arc;

use jiff::ToSpan;
use kit::{Context, Effect, Result, Run, Sql, Tool, context::Language};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{LOOKS, OK, arguments};
use crate::{
    answers::{EventView, timestamp},
    errors,
    model::when,
    store::events::{self, Event},
    voice::Voice,
};

#[derive(Deserialize)]
pub struct Input {
    from: Option<String>,
    to: Option<String>,
    limit: Option<i64>,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "from": {
                "type": "string",
                "description": "A day or a time, ISO 8601, or today or tomorrow; now unless given"
            },
            "to": {
                "type": "string",
                "description": "A day (which is included) or a time; a week after from unless given"
            },
            "limit": {
                "type": "integer",
                "description": "At most so many events",
                "minimum": 1,
                "maximum": 200
            }
        }
    })
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    status: &'static str,
    /// One sentence to read out.
    message: String,
    events: Vec<EventView>,
    /// Whether there are more than the limit.
    has_more: bool,
}

const LIMIT: i64 = 50;

pub fn tool(voice: &Arc<Voice>) -> Tool {
    Tool {
        name: "calendar.list",
        aliases: &["calendar_list"],
        title: "List events",
        description: "List the events of the coming week, or of another time.",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: LOOKS,
        effect: Effect::Read,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[],
        normalise: |_, arguments| {
            arguments::drop_nulls(arguments);
            for name in ["from", "to"] {
                arguments::narrow(arguments, name);
                arguments::drop_empty(arguments, name);
            }
            arguments::integer(arguments, "limit");
        },
        meta: None,
        personal: &[],
        card: None,
        run: Run::query(voice, handle),
    }
}

fn handle(voice: &Voice, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Output> {
    let now = voice.now(context);
    let today = now.to_zoned(voice.zone.clone()).date();
    let bound = |field: &str, text: &str, is_end| {
        when::read_bound(text, &voice.zone, today, is_end)
            .ok_or_else(|| errors::invalid_time(field, text, when::Unreadable::Time))
    };
    let from = match input.from.as_deref() {
        None | Some("now" | "今") => now,
        Some(text) => bound("from", text, false)?,
    };
    let to = match (input.to.as_deref(), input.from.as_deref()) {
        (Some(text), _) => bound("to", text, true)?,
        (None, Some("today" | "tomorrow" | "今日" | "明日")) => {
            bound("from", input.from.as_deref().unwrap_or_default(), true)?
        }
        (None, _) => from
            .to_zoned(voice.zone.clone())
            .checked_add(7.days())
            .map_or(from, |zoned| zoned.timestamp()),
    };
    if to <= from {
        return Err(errors::empty_range());
    }
    let limit = input.limit.unwrap_or(LIMIT);
    let mut found = events::between(sql, from.as_millisecond(), to.as_millisecond(), limit + 1)?;
    let has_more = found.len() as i64 > limit;
    if has_more {
        found.pop();
    }
    Ok(Output {
        status: OK,
        message: message(context.language, &found, now),
        events: found.iter().map(EventView::from).collect(),
        has_more,
    })
}

fn message(language: Language, found: &[Event], now: jiff::Timestamp) -> String {
    let spoken =
        |event: &Event| when::spoken(timestamp(event.starts_at), &event.zone(), now, language);
    match (language, found) {
        (Language::English, []) => "Nothing is planned.".into(),
        (Language::English, [one]) => {
            format!("There is one event: {}, {}.", one.title, spoken(one))
        }
        (Language::English, [first, ..]) => format!(
            "There are {} events; the first is {}, {}.",
            found.len(),
            first.title,
            spoken(first)
        ),
        (Language::Japanese, []) => "予定はありません。".into(),
        (Language::Japanese, [one]) => {
            format!("予定は1件です。{}に「{}」です。", spoken(one), one.title)
        }
        (Language::Japanese, [first, ..]) => format!(
            "予定は{}件です。最初は{}の「{}」です。",
            found.len(),
            spoken(first),
            first.title
        ),
    }
}
