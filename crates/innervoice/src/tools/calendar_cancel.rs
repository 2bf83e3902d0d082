//! `calendar.cancel`: takes an event out of the calendar.

use std::sync::Arc;

use kit::{
    Context, Effect, Result, Run, Sql, Tool,
    context::{Change, Language},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{CHANGES, OK, arguments};
use crate::{answers::Done, errors, resources, store::events, voice::Voice};

#[derive(Deserialize)]
pub struct Input {
    id: String,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string", "description": "The event's id, evt_…" }
        },
        "required": ["id"]
    })
}

pub fn tool(voice: &Arc<Voice>) -> Tool {
    Tool {
        name: "calendar.cancel",
        aliases: &["calendar_cancel"],
        title: "Cancel an event",
        description: "Take an event out of the calendar.",
        input: input(),
        output: kit::schema::output::<Done>(),
        hints: CHANGES,
        effect: Effect::Write,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[],
        normalise: |_, arguments| {
            arguments::drop_nulls(arguments);
            arguments::narrow(arguments, "id");
        },
        meta: None,
        personal: &[],
        card: None,
        inner_calls: None,
        run: Run::transaction(voice, handle),
    }
}

fn handle(voice: &Voice, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Done> {
    let event = events::find(sql, &input.id)?
        .ok_or_else(|| errors::not_found("event", &input.id, "calendar_list"))?;
    // Cancelling twice is what a retry does; the event is gone either way.
    if events::cancel(sql, &event.id, voice.now(context).as_millisecond())? {
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
