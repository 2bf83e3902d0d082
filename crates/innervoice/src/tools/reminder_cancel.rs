//! `reminder.cancel`: no more of it.

use std::sync::Arc;

use kit::{
    Context, Effect, Result, Run, Sql, Tool,
    approval::{self, Card, Describe},
    context::{Change, Language},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{CHANGES, OK, arguments, reminder_update};
use crate::{
    answers::Done,
    bounds::LONGEST_ID,
    cards::Lines,
    errors, resources,
    store::reminders::{self, Reminder},
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
                "description": "The reminder's id, rmd_…",
                "maxLength": LONGEST_ID
            }
        },
        "required": ["id"]
    })
}

pub fn tool(voice: &Arc<Voice>) -> Tool {
    Tool {
        name: "reminder.cancel",
        aliases: &["reminder_cancel"],
        title: "Cancel a reminder",
        description: "Cancel a reminder and all its repetitions; asks the user unless it is your own.",
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

/// The reminder, unless it is done.
fn find(sql: &mut dyn Sql, id: &str) -> Result<Reminder> {
    let reminder = reminders::find(sql, id)?
        .ok_or_else(|| errors::not_found("reminder", id, "reminder_list"))?;
    match reminder.status.as_str() {
        "done" => Err(errors::already_over("reminder", &reminder.id, "done")),
        _ => Ok(reminder),
    }
}

fn handle(voice: &Voice, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Done> {
    let reminder = find(sql, &input.id)?;
    context.check_card(None, Some(&reminder.version.to_string()))?;
    // Cancelling twice is what a retry does; the reminder is gone either way.
    let now = voice.now(context).as_millisecond();
    if reminder.status == "active" && !reminders::cancel(sql, &reminder, now)? {
        return Err(approval::state_changed());
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

/// For a person who is asked about somebody else's reminder: what would be gone.
fn card() -> Describe {
    Arc::new(|context, sql, arguments| {
        let input: Input = kit::handler::typed(arguments.clone())?;
        let reminder = find(sql, &input.id)?;
        let is_own = reminder.is_of(&context.caller.id);
        let mut lines = Lines::new(context.language);
        reminder_update::say(&mut lines, &reminder, &reminder, context.language);
        if !is_own {
            lines.not_own();
        }
        Ok(Card {
            summary: match context.language {
                Language::English => format!("Cancel the reminder: {}", reminder.note),
                Language::Japanese => format!("リマインダーを取り消す: {}", reminder.note),
            },
            lines: lines.done(),
            state: Some(reminder.version.to_string()),
            exempt: is_own || reminder.status != "active",
            ..Card::default()
        })
    })
}
