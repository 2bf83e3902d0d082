//! `reminder.cancel`: cancels a reminder.

use std::sync::Arc;

use kit::{
    Context, Result, Sql, Tool,
    context::{Change, Language},
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{cancel::Cancel, reminder_update};
use crate::{
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
    super::cancel::tool::<Reminder>(
        state,
        "reminder.cancel",
        &["reminder_cancel"],
        "Cancel a reminder",
        "Cancel a reminder and all its repetitions; asks the user unless it is your own.",
    )
}

impl Cancel for Reminder {
    type Input = Input;

    fn find(_: &Context, sql: &mut dyn Sql, input: Input) -> Result<Self> {
        let reminder = reminder_update::find(sql, &input.id)?;
        match reminder.status.as_str() {
            "done" => Err(errors::already_over("reminder", &reminder.id, "done")),
            _ => Ok(reminder),
        }
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn version(&self) -> String {
        self.version.to_string()
    }

    fn is_of(&self, caller: &str) -> bool {
        self.is_of(caller)
    }

    fn is_cancelled(&self) -> bool {
        self.status != "active"
    }

    fn cancel(&self, context: &Context, sql: &mut dyn Sql) -> Result<bool> {
        context.changed(Change::Resource(resources::REMINDERS.into()));
        reminders::cancel(sql, self, context.clock.now().as_millisecond())
    }

    fn question(&self, language: Language) -> String {
        match language {
            Language::English => format!("Cancel the reminder: {}", self.note),
            Language::Japanese => format!("リマインダーを取り消す: {}", self.note),
        }
    }

    fn add_lines(&self, lines: &mut CardLines) {
        reminder_update::add_lines(lines, self, self);
    }

    fn message(&self, language: Language) -> String {
        match language {
            Language::English => format!("I cancelled the reminder: {}.", self.note),
            Language::Japanese => format!("「{}」のリマインダーを取り消しました。", self.note),
        }
    }
}
