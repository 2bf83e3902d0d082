//! `reminder.cancel`: cancels a reminder, or one of its times.

use std::sync::Arc;

use jiff::civil::Date;
use kit::{
    Context, Result, Sql, Tool,
    context::{Change, Language},
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{cancel::Cancel, occurrence, reminder};
use crate::{
    bounds::{LONGEST_ID, LONGEST_TIME},
    cards::CardLines,
    errors,
    model::exceptions::Occurrence,
    resources,
    state::CounterState,
    store::reminders::{self, Reminder},
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    #[schemars(length(max = LONGEST_ID))]
    id: String,
    /// Only this day's; the series goes on
    #[schemars(length(max = LONGEST_TIME))]
    date: Option<String>,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    super::cancel::tool::<CancelledReminder>(
        state,
        "reminder.cancel",
        &["reminder_cancel"],
        "Cancel reminder",
        "Cancel a reminder, or one occurrence with date; asks the user unless it is your own.",
    )
    .in_japanese("リマインダーの取り消し")
    .keeps_empty(&["date"])
}

struct CancelledReminder {
    reminder: Reminder,
    /// The times of one day of a series; none if they are skipped already.
    skips: Option<(Date, Vec<Occurrence>)>,
    /// The series without them; `None` if it would be over.
    rest: Option<Reminder>,
}

impl Cancel for CancelledReminder {
    type Input = Input;

    fn find(context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Self> {
        let reminder = reminder::find(sql, &input.id)?;
        if reminder.status == "done" {
            return Err(errors::already_over("reminder", &reminder.id, "done"));
        }
        let is_series = reminder.rule.is_some();
        let skips = match occurrence::given(input.date, &reminder.note, is_series)? {
            None => None,
            Some(date) => {
                let named = reminder::named(context, &reminder, &date)?;
                occurrence::check_is_clear(&reminder.note, &reminder.series(), &named.1)?;
                is_series.then_some(named)
            }
        };
        let mut rest = reminder.clone();
        for time in skips.iter().flat_map(|(_, times)| times) {
            rest.exceptions.skip(time.original);
        }
        let goes_on = skips.is_some() && reminder::find_next(&mut rest)?;
        Ok(Self {
            reminder,
            skips,
            rest: goes_on.then_some(rest),
        })
    }

    fn id(&self) -> &str {
        &self.reminder.id
    }

    fn version(&self) -> String {
        self.reminder.version.to_string()
    }

    fn is_of(&self, caller: &str) -> bool {
        self.reminder.is_of(caller)
    }

    fn is_cancelled(&self) -> bool {
        let is_skipped = |(_, times): &(Date, Vec<Occurrence>)| times.is_empty();
        self.reminder.status != "active" || self.skips.as_ref().is_some_and(is_skipped)
    }

    fn cancel(&self, context: &Context, sql: &mut dyn Sql) -> Result<bool> {
        context.changed(Change::Resource(resources::REMINDERS.into()));
        let now = context.clock.now().as_millisecond();
        match &self.rest {
            Some(rest) => reminders::update(sql, &self.reminder, rest, &context.caller.id, now),
            None => reminders::cancel(sql, &self.reminder, now),
        }
    }

    fn question(&self, language: Language) -> String {
        let note = &self.reminder.note;
        match (language, &self.skips) {
            (Language::English, None) => format!("Cancel the reminder: {note}"),
            (Language::English, Some((day, _))) => {
                format!("Cancel the reminder on {day} only: {note}")
            }
            (Language::Japanese, None) => format!("リマインダーを取り消す: {note}"),
            (Language::Japanese, Some((day, _))) => {
                format!("リマインダーの{day}の回だけを取り消す: {note}")
            }
        }
    }

    fn add_lines(&self, lines: &mut CardLines) {
        let mut shown = self.reminder.clone();
        let skipped = self.skips.as_ref().and_then(|(_, times)| times.first());
        shown.next_fire_at = skipped.map(|one| one.start).or(shown.next_fire_at);
        reminder::add_lines(lines, &shown, &shown);
    }

    fn message(&self, state: &CounterState, context: &Context) -> String {
        let note = &self.reminder.note;
        let at = self.skips.as_ref().and_then(|(_, times)| times.first());
        let when = at.map(|at| state.spoken(context, at.start, &self.reminder.zone()));
        match (context.language, &self.skips, when) {
            (Language::English, None, _) => format!("I cancelled the reminder: {note}."),
            (Language::English, Some(_), Some(when)) if self.rest.is_none() => {
                format!("I will not remind you {when}, which was the last time: {note}.")
            }
            (Language::English, Some(_), Some(when)) => {
                format!("I will not remind you {when}: {note}. The other times stay.")
            }
            (Language::English, Some((day, _)), None) => {
                format!("The reminder was already cancelled on {day}: {note}.")
            }
            (Language::Japanese, None, _) => {
                format!("「{note}」のリマインダーを取り消しました。")
            }
            (Language::Japanese, Some(_), Some(when)) if self.rest.is_none() => {
                format!("{when}の「{note}」はお知らせしません。これが最後の回でした。")
            }
            (Language::Japanese, Some(_), Some(when)) => {
                format!("{when}の「{note}」はお知らせしません。ほかの回はそのままです。")
            }
            (Language::Japanese, Some((day, _)), None) => {
                format!("「{note}」の{day}の回はすでに取り消されています。")
            }
        }
    }
}
