//! `reminder.list`: what the user will be reminded of.

use std::sync::Arc;

use kit::{Context, Effect, Result, Run, Sql, Tool, context::Language};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{LOOKS, OK, arguments};
use crate::{
    answers::{ReminderView, timestamp},
    model::when,
    store::reminders::{self, Reminder},
    voice::Voice,
};

#[derive(Deserialize)]
pub struct Input {
    #[serde(default)]
    include_past: bool,
    limit: Option<i64>,
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "include_past": {
                "type": "boolean",
                "description": "Also those that are done or cancelled"
            },
            "limit": {
                "type": "integer",
                "description": "At most so many reminders",
                "minimum": 1,
                "maximum": 200
            }
        }
    })
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    status: &'static str,
    /// One sentence to read out.
    message: String,
    reminders: Vec<ReminderView>,
}

const LIMIT: i64 = 50;

pub fn tool(voice: &Arc<Voice>) -> Tool {
    Tool {
        name: "reminder.list",
        aliases: &["reminder_list"],
        title: "List reminders",
        description: "List reminders in the order in which they come, with when they last fired.",
        input: input(),
        output: kit::schema::output::<Output>(),
        hints: LOOKS,
        effect: Effect::Read,
        time_limit: kit::tool::TIME_LIMIT,
        idempotency_key: None,
        rules: &[],
        normalise: |_, arguments| {
            arguments::drop_nulls(arguments);
            arguments::integer(arguments, "limit");
        },
        meta: None,
        personal: &[],
        card: None,
        run: Run::query(voice, handle),
    }
}

fn handle(voice: &Voice, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Output> {
    let limit = input.limit.unwrap_or(LIMIT);
    let found = reminders::list(sql, input.include_past, limit)?;
    Ok(Output {
        status: OK,
        message: message(context.language, &found, voice.now(context)),
        reminders: views(sql, &found, context.language)?,
    })
}

pub fn views(
    sql: &mut dyn Sql,
    found: &[Reminder],
    language: Language,
) -> Result<Vec<ReminderView>> {
    let mut views = Vec::with_capacity(found.len());
    for reminder in found {
        let last = reminders::last_firing(sql, &reminder.id)?;
        views.push(ReminderView::of(reminder, language, last));
    }
    Ok(views)
}

fn message(language: Language, found: &[Reminder], now: jiff::Timestamp) -> String {
    let active: Vec<&Reminder> = found.iter().filter(|one| one.status == "active").collect();
    let spoken = |reminder: &Reminder| {
        let at = timestamp(reminder.next_fire_at.unwrap_or(reminder.starts_at));
        when::spoken(at, &reminder.zone(), now, language)
    };
    match (language, active.as_slice()) {
        (Language::English, []) => "No reminders are set.".into(),
        (Language::English, [first, ..]) => format!(
            "{} set; the next is {}: {}.",
            match active.len() {
                1 => "One reminder is".to_owned(),
                count => format!("{count} reminders are"),
            },
            spoken(first),
            first.note
        ),
        (Language::Japanese, []) => "リマインダーはありません。".into(),
        (Language::Japanese, [first, ..]) => format!(
            "リマインダーは{}件です。次は{}の「{}」です。",
            active.len(),
            spoken(first),
            first.note
        ),
    }
}
