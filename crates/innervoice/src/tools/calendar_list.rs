//! `calendar.list`: what is planned.

use std::sync::Arc;

use jiff::ToSpan;
use kit::{Context, Effect, Result, Run, Sql, Tool, context::Language};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{LOOKS, OK, arguments, first_step};
use crate::{
    answers::{EventView, sync},
    bounds::LONGEST_TIME,
    caldav::PAST_MS,
    errors,
    model::when,
    store::{
        Kind,
        caldav::{self, Standing},
        events::{self, Event},
    },
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
                "description": "A day or a time, ISO 8601, or today or tomorrow; now unless given",
                "maxLength": LONGEST_TIME
            },
            "to": {
                "type": "string",
                "description": "A day (which is included) or a time; a week after from unless given",
                "maxLength": LONGEST_TIME
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
    // One sentence to read out; the instructions say so.
    message: String,
    events: Vec<Listed>,
    has_more: bool,
    /// What was cancelled here and stays on the calendar server.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_on_server: Option<Vec<String>>,
}

#[derive(Serialize, JsonSchema)]
struct Listed {
    #[serde(flatten)]
    event: EventView,
    /// On the calendar server: done, waiting or conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    sync: Option<&'static str>,
    /// Why it is not done, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    sync_note: Option<String>,
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
            for name in ["from", "to"] {
                arguments::narrow(arguments, name);
            }
            arguments::integer(arguments, "limit");
        },
        meta: None,
        personal: &[],
        card: None,
        inner_calls: None,
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
    let language = context.language;
    let mut left = Vec::new();
    if voice.caldav.is_some() {
        left = caldav::left_there(sql, from.as_millisecond(), to.as_millisecond(), limit)?;
    }
    let mut differ = left.len();
    let mut listed = Vec::with_capacity(found.len());
    for event in &found {
        let standing = match voice.caldav {
            // The server is not told of what is long over.
            Some(_) if event.ends_at >= now.as_millisecond() - PAST_MS => {
                Some(caldav::standing(sql, event)?)
            }
            _ => None,
        };
        differ += usize::from(matches!(standing, Some(Standing::Conflict(_))));
        listed.push(Listed {
            event: EventView::from(event),
            sync: standing.as_ref().map(sync::state),
            sync_note: standing.and_then(|standing| sync::note(&standing, language)),
        });
    }
    let mut message = message(voice, context, &found, has_more);
    message.push_str(&sync::summary(differ, language));
    if found.is_empty() {
        message.push_str(first_step::after(sql, Kind::Event, language)?);
    }
    let left = left.iter().map(|event| sync::left_there(event, language));
    let left: Vec<String> = left.collect();
    Ok(Output {
        status: OK,
        message,
        events: listed,
        has_more,
        left_on_server: (!left.is_empty()).then_some(left),
    })
}

fn message(voice: &Voice, context: &Context, found: &[Event], has_more: bool) -> String {
    let spoken = |event: &Event| voice.spoken(context, event.starts_at, &event.zone());
    let count = found.len();
    match (context.language, found) {
        (Language::English, []) => "Nothing is planned.".into(),
        (Language::English, [one]) if !has_more => {
            format!("There is one event: {}, {}.", one.title, spoken(one))
        }
        (Language::English, [first, ..]) => format!(
            "There are {} events; the first is {}, {}.",
            if has_more {
                format!("more than {count}")
            } else {
                count.to_string()
            },
            first.title,
            spoken(first)
        ),
        (Language::Japanese, []) => "予定はありません。".into(),
        (Language::Japanese, [one]) if !has_more => {
            format!("予定は1件です。{}に「{}」です。", spoken(one), one.title)
        }
        (Language::Japanese, [first, ..]) => format!(
            "予定は{count}件{}です。最初は{}の「{}」です。",
            if has_more { "以上" } else { "" },
            spoken(first),
            first.title
        ),
    }
}
