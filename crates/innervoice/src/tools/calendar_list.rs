//! `calendar.list`: lists events.

use std::sync::Arc;

use jiff::ToSpan;
use kit::{Context, Definition, Effect, Handler, Hints, Language, Result, Sql, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{OK, arguments, first_step};
use crate::{
    answers::{EventView, sync},
    bounds::LONGEST_TIME,
    calendar_file::PAST_MS,
    errors,
    model::moment,
    state::CounterState,
    store::{
        RowKind,
        caldav::{self, SyncStatus},
        events::{self, Event},
    },
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// A day or a time, ISO 8601, or today or tomorrow; now unless given
    #[schemars(length(max = LONGEST_TIME))]
    from: Option<String>,
    /// A day (which is included) or a time; a week after from unless given
    #[schemars(length(max = LONGEST_TIME))]
    to: Option<String>,
    /// At most so many events
    #[schemars(range(min = 1, max = 200))]
    limit: Option<i64>,
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

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "calendar.list",
            title: "List events",
            description: "List the events of the coming week, or of another time.",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        Handler::query(state, handle),
    )
    .aliases(&["calendar_list"])
    .normalise(|_, arguments| {
        for name in ["from", "to"] {
            arguments::narrow(arguments, name);
        }
        arguments::integer(arguments, "limit");
    })
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let now = state.now(context);
    let today = now.to_zoned(state.zone.clone()).date();
    let bound = |field: &str, text: &str, is_end| {
        moment::read_bound(text, &state.zone, today, is_end)
            .ok_or_else(|| errors::invalid_time(field, text, moment::Unreadable::Time))
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
            .to_zoned(state.zone.clone())
            .checked_add(7.days())
            .map_or(from, |zoned| zoned.timestamp()),
    };
    if to <= from {
        return Err(errors::empty_range());
    }
    let limit = input.limit.unwrap_or(LIMIT);
    let mut found = events::between(sql, from.as_millisecond(), to.as_millisecond(), limit + 1)?;
    let has_more = super::cut_to(&mut found, limit);
    let language = context.language;
    let mut left = Vec::new();
    if state.caldav.is_some() {
        left = caldav::left_there(sql, from.as_millisecond(), to.as_millisecond(), limit)?;
    }
    let mut differ = left.len();
    let mut listed = Vec::with_capacity(found.len());
    for event in &found {
        let standing = match state.caldav {
            // Events that ended long ago are not written to the server.
            Some(_) if event.ends_at >= now.as_millisecond() - PAST_MS => {
                Some(caldav::standing(sql, event)?)
            }
            _ => None,
        };
        differ += usize::from(matches!(standing, Some(SyncStatus::Conflict(_))));
        listed.push(Listed {
            event: EventView::from(event),
            sync: standing.as_ref().map(sync::state),
            sync_note: standing.and_then(|standing| sync::note(&standing, language)),
        });
    }
    let mut message = message(state, context, &found, has_more);
    message.push_str(&sync::summary(differ, language));
    if found.is_empty() {
        message.push_str(first_step::after(sql, RowKind::Event, language)?);
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

fn message(state: &CounterState, context: &Context, found: &[Event], has_more: bool) -> String {
    let spoken = |event: &Event| state.spoken(context, event.starts_at, &event.zone());
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
