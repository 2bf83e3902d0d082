//! `calendar.create`: adds an event and reports overlaps.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Result, Sql, Tool,
    approval::{Card, describe},
    context::{Change, Language},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ADDS_OUTSIDE, ID_LENGTH, OK, arguments};
use crate::{
    answers::{Conflict, EventView},
    bounds::{self, LONGEST_KEY, LONGEST_TIME},
    cards::CardLines,
    errors::{self, LONGEST_MINUTES},
    model::when::{self, Moment},
    resources,
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

#[derive(Serialize, JsonSchema)]
pub struct Output {
    status: &'static str,
    /// The event's id.
    id: String,
    // One sentence to read out; the instructions say so.
    message: String,
    event: EventView,
    /// Events at the same time.
    conflicts: Vec<Conflict>,
}

/// How many overlapping events are listed.
const MOST_CONFLICTS: i64 = 10;

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "calendar.create",
            title: "Create an event",
            description: "Create a calendar event; the user is asked first. Events at the same time \
            are reported as conflicts.",
            hints: ADDS_OUTSIDE,
            effect: Effect::Outside,
        },
        Handler::transaction(state, handle),
    )
    .aliases(&["calendar_create"])
        .rules(&[
            errors::TITLE_EMPTY,
            errors::DURATION_TYPE,
            errors::DURATION_MIN,
            errors::DURATION_MAX,
        ])
        .normalise(|_, arguments| {
            arguments::text(arguments, "title");
            arguments::narrow(arguments, "start");
            arguments::minutes(arguments, "duration_min");
            for name in ["description", "location"] {
                arguments::text(arguments, name);
            }
        })
        .idempotency_key("idempotency_key")
        .personal(&["title", "description", "location"])
        .card(describe(state, card))
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let (start, end) = span(state, &input)?;
    let now = state.now(context);
    bounds::check_events(sql, &context.caller.id, now.as_millisecond())?;
    let (from, to) = (start.millis(), end.millis());
    let conflicts = events::between(sql, from, to, MOST_CONFLICTS)?;
    let event = Event {
        id: kit::ids::random("evt_", ID_LENGTH),
        title: input.title,
        description: input.description.unwrap_or_default(),
        location: input.location.unwrap_or_default(),
        starts_at: from,
        ends_at: to,
        zone: zone_name(&start),
        sequence: 0,
        cancelled_at: None,
        created_at: now.as_millisecond(),
        updated_at: now.as_millisecond(),
        caller: (*context.caller.id).to_owned(),
        changed_by: None,
    };
    events::insert(sql, &event)?;
    context.changed(Change::Resource(resources::CALENDAR.into()));
    Ok(Output {
        status: OK,
        message: message(state, context, &event, &conflicts),
        event: EventView::from(&event),
        conflicts: conflicts.iter().map(Conflict::from).collect(),
        id: event.id,
    })
}

fn span(state: &CounterState, input: &Input) -> Result<(Moment, Moment)> {
    let start = state.moment("start", &input.start)?;
    let end =
        when::plus_minutes(start.at, input.duration_min).ok_or_else(errors::invalid_duration)?;
    let end = Moment::new(end, &start.zone);
    Ok((start, end))
}

pub fn zone_name(moment: &Moment) -> String {
    moment.zone.iana_name().unwrap_or("UTC").to_owned()
}

/// For the person who is asked: what, when exactly, where.
fn card(state: &CounterState, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Card> {
    let (start, end) = span(state, &input)?;
    let now = state.now(context).as_millisecond();
    bounds::check_events(sql, &context.caller.id, now)?;
    let conflicts = events::between(sql, start.millis(), end.millis(), MOST_CONFLICTS)?;
    let mut lines = CardLines::new(context.language);
    lines.fact(("Title", "件名"), &input.title);
    lines.fact(("Starts", "開始"), &when::in_full(start.at, &start.zone));
    lines.fact(("Ends", "終了"), &when::in_full(end.at, &end.zone));
    lines.fact(
        ("Place", "場所"),
        input.location.as_deref().unwrap_or_default(),
    );
    lines.fact(
        ("Description", "説明"),
        input.description.as_deref().unwrap_or_default(),
    );
    lines.overlaps(&conflicts);
    Ok(Card {
        summary: match context.language {
            Language::English => format!("Add \"{}\" to the calendar", input.title),
            Language::Japanese => format!("予定「{}」を追加する", input.title),
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
