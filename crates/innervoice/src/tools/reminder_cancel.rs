//! `reminder.cancel`: cancels a reminder.

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
    reminder_update,
};
use crate::{
    answers::Done,
    bounds::LONGEST_ID,
    cards::CardLines,
    errors, resources,
    state::CounterState,
    store::reminders::{self, Reminder},
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The reminder's id, rmd_…
    #[schemars(length(max = LONGEST_ID))]
    id: String,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    let names = Cancel {
        name: "reminder.cancel",
        aliases: &["reminder_cancel"],
        title: "Cancel a reminder",
        description: "Cancel a reminder and all its repetitions; asks the user unless it is your own.",
    };
    cancel::tool(state, names, handle, card)
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

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    input: Input,
) -> Result<Done> {
    let reminder = find(sql, &input.id)?;
    context.check_card(None, Some(&reminder.version.to_string()))?;
    // A retry cancels twice, and succeeds.
    let now = state.now(context).as_millisecond();
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

/// For the person who is asked about another key's reminder.
fn card(_: &CounterState, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Card> {
    let reminder = find(sql, &input.id)?;
    let mut lines = CardLines::new(context.language);
    reminder_update::add_lines(&mut lines, &reminder, &reminder, context.language);
    let summary = match context.language {
        Language::English => format!("Cancel the reminder: {}", reminder.note),
        Language::Japanese => format!("リマインダーを取り消す: {}", reminder.note),
    };
    let is_own = reminder.is_of(&context.caller.id);
    let is_cancelled = reminder.status != "active";
    let version = reminder.version.to_string();
    Ok(cancel::card(summary, lines, version, is_own, is_cancelled))
}
