//! `calendar.cancel`: cancels an event.

use std::sync::Arc;

use kit::{
    Context, Result, Sql, Tool,
    approval::{self, Card},
    context::{Change, Language},
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    OK,
    cancel::{self, Cancel},
};
use crate::{
    answers::{Done, timestamp},
    bounds::LONGEST_ID,
    cards::CardLines,
    errors,
    model::when,
    resources,
    state::CounterState,
    store::events::{self, Event},
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The event's id, evt_…
    #[schemars(length(max = LONGEST_ID))]
    id: String,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    let names = Cancel {
        name: "calendar.cancel",
        aliases: &["calendar_cancel"],
        title: "Cancel an event",
        description: "Take an event out of the calendar; asks the user unless it is your own.",
    };
    cancel::tool(state, names, handle, card)
}

fn find(sql: &mut dyn Sql, id: &str) -> Result<Event> {
    events::find(sql, id)?.ok_or_else(|| errors::not_found("event", id, "calendar_list"))
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Done> {
    let event = find(sql, &input.id)?;
    context.check_card(None, Some(&event.sequence.to_string()))?;
    // A retry cancels twice, and succeeds.
    if event.cancelled_at.is_none() {
        if !events::cancel(sql, &event, state.now(context).as_millisecond())? {
            return Err(approval::state_changed());
        }
        context.changed(Change::Resource(resources::CALENDAR.into()));
        context.changed(Change::Resource(resources::event_uri(&event.id)));
    }
    let message = match context.language {
        Language::English => format!("I cancelled {}.", event.title),
        Language::Japanese => format!("「{}」の予定を取り消しました。", event.title),
    };
    Ok(Done {
        status: OK,
        id: event.id,
        message,
    })
}

/// For the person who is asked about another key's event.
fn card(_: &CounterState, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Card> {
    let event = find(sql, &input.id)?;
    let in_full = |at: i64| when::in_full(timestamp(at), &event.zone());
    let mut lines = CardLines::new(context.language);
    lines.fact(("Title", "件名"), &event.title);
    lines.fact(("Starts", "開始"), &in_full(event.starts_at));
    lines.fact(("Ends", "終了"), &in_full(event.ends_at));
    lines.fact(("Place", "場所"), &event.location);
    lines.fact(("Description", "説明"), &event.description);
    let summary = match context.language {
        Language::English => format!("Cancel \"{}\" in the calendar", event.title),
        Language::Japanese => format!("予定「{}」を取り消す", event.title),
    };
    let is_own = event.is_of(&context.caller.id);
    let is_cancelled = event.cancelled_at.is_some();
    let version = event.sequence.to_string();
    Ok(cancel::card(summary, lines, version, is_own, is_cancelled))
}
