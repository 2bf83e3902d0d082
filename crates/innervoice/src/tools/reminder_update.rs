//! `reminder.update`: changes the time, note or repetition that is given, of a
//! reminder or of one of its times. The user sees each field before and after.

use std::sync::Arc;

use kit::{
    Context, Definition, Effect, Handler, Result, Sql, Today, Tool, Warning,
    approval::{self, Card, describe},
    context::{Change, Language},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{OK, OVERWRITES, arguments, reminder};
use crate::{
    answers::{AsListed, RepeatView, exceptions_dropped, next_times, timestamp},
    bounds::{LONGEST_ID, LONGEST_TIME, STEPS_OF_A_CALL},
    cards::CardLines,
    errors,
    model::{
        moment::rfc3339_millis,
        repeat::{self, Steps},
        spoken,
    },
    resources,
    state::{CounterState, here},
    store::reminders::{self, Reminder},
};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    #[schemars(length(max = LONGEST_ID))]
    id: String,
    /// As in reminder_create; without a day it keeps the day
    #[schemars(length(max = LONGEST_TIME))]
    time: Option<String>,
    #[schemars(length(min = 1, max = 2_000))]
    note: Option<String>,
    /// none stops it
    #[schemars(length(max = 500))]
    repeat: Option<String>,
    /// Move only this day's
    #[schemars(length(max = LONGEST_TIME))]
    date: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    status: &'static str,
    id: String,
    // One sentence to read out; the instructions say so.
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AsListed>")]
    repeat: Option<RepeatView>,
    next: Vec<String>,
    changed: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    warnings: Vec<Warning>,
    #[serde(flatten)]
    today: Today,
}

pub fn tool(state: &Arc<CounterState>) -> Tool {
    Tool::new(
        Definition {
            name: "reminder.update",
            title: "Change reminder",
            description: "Change a reminder, or one occurrence with date; the user is asked first.",
            hints: OVERWRITES,
            effect: Effect::Outside,
        },
        Handler::prepared(state, Update::of, handle),
    )
    .aliases(&["reminder_update"])
    .rules(&[errors::NOTE_EMPTY])
    .normalise(|_, arguments| {
        for name in ["id", "time", "date"] {
            arguments::narrow(arguments, name);
        }
        arguments::text(arguments, "note");
        arguments::text(arguments, "repeat");
    })
    .personal(&["note"])
    .card(describe(state, card))
}

/// A reminder before and after a call.
struct Update {
    before: Reminder,
    after: Reminder,
    /// The time that is moved, before and after, if it is only one.
    moved: Option<(i64, i64)>,
    /// The version of the reminder that the user approves.
    version: String,
}

impl Update {
    /// The rule is expanded here, before the transaction.
    fn of(
        state: &CounterState,
        context: &Context,
        sql: &mut dyn Sql,
        input: Input,
    ) -> Result<Self> {
        let before = reminder::find(sql, &input.id)?;
        if input.time.is_none() && input.note.is_none() && input.repeat.is_none() {
            return Err(errors::nothing_to_change());
        }
        if before.status != "active" {
            return Err(errors::already_over("reminder", &before.id, &before.status));
        }
        let version = before.version.to_string();
        if let Some(date) = &input.date {
            return Self::of_one(state, context, before, version, date, &input);
        }
        let mut update = Self {
            after: before.clone(),
            before,
            moved: None,
            version,
        };
        update.apply(state, context, input)?;
        Ok(update)
    }

    fn of_one(
        state: &CounterState,
        context: &Context,
        before: Reminder,
        version: String,
        date: &str,
        input: &Input,
    ) -> Result<Self> {
        let time = match (&input.note, &input.repeat, &input.time) {
            (None, None, Some(time)) => time,
            (Some(_), _, _) => return Err(errors::only_its_time("note")),
            _ => return Err(errors::only_its_time("repeat")),
        };
        let (_, found) = reminder::named(context, &before, date)?;
        let (after, at) = reminder::move_one(state, context, &before, date, time)?;
        let was = found.first().map_or(at, |one| one.start);
        Ok(Self {
            before,
            after,
            moved: Some((was, at)),
            version,
        })
    }

