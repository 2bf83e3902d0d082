//! `calendar.create`: a new event, and what it overlaps with.

use std::sync::Arc;

use kit::{
    Context, Effect, Result, Run, Sql, Tool,
    approval::{Card, Describe, Line},
    context::{Change, Language},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ID_LENGTH, MAKES, OK, arguments};
use crate::{
    answers::{Conflict, EventView},
    bounds::{self, LONGEST_KEY, LONGEST_TIME},
    errors,
    model::when::{self, Moment},
    resources,
    store::events::{self, Event},
    voice::Voice,
};

#[derive(Deserialize)]
pub struct Input {
    title: String,
    start: String,
    duration_min: i64,
    description: Option<String>,
    location: Option<String>,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "title": {
                "type": "string",
                "description": "Title of the event",
                "minLength": 1,
                "maxLength": 500
            },
            "start": {
                "type": "string",
                "description": "Start, ISO 8601; without an offset in the user's time zone",
                "maxLength": LONGEST_TIME
            },
            "duration_min": {
                "type": "number",
                "description": "Duration in minutes; \"1h\" and \"90分\" work too",
                "minimum": 1,
                "maximum": errors::LONGEST_MINUTES
            },
            "description": {
                "type": "string",
                "description": "Description",
                "maxLength": 10_000
            },
            "location": {
                "type": "string",
                "description": "Place",
                "maxLength": 500
            },
            "idempotency_key": {
                "type": "string",
                "description": "Give the same key when you retry, and nothing is created twice",
                "maxLength": LONGEST_KEY
            }
        },
        "required": ["title", "start", "duration_min"]
    })
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

/// More overlaps than anybody wants read out.
const MOST_CONFLICTS: i64 = 10;

pub fn tool(voice: &Arc<Voice>) -> Tool {
    Tool {
        name: "calendar.create",
        aliases: &["calendar_create"],
        title: "Create an event",
        description: "Create a calendar event; the user is asked first. Events at the same time \
            are reported as conflicts.",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: MAKES,
        effect: Effect::Outside,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: Some("idempotency_key"),
        rules: &[
            errors::TITLE_EMPTY,
            errors::DURATION_TYPE,
            errors::DURATION_MIN,
            errors::DURATION_MAX,
        ],
        normalise: |_, arguments| {
            arguments::text(arguments, "title");
            arguments::narrow(arguments, "start");
            arguments::minutes(arguments, "duration_min");
            for name in ["description", "location"] {
                arguments::text(arguments, name);
            }
        },
        meta: None,
        personal: &["title", "description", "location"],
        card: Some(card(voice)),
        inner_calls: None,
        run: Run::transaction(voice, handle),
    }
}

fn handle(voice: &Voice, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Output> {
    let (start, end) = span(voice, &input)?;
    let now = voice.now(context);
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
        message: message(voice, context, &event, &conflicts),
        event: EventView::from(&event),
        conflicts: conflicts.iter().map(Conflict::from).collect(),
        id: event.id,
    })
}

fn span(voice: &Voice, input: &Input) -> Result<(Moment, Moment)> {
    let start = voice.moment("start", &input.start)?;
    let end =
        when::plus_minutes(start.at, input.duration_min).ok_or_else(errors::invalid_duration)?;
    let end = Moment::new(end, &start.zone);
    Ok((start, end))
}

pub fn zone_name(moment: &Moment) -> String {
    moment.zone.iana_name().unwrap_or("UTC").to_owned()
}

/// For a person who is asked: what, when exactly, where.
fn card(voice: &Arc<Voice>) -> Describe {
    let voice = Arc::clone(voice);
    Arc::new(move |context, sql, arguments| {
        let input: Input = kit::handler::typed(arguments.clone())?;
        let (start, end) = span(&voice, &input)?;
        let now = voice.now(context).as_millisecond();
        bounds::check_events(sql, &context.caller.id, now)?;
        let conflicts = events::between(sql, start.millis(), end.millis(), MOST_CONFLICTS)?;
        let (summary, labels) = match context.language {
            Language::English => (
                format!("Add \"{}\" to the calendar", input.title),
                [
                    "Title",
                    "Starts",
                    "Ends",
                    "Place",
                    "Description",
                    "At the same time",
                ],
            ),
            Language::Japanese => (
                format!("予定「{}」を追加する", input.title),
                ["件名", "開始", "終了", "場所", "説明", "重なる予定"],
            ),
        };
        let others: Vec<&str> = conflicts.iter().map(|other| other.title.as_str()).collect();
        let texts = [
            input.title,
            when::in_full(start.at, &start.zone),
            when::in_full(end.at, &end.zone),
            input.location.unwrap_or_default(),
            input.description.unwrap_or_default(),
            others.join(", "),
        ];
        let lines = labels.into_iter().zip(texts);
        Ok(Card {
            summary,
            lines: lines
                .filter(|(_, text)| !text.is_empty())
                .map(|(label, text)| Line::new(label, text))
                .collect(),
            ..Card::default()
        })
    })
}

fn message(voice: &Voice, context: &Context, event: &Event, conflicts: &[Event]) -> String {
    let spoken = voice.spoken(context, event.starts_at, &event.zone());
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
