//! `calendar.update`: changes what is named, and leaves the rest as it is.

use std::sync::Arc;

use kit::{
    Context, Effect, Result, Run, Sql, Tool,
    context::{Change, Language},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{CHANGES, OK, arguments, calendar_create::zone_name};
use crate::{
    answers::{Conflict, EventView},
    errors, resources,
    store::{
        caldav,
        events::{self, Event},
    },
    voice::Voice,
};

#[derive(Deserialize)]
pub struct Input {
    id: String,
    title: Option<String>,
    start: Option<String>,
    duration_min: Option<i64>,
    description: Option<String>,
    location: Option<String>,
    overwrite: Option<bool>,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string", "description": "The event's id, evt_…" },
            "title": {
                "type": "string",
                "description": "New title",
                "minLength": 1,
                "maxLength": 500
            },
            "start": {
                "type": "string",
                "description": "New start, ISO 8601; the duration stays unless it is given too"
            },
            "duration_min": {
                "type": "number",
                "description": "New duration in minutes",
                "minimum": 1,
                "maximum": errors::LONGEST_MINUTES
            },
            "description": {
                "type": "string",
                "description": "New description; empty to remove it",
                "maxLength": 10_000
            },
            "location": {
                "type": "string",
                "description": "New place; empty to remove it",
                "maxLength": 500
            },
            "overwrite": {
                "type": "boolean",
                "description": "After a conflict: the user wants this version on the calendar server"
            }
        },
        "required": ["id"]
    })
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    status: &'static str,
    id: String,
    /// One sentence to read out.
    message: String,
    event: EventView,
    /// Other events at the same time.
    conflicts: Vec<Conflict>,
}

pub fn tool(voice: &Arc<Voice>) -> Tool {
    Tool {
        name: "calendar.update",
        aliases: &["calendar_update"],
        title: "Change an event",
        description: "Change an event's title, time, place or description; what is not given stays.",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: CHANGES,
        effect: Effect::Write,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[
            errors::TITLE_EMPTY,
            errors::DURATION_TYPE,
            errors::DURATION_MIN,
            errors::DURATION_MAX,
        ],
        normalise: |_, arguments| {
            arguments::drop_nulls(arguments);
            arguments::narrow(arguments, "id");
            arguments::narrow(arguments, "start");
            arguments::drop_empty(arguments, "start");
            arguments::minutes(arguments, "duration_min");
            for name in ["title", "description", "location"] {
                arguments::text(arguments, name);
            }
        },
        meta: None,
        personal: &["title", "description", "location"],
        card: None,
        inner_calls: None,
        run: Run::transaction(voice, handle),
    }
}

fn handle(voice: &Voice, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Output> {
    let mut event = events::find(sql, &input.id)?
        .ok_or_else(|| errors::not_found("event", &input.id, "calendar_list"))?;
    let overwrites = input.overwrite == Some(true) && voice.caldav.is_some();
    let is_changed = overwrites
        || input.title.is_some()
        || input.start.is_some()
        || input.duration_min.is_some()
        || input.description.is_some()
        || input.location.is_some();
    if !is_changed {
        return Err(errors::nothing_to_change());
    }
    let minutes = input.duration_min.unwrap_or_else(|| event.minutes());
    if let Some(start) = &input.start {
        let start = voice.moment("start", start)?;
        event.starts_at = start.millis();
        event.zone = zone_name(&start);
    }
    event.ends_at = event.starts_at + minutes * 60_000;
    event.title = input.title.unwrap_or(event.title);
    event.description = input.description.unwrap_or(event.description);
    event.location = input.location.unwrap_or(event.location);
    let now = voice.now(context);
    if !events::update(sql, &event, now.as_millisecond())? {
        return Err(errors::already_over("event", &event.id, "cancelled"));
    }
    if overwrites {
        caldav::overwrite(sql, &event.id)?;
    }
    let mut conflicts = events::between(sql, event.starts_at, event.ends_at, 11)?;
    conflicts.retain(|other| other.id != event.id);
    context.changed(Change::Resource(resources::CALENDAR.into()));
    context.changed(Change::Resource(resources::event_uri(&event.id)));
    Ok(Output {
        status: OK,
        message: message(voice, context, &event),
        event: EventView::from(&event),
        conflicts: conflicts.iter().map(Conflict::from).collect(),
        id: event.id,
    })
}

fn message(voice: &Voice, context: &Context, event: &Event) -> String {
    let spoken = voice.spoken(context, event.starts_at, &event.zone());
    match context.language {
        Language::English => format!("{} is now {spoken}.", event.title),
        Language::Japanese => format!("「{}」を{spoken}に変更しました。", event.title),
    }
}
