//! `reminder.list`: what the user will be reminded of.

use std::sync::Arc;

use kit::{Context, Effect, Result, Run, Sql, Tool, context::Language};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{LOOKS, OK, arguments, first_step};
use crate::{
    answers::ReminderView,
    bounds::STEPS_OF_A_LIST,
    model::repeat::Steps,
    store::{
        Kind,
        reminders::{self, Reminder},
    },
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
    // One sentence to read out; the instructions say so.
    message: String,
    reminders: Vec<ReminderView>,
    has_more: bool,
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
            arguments::integer(arguments, "limit");
        },
        meta: None,
        personal: &[],
        card: None,
        inner_calls: None,
        run: Run::query(voice, handle),
    }
}

fn handle(voice: &Voice, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Output> {
    let limit = input.limit.unwrap_or(LIMIT);
    let mut found = reminders::list(sql, input.include_past, limit + 1)?;
    let has_more = found.len() as i64 > limit;
    if has_more {
        found.pop();
    }
    let mut message = message(voice, context, &found, has_more);
    if found.is_empty() {
        message.push_str(first_step::after(sql, Kind::Reminder, context.language)?);
    }
    Ok(Output {
        status: OK,
        message,
        reminders: views(sql, &found, context.language)?,
        has_more,
    })
}

pub fn views(
    sql: &mut dyn Sql,
    found: &[Reminder],
    language: Language,
) -> Result<Vec<ReminderView>> {
    let steps = Steps::new(STEPS_OF_A_LIST);
    let mut views = Vec::with_capacity(found.len());
    for reminder in found {
        let last = reminders::last_firing(sql, &reminder.id)?;
        views.push(ReminderView::of(reminder, language, last, &steps));
    }
    Ok(views)
}

fn message(voice: &Voice, context: &Context, found: &[Reminder], has_more: bool) -> String {
    let active: Vec<&Reminder> = found.iter().filter(|one| one.status == "active").collect();
    let spoken = |reminder: &Reminder| {
        let at = reminder.next_fire_at.unwrap_or(reminder.starts_at);
        voice.spoken(context, at, &reminder.zone())
    };
    // Those that are not active come last, so that what is left out may be active
    // only when all of these are.
    let has_more = has_more && active.len() == found.len();
    let count = active.len();
    match (context.language, active.as_slice()) {
        (Language::English, []) => "No reminders are set.".into(),
        (Language::English, [first, ..]) => format!(
            "{} set; the next is {}: {}.",
            match (count, has_more) {
                (1, true) => "More than one reminder is".to_owned(),
                (_, true) => format!("More than {count} reminders are"),
                (1, false) => "One reminder is".to_owned(),
                (_, false) => format!("{count} reminders are"),
            },
            spoken(first),
            first.note
        ),
        (Language::Japanese, []) => "リマインダーはありません。".into(),
        (Language::Japanese, [first, ..]) => format!(
            "リマインダーは{count}件{}です。次は{}の「{}」です。",
            if has_more { "以上" } else { "" },
            spoken(first),
            first.note
        ),
    }
}
