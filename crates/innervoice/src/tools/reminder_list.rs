//! `reminder.list`: lists reminders.

use std::sync::Arc;

use kit::{Context, Definition, Effect, Handler, Hints, Language, Result, Sql, Today, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{OK, arguments, first_step};
use crate::{
    answers::{AsListed, ReminderView},
    state::CounterState,
    store::{
        RowKind,
        reminders::{self, Reminder},
    },
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Also done and cancelled ones
    include_past: Option<bool>,
    #[schemars(range(min = 1, max = 200))]
    limit: Option<i64>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    status: &'static str,
    // One sentence to read out; the instructions say so.
    message: String,
    reminders: Vec<ReminderView>,
    has_more: bool,
    // Why it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AsListed>")]
    details: Option<Map<String, Value>>,
    #[serde(flatten)]
    today: Today,
}

const LIMIT: i64 = 50;

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "reminder.list",
            title: "List reminders",
            description: "List reminders in the order in which they come.",
            hints: Hints::READS,
            effect: Effect::Read,
        },
        Handler::query(state, handle),
    )
    .in_japanese("リマインダーの一覧")
    .aliases(&["reminder_list"])
    .normalise(|_, arguments| arguments::integer(arguments, "limit"))
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Output> {
    let limit = input.limit.unwrap_or(LIMIT);
    let mut found = reminders::list(sql, input.include_past == Some(true), limit + 1)?;
    let has_more = super::cut_to(&mut found, limit);
    let message = message(state, context, &found, has_more);
    Ok(Output {
        status: OK,
        message,
        details: match found.is_empty() {
            true => Some(first_step::details(sql, RowKind::Reminder)?),
            false => None,
        },
        reminders: ReminderView::all(sql, &found, context.language)?,
        has_more,
        today: Today::of(context),
    })
}

fn message(state: &CounterState, context: &Context, found: &[Reminder], has_more: bool) -> String {
    let active: Vec<&Reminder> = found.iter().filter(|one| one.status == "active").collect();
    let spoken = |reminder: &Reminder| {
        let at = reminder.next_fire_at.unwrap_or(reminder.starts_at);
        state.spoken(context, at, &reminder.zone())
    };
    // Inactive reminders come last, so more active ones can only follow if all of
    // these are active.
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
