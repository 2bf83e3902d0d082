//! `calendar.create`: adds an event, once or repeatedly, and reports overlaps.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Language, Result, Sql, Tool, Warning,
    approval::{Card, describe},
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    ADDS_OUTSIDE, ID_LENGTH,
    event::{self, Output},
};
use crate::{
    bounds::{self, LONGEST_KEY, LONGEST_TIME},
    cards::CardLines,
    errors::LONGEST_MINUTES,
    model::{exceptions::Exceptions, repeat},
    state::{CounterState, here},
    store::events::{self, Event},
};

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("examples" = [{"title": "Dentist", "start": "tomorrow at 3pm", "duration_min": 30}]))]
pub struct Input {
    /// 予定タイトル
    #[schemars(length(min = 1, max = 500))]
    title: String,
    /// 開始時刻: ISO 8601 or words (tomorrow at 3pm, 明日15時, +30m), in the user's zone; a day if all_day
    #[schemars(length(max = LONGEST_TIME))]
    start: String,
    /// 所要時間（分）; "1h" works too
    #[schemars(with = "f64", range(min = 1, max = LONGEST_MINUTES))]
    duration_min: i64,
    /// 説明
    #[schemars(length(max = 10_000))]
    description: Option<String>,
    /// 場所
    #[schemars(length(max = 500))]
    location: Option<String>,
    /// As in reminder_create
    #[schemars(length(max = 500))]
    repeat: Option<String>,
    /// Needs no duration
    all_day: Option<bool>,
    /// Same key on a retry: nothing happens twice
    #[serde(rename = "idempotency_key")]
    #[schemars(length(max = LONGEST_KEY))]
    _idempotency_key: Option<String>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    let tool = Tool::new(
        Definition {
            name: "calendar.create",
            title: "Create event",
            description: "Create a calendar event, once or repeating; the user is asked first. 予定を作成します。",
            hints: ADDS_OUTSIDE,
            effect: Effect::Outside,
        },
        Handler::prepared(state, prepare, handle),
    )
    .in_japanese("予定の作成");
    event::with_fields(tool)
        .aliases(&["calendar_create"])
        .idempotency_key("idempotency_key")
        .card(describe(state, card))
}

/// The event that the call would add. The rule is expanded here, before the
/// transaction.
fn prepare(
    state: &CounterState,
    context: &Context,
    _: &mut dyn Sql,
    input: Input,
) -> Result<Event> {
    let now = state.now(context).as_millisecond();
    let mut event = Event {
        id: kit::ids::random("evt_", ID_LENGTH),
        title: input.title,
        description: input.description.unwrap_or_default(),
        location: input.location.unwrap_or_default(),
        starts_at: 0,
        ends_at: 0,
        zone: String::new(),
        sequence: 0,
        cancelled_at: None,
        created_at: now,
        updated_at: now,
        caller: (*context.caller.id).to_owned(),
        changed_by: None,
        rule: None,
        over_at: None,
        all_day: input.all_day == Some(true),
        exceptions: Exceptions::default(),
    };
    let here = here(context);
    event::set_times(&mut event, &here, &input.start, input.duration_min)?;
    event::set_repeat(&mut event, &here, input.repeat.as_deref())?;
    Ok(event)
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    event: &Event,
) -> Result<Output> {
    bounds::check_events(sql, &context.caller.id, event.created_at)?;
    let conflicts = event::conflicts(sql, event)?;
    events::insert(sql, event)?;
    event::changed(context, event);
    let message = message(state, context, event, &conflicts);
    let output = Output::new(context, event, &conflicts, message);
    Ok(output.warnings(passed(context, event).into_iter().collect()))
}

/// A warning if the event is over already, which is rarely meant.
fn passed(context: &Context, event: &Event) -> Option<Warning> {
    let is_over = event.ends_at <= here(context).now.as_millisecond();
    let message = match context.language {
        Language::English => "This event is in the past.",
        Language::Japanese => "この予定は過去の日時です。",
    };
    (is_over && event.rule.is_none()).then(|| Warning::new("PAST", message))
}

/// For the person who is asked: what, when exactly, where.
fn card(state: &CounterState, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Card> {
    let event = prepare(state, context, sql, input)?;
    bounds::check_events(sql, &context.caller.id, event.created_at)?;
    let mut lines = CardLines::new(context.language);
    event::add_lines(&mut lines, &event, &event);
    lines.overlaps(&event::conflicts(sql, &event)?);
    Ok(Card {
        summary: match context.language {
            Language::English => format!("Add \"{}\" to the calendar", event.title),
            Language::Japanese => format!("予定「{}」を追加する", event.title),
        },
        lines: lines.done(),
        asked_at: Some(here(context).now.as_millisecond()),
        ..Card::default()
    })
}

fn message(state: &CounterState, context: &Context, event: &Event, conflicts: &[Event]) -> String {
    let language = context.language;
    let spoken = event::when(state, context, event);
    let title = &event.title;
    let repeat = event.rule.as_ref().map(|rule| repeat::say(rule, language));
    let overlaps = match (language, conflicts) {
        (_, []) => String::new(),
        (Language::English, [other, ..]) => format!(", which overlaps with {}", other.title),
        (Language::Japanese, [other, ..]) => format!("が、「{}」と重なっています", other.title),
    };
    match (language, repeat) {
        (Language::English, None) => {
            format!("I added {title} to your calendar for {spoken}{overlaps}.")
        }
        (Language::English, Some(repeat)) => {
            format!("I added {title} to your calendar {repeat}, first {spoken}{overlaps}.")
        }
        (Language::Japanese, None) => {
            format!("{spoken}に「{title}」の予定を入れました{overlaps}。")
        }
        (Language::Japanese, Some(repeat)) => {
            format!("{repeat}、初回は{spoken}で「{title}」の予定を入れました{overlaps}。")
        }
    }
}
