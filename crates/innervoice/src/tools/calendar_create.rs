//! `calendar.create`: adds an event and reports overlaps.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Result, Sql, Tool,
    approval::{Card, describe},
    context::Language,
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
    errors::{self, LONGEST_MINUTES},
    state::CounterState,
    store::events::{self, Event},
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Title of the event
    #[schemars(length(min = 1, max = 500))]
    title: String,
    /// Start, ISO 8601; without an offset in the user's time zone
    #[schemars(length(max = LONGEST_TIME))]
    start: String,
    /// Duration in minutes; "1h" and "90分" work too
    #[schemars(with = "f64", range(min = 1, max = LONGEST_MINUTES))]
    duration_min: i64,
    /// Description
    #[schemars(length(max = 10_000))]
    description: Option<String>,
    /// Place
    #[schemars(length(max = 500))]
    location: Option<String>,
    /// Give the same key when you retry, and nothing is created twice
    #[serde(rename = "idempotency_key")]
    #[schemars(length(max = LONGEST_KEY))]
    _idempotency_key: Option<String>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    let tool = Tool::new(
        Definition {
            name: "calendar.create",
            title: "Create an event",
            description: "Create a calendar event; the user is asked first. Events at the same time \
                are reported as conflicts.",
            hints: ADDS_OUTSIDE,
            effect: Effect::Outside,
        },
        Handler::transaction(state, handle),
    );
    event::with_fields(tool)
        .aliases(&["calendar_create"])
        .idempotency_key("idempotency_key")
        .card(describe(state, card))
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let event = planned(state, context, sql, input)?;
    let conflicts = event::conflicts(sql, &event)?;
    events::insert(sql, &event)?;
    event::changed(context, &event);
    let message = message(state, context, &event, &conflicts);
    Ok(Output::new(&event, &conflicts, message))
}

/// The event that the call would add.
fn planned(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Event> {
    let start = state.moment("start", &input.start)?;
    let end = start
        .plus_minutes(input.duration_min)
        .ok_or_else(errors::invalid_duration)?;
    let now = state.now(context).as_millisecond();
    bounds::check_events(sql, &context.caller.id, now)?;
    Ok(Event {
        id: kit::ids::random("evt_", ID_LENGTH),
        title: input.title,
        description: input.description.unwrap_or_default(),
        location: input.location.unwrap_or_default(),
        starts_at: start.millis(),
        ends_at: end.millis(),
        zone: start.zone_name(),
        sequence: 0,
        cancelled_at: None,
        created_at: now,
        updated_at: now,
        caller: (*context.caller.id).to_owned(),
        changed_by: None,
    })
}

/// For the person who is asked: what, when exactly, where.
fn card(state: &CounterState, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Card> {
    let event = planned(state, context, sql, input)?;
    let mut lines = CardLines::new(context.language);
    event::add_lines(&mut lines, &event, &event);
    lines.overlaps(&event::conflicts(sql, &event)?);
    Ok(Card {
        summary: match context.language {
            Language::English => format!("Add \"{}\" to the calendar", event.title),
            Language::Japanese => format!("予定「{}」を追加する", event.title),
        },
        lines: lines.done(),
        ..Card::default()
    })
}

fn message(state: &CounterState, context: &Context, event: &Event, conflicts: &[Event]) -> String {
    let spoken = state.spoken(context, event.starts_at, &event.zone());
    let title = &event.title;
    match (context.language, conflicts) {
        (Language::English, []) => format!("I added {title} to your calendar for {spoken}."),
        (Language::English, [other, ..]) => format!(
            "I added {title} to your calendar for {spoken}, which overlaps with {}.",
            other.title
        ),
        (Language::Japanese, []) => format!("{spoken}に「{title}」の予定を入れました。"),
        (Language::Japanese, [other, ..]) => format!(
            "{spoken}に「{title}」の予定を入れましたが、「{}」と重なっています。",
            other.title
        ),
    }
}
