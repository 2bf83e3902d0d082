//! `reminder.cancel`: no more of it.

use std::sync::Arc;

use kit::{
    Context, Effect, Result, Run, Sql, Tool,
    context::{Change, Language},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{CHANGES, OK, arguments};
use crate::{answers::Done, errors, resources, store::reminders, voice::Voice};

#[derive(Deserialize)]
pub struct Input {
    id: String,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string", "description": "The reminder's id, rmd_…" }
        },
        "required": ["id"]
    })
}

pub fn tool(voice: &Arc<Voice>) -> Tool {
    Tool {
        name: "reminder.cancel",
        aliases: &["reminder_cancel"],
        title: "Cancel a reminder",
        description: "Cancel a reminder and all its repetitions.",
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
    let reminder = reminders::find(sql, &input.id)?
        .ok_or_else(|| errors::not_found("reminder", &input.id, "reminder_list"))?;
    let is_cancelled = reminders::cancel(sql, &reminder.id, voice.now(context).as_millisecond())?;
    if !is_cancelled && reminder.status == "done" {
        return Err(errors::already_over("reminder", &reminder.id, "done"));
    }
    context.changed(Change::Resource(resources::REMINDERS.into()));
    let note = &reminder.note;
    let message = match context.language {
        Language::English => format!("I cancelled the reminder: {note}."),
        Language::Japanese => format!("「{note}」のリマインダーを取り消しました。"),
    };
    Ok(Done {
        status: OK,
        id: reminder.id,
        message,
    })
}
