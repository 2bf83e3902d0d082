//! `calendar.cancel`: cancels an event.

use std::sync::Arc;

use kit::{Context, Language, Result, Sql, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{cancel::Cancel, event};
use crate::{
    bounds::LONGEST_ID,
    cards::CardLines,
    state::CounterState,
    store::events::{self, Event},
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The event's id, evt_…
    #[schemars(length(max = LONGEST_ID))]
    id: String,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    super::cancel::tool::<Event>(
        state,
        "calendar.cancel",
        &["calendar_cancel"],
        "Cancel an event",
        "Take an event out of the calendar; asks the user unless it is your own.",
    )
}

impl Cancel for Event {
    type Input = Input;

    fn find(_: &Context, sql: &mut dyn Sql, input: Input) -> Result<Self> {
        event::find(sql, &input.id)
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn version(&self) -> String {
        self.sequence.to_string()
    }

    fn is_of(&self, caller: &str) -> bool {
        self.is_of(caller)
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled_at.is_some()
    }

    fn cancel(&self, context: &Context, sql: &mut dyn Sql) -> Result<bool> {
        event::changed(context, self);
        events::cancel(sql, self, context.clock.now().as_millisecond())
    }

    fn question(&self, language: Language) -> String {
        match language {
            Language::English => format!("Cancel \"{}\" in the calendar", self.title),
            Language::Japanese => format!("予定「{}」を取り消す", self.title),
        }
    }

    fn add_lines(&self, lines: &mut CardLines) {
        event::add_lines(lines, self, self);
    }

    fn message(&self, language: Language) -> String {
        match language {
            Language::English => format!("I cancelled {}.", self.title),
            Language::Japanese => format!("「{}」の予定を取り消しました。", self.title),
        }
    }
}
