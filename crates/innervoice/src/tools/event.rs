//! What the tools that create, change and cancel an event have in common.

use kit::{Context, Result, Sql, Tool, context::Change};
use schemars::JsonSchema;
use serde::Serialize;

use super::{OK, arguments};
use crate::{
    answers::{Conflict, EventView, timestamp},
    cards::CardLines,
    errors,
    model::spoken,
    resources,
    store::events::{self, Event},
};

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

impl Output {
    pub fn new(event: &Event, conflicts: &[Event], message: String) -> Self {
        Self {
            status: OK,
            id: event.id.clone(),
            message,
            event: EventView::from(event),
            conflicts: conflicts.iter().map(Conflict::from).collect(),
        }
    }
}

/// How many overlapping events are listed.
const MOST_CONFLICTS: usize = 10;

/// The rules and the normalisation of an event's fields.
pub fn with_fields(tool: Tool) -> Tool {
    tool.rules(&[
        errors::TITLE_EMPTY,
        errors::DURATION_TYPE,
        errors::DURATION_MIN,
        errors::DURATION_MAX,
    ])
    .normalise(|_, arguments| {
        arguments::narrow(arguments, "id");
        arguments::narrow(arguments, "start");
        arguments::minutes(arguments, "duration_min");
        for name in ["title", "description", "location"] {
            arguments::text(arguments, name);
        }
    })
    .personal(&["title", "description", "location"])
}

pub fn find(sql: &mut dyn Sql, id: &str) -> Result<Event> {
    events::find(sql, id)?.ok_or_else(|| errors::not_found("event", id, "calendar_list"))
}

/// Other events at the same time.
pub fn conflicts(sql: &mut dyn Sql, event: &Event) -> Result<Vec<Event>> {
    let most = i64::try_from(MOST_CONFLICTS + 1).unwrap_or(i64::MAX);
    let mut others = events::between(sql, event.starts_at, event.ends_at, most)?;
    others.retain(|other| other.id != event.id);
    others.truncate(MOST_CONFLICTS);
    Ok(others)
}

/// Tells subscribers of the calendar and of this event.
pub fn changed(context: &Context, event: &Event) {
    context.changed(Change::Resource(resources::CALENDAR.into()));
    context.changed(Change::Resource(resources::event_uri(&event.id)));
}

/// Adds the fields of an event, before and after where they differ.
pub fn add_lines(lines: &mut CardLines, before: &Event, after: &Event) {
    let in_full = |at: i64, event: &Event| spoken::in_full(timestamp(at), &event.zone());
    let start = |event: &Event| in_full(event.starts_at, event);
    let end = |event: &Event| in_full(event.ends_at, event);
    lines.field(("Title", "件名"), &before.title, &after.title);
    lines.field(("Starts", "開始"), &start(before), &start(after));
    lines.field(("Ends", "終了"), &end(before), &end(after));
    lines.field(("Place", "場所"), &before.location, &after.location);
    lines.field(
        ("Description", "説明"),
        &before.description,
        &after.description,
    );
}
