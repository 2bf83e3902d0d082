//! `reminder.update`: another time, note or repetition; what is not named stays.

use std::sync::Arc;

use kit::{Context, Effect, Result, Run, Sql, Tool, context::Change};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{CHANGES, OK, arguments, reminder_create};
use crate::{
    answers::{NEXT, RepeatView},
    errors,
    model::when::rfc3339_millis,
    resources,
    store::reminders,
    voice::Voice,
};

#[derive(Deserialize)]
pub struct Input {
    id: String,
    time: Option<String>,
    note: Option<String>,
    repeat: Option<String>,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string", "description": "The reminder's id, rmd_…" },
            "time": { "type": "string", "description": "New time, ISO 8601" },
            "note": {
                "type": "string",
                "description": "New note",
                "minLength": 1,
                "maxLength": 2_000
            },
            "repeat": {
                "type": "string",
                "description": "New repetition, in the words of reminder_create; none to stop repeating",
                "maxLength": 500
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
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat: Option<RepeatView>,
    next: Vec<String>,
}

pub fn tool(voice: &Arc<Voice>) -> Tool {
    Tool {
        name: "reminder.update",
        aliases: &["reminder_update"],
        title: "Change a reminder",
        description: "Change a reminder's time, note or repetition; what is not given stays.",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: CHANGES,
        effect: Effect::Write,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[errors::NOTE_EMPTY],
        normalise: |_, arguments| {
            arguments::drop_nulls(arguments);
            arguments::narrow(arguments, "id");
            arguments::narrow(arguments, "time");
            arguments::drop_empty(arguments, "time");
            arguments::text(arguments, "note");
            arguments::text(arguments, "repeat");
        },
        meta: None,
        personal: &["note"],
        card: None,
        inner_calls: None,
        run: Run::transaction(voice, handle),
    }
}

fn handle(voice: &Voice, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Output> {
    let mut reminder = reminders::find(sql, &input.id)?
        .ok_or_else(|| errors::not_found("reminder", &input.id, "reminder_list"))?;
    if input.time.is_none() && input.note.is_none() && input.repeat.is_none() {
        return Err(errors::nothing_to_change());
    }
    if reminder.status != "active" {
        return Err(errors::already_over(
            "reminder",
            &reminder.id,
            &reminder.status,
        ));
    }
    let now = voice.now(context);
    if input.time.is_some() || input.repeat.is_some() {
        // Without a new time a reminder goes on from when it would come next.
        let time = input.time.clone().unwrap_or_else(|| {
            let local = match (&input.repeat, reminder.next_fire_at) {
                (Some(_), Some(next)) => crate::answers::timestamp(next)
                    .to_zoned(reminder.zone())
                    .datetime()
                    .to_string(),
                _ => reminder.starts_local.clone(),
            };
            format!("{local}[{}]", reminder.zone)
        });
        let repeat = input.repeat.as_deref().or(reminder.rule.as_deref());
        let plan = reminder_create::plan(voice, &time, repeat, now, context.language)?;
        plan.apply(&mut reminder);
    }
    reminder.note = input.note.unwrap_or(reminder.note);
    if !reminders::update(sql, &reminder, now.as_millisecond())? {
        return Err(errors::already_over("reminder", &reminder.id, "done"));
    }
    context.changed(Change::Resource(resources::REMINDERS.into()));
    let zone = reminder.zone();
    let first = reminder.next_fire_at.unwrap_or(reminder.starts_at);
    Ok(Output {
        status: OK,
        message: reminder_create::message(voice, context, &reminder, first),
        repeat: RepeatView::of(&reminder, context.language),
        next: reminder
            .times_after(first - 1, NEXT)
            .iter()
            .map(|at| rfc3339_millis(*at, &zone))
            .collect(),
        id: reminder.id,
    })
}
