//! `calendar.cancel`: takes an event out of the calendar.

use std::sync::Arc;

use kit::{
    Context, Effect, Result, Run, Sql, Tool,
    approval::{self, Card, Describe},
    context::{Change, Language},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{CHANGES, OK, arguments};
use crate::{
    answers::{Done, timestamp},
    bounds::LONGEST_ID,
    cards::Lines,
    errors,
    model::when,
    resources,
    store::events::{self, Event},
    voice::Voice,
};

#[derive(Deserialize)]
pub struct Input {
    id: String,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": {
                "type": "string",
                "description": "The event's id, evt_…",
                "maxLength": LONGEST_ID
            }
        },
        "required": ["id"]
    })
}

pub fn tool(voice: &Arc<Voice>) -> Tool {
    Tool {
        name: "calendar.cancel",
        aliases: &["calendar_cancel"],
        title: "Cancel an event",
        description: "Take an event out of the calendar; asks the user unless it is your own.",
        input: input(),
        output: kit::schema::output::<Done>(),
        hints: CHANGES,
        effect: Effect::Outside,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[],
        normalise: |_, arguments| {
            arguments::narrow(arguments, "id");
        },
        meta: None,
        personal: &[],
        card: Some(card()),
        inner_calls: None,
        run: Run::transaction(voice, handle),
    }
}

fn find(sql: &mut dyn Sql, id: &str) -> Result<Event> {
    events::find(sql, id)?.ok_or_else(|| errors::not_found("event", id, "calendar_list"))
}

fn handle(voice: &Voice, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Done> {
    let event = find(sql, &input.id)?;
    context.check_card(None, Some(&event.sequence.to_string()))?;
    // Cancelling twice is what a retry does; the event is gone either way.
    if event.cancelled_at.is_none() {
        if !events::cancel(sql, &event, voice.now(context).as_millisecond())? {
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

/// For a person who is asked about somebody else's event: what would be gone.
fn card() -> Describe {
    Arc::new(|context, sql, arguments| {
        let input: Input = kit::handler::typed(arguments.clone())?;
        let event = find(sql, &input.id)?;
        let is_own = event.is_of(&context.caller.id);
        let in_full = |at: i64| when::in_full(timestamp(at), &event.zone());
        let mut lines = Lines::new(context.language);
        lines.fact(("Title", "件名"), &event.title);
        lines.fact(("Starts", "開始"), &in_full(event.starts_at));
        lines.fact(("Ends", "終了"), &in_full(event.ends_at));
        lines.fact(("Place", "場所"), &event.location);
        lines.fact(("Description", "説明"), &event.description);
        if !is_own {
            lines.not_own();
        }
        Ok(Card {
            summary: match context.language {
                Language::English => format!("Cancel \"{}\" in the calendar", event.title),
                Language::Japanese => format!("予定「{}」を取り消す", event.title),
            },
            lines: lines.done(),
            state: Some(event.sequence.to_string()),
            exempt: is_own || event.cancelled_at.is_some(),
            ..Card::default()
        })
    })
}