    /// Changes the reminder with all its times.
    fn apply(&mut self, state: &CounterState, context: &Context, input: Input) -> Result<()> {
        let before = &self.before;
        if input.time.is_some() || input.repeat.is_some() {
            let next = before.next_fire_at.unwrap_or(before.starts_at);
            let local = timestamp(next).to_zoned(before.zone()).datetime();
            let is_moved = input.time.is_some();
            // Without a new time the series continues from its next time.
            let time = input.time.unwrap_or_else(|| {
                self.version.push_str(&format!("/{next}"));
                format!("{local}[{}]", before.zone)
            });
            let day = Some(local.date());
            let mut plan = {
                let repeat = input.repeat.as_deref().or(before.rule.as_deref());
                reminder::plan(state, context, &time, repeat, day)?
            };
            if let (true, None, Some(rule)) = (is_moved, &input.repeat, &before.rule) {
                let rule = repeat::moved(rule, local.date(), plan.day());
                plan = reminder::plan(state, context, &time, Some(&rule), day)?;
            }
            plan.apply(&mut self.after);
            // The same times again are no change.
            if self.after.rule == self.before.rule && self.after.next_fire_at == Some(next) {
                let note = std::mem::take(&mut self.after.note);
                self.after = Reminder {
                    note,
                    ..self.before.clone()
                };
            }
        }
        if let Some(note) = input.note {
            self.after.note = note;
        }
        Ok(())
    }

    fn changes_anything(&self) -> bool {
        self.before != self.after
    }

    fn changed(&self) -> Vec<&'static str> {
        let (before, after) = (&self.before, &self.after);
        let is_moved = match self.moved {
            Some((was, at)) => was != at,
            None => before.next_fire_at != after.next_fire_at,
        };
        [
            ("note", before.note != after.note),
            ("time", is_moved),
            ("repeat", before.rule != after.rule),
        ]
        .into_iter()
        .filter_map(|(name, differs)| differs.then_some(name))
        .collect()
    }

    fn message(&self, state: &CounterState, context: &Context) -> String {
        let note = &self.after.note;
        let zone = self.after.zone();
        match (context.language, self.moved) {
            (Language::English, _) if !self.changes_anything() => {
                format!("Nothing changed; the reminder was like that already: {note}.")
            }
            (Language::Japanese, _) if !self.changes_anything() => {
                format!("「{note}」のリマインダーはすでにその内容なので、変更はありません。")
            }
            (_, None) => reminder::message(state, context, &self.after),
            (Language::English, Some((was, at))) => {
                let was = state.spoken(context, was, &zone);
                let at = state.spoken(context, at, &zone);
                format!("I will remind you {at} instead of {was}: {note}. The other times stay.")
            }
            (Language::Japanese, Some((was, at))) => {
                let was = state.spoken(context, was, &zone);
                let at = state.spoken(context, at, &zone);
                format!("{was}の「{note}」は{at}にお知らせします。ほかの回はそのままです。")
            }
        }
    }
}

fn handle(
    state: &CounterState,
    context: &Context,
    sql: &mut dyn Sql,
    update: &Update,
) -> Result<Output> {
    context.check_card(None, Some(&update.version))?;
    let (before, after) = (&update.before, &update.after);
    if update.changes_anything() {
        let now = state.now(context).as_millisecond();
        if !reminders::update(sql, before, after, &context.caller.id, now)? {
            return Err(approval::state_changed());
        }
        context.changed(Change::Resource(resources::REMINDERS.into()));
    }
    let zone = after.zone();
    let next = next_times(after, &Steps::new(STEPS_OF_A_CALL));
    Ok(Output {
        status: OK,
        message: update.message(state, context),
        repeat: RepeatView::of(after.rule.as_deref(), context.language),
        next: next.iter().map(|at| rfc3339_millis(*at, &zone)).collect(),
        id: after.id.clone(),
        changed: update.changed(),
        warnings: exceptions_dropped(&before.exceptions, &after.exceptions, context.language),
        today: Today::of(context),
    })
}

/// For the person who is asked: the reminder, and each field before and after.
fn card(state: &CounterState, context: &Context, sql: &mut dyn Sql, input: Input) -> Result<Card> {
    let update = Update::of(state, context, sql, input)?;
    let mut lines = CardLines::new(context.language);
    match update.moved {
        None => reminder::add_lines(&mut lines, &update.before, &update.after),
        Some((was, at)) => {
            let zone = update.before.zone();
            let in_full = |at| spoken::in_full(timestamp(at), &zone);
            lines.fact(("Note", "内容"), &update.before.note);
            lines.field(("When", "日時"), &in_full(was), &in_full(at));
        }
    }
    let note = &update.before.note;
    Ok(Card {
        summary: match context.language {
            Language::English => format!("Change the reminder: {note}"),
            Language::Japanese => format!("リマインダーを変更する: {note}"),
        },
        lines: lines.done(),
        exempt: !update.changes_anything(),
        state: Some(update.version),
        asked_at: Some(here(context).now.as_millisecond()),
        ..Card::default()
    })
}
