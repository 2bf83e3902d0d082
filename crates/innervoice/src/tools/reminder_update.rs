//! `reminder.update`: changes the time, note or repetition that is given, of a
//! reminder or of one of its times. The user sees each field before and after.

use std::sync::Arc;

use jiff::civil::{Date, DateTime, Time};
use kit::{
    Context, Definition, Effect, Handler, Result, Sql, Today, Tool, Warning,
    approval::{self, Card, describe},
    context::{Change, Language},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    OK, OVERWRITES, arguments, occurrence,
    reminder::{self, Plan},
};
use crate::{
    answers::{AsListed, NEXT, RepeatView, exceptions_dropped, next_times, timestamp},
    bounds::{LONGEST_ID, LONGEST_TIME, STEPS_OF_A_CALL},
    cards::CardLines,
    errors,
    model::{
        moment::{instant, rfc3339_millis},
        repeat::{self, Steps},
        repeat_words::{self, Repeat},
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
    .in_japanese("リマインダーの変更")
    .aliases(&["reminder_update"])
    .keeps_empty(&["date"])
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
    /// Whether its times were given anew and differ.
    has_new_time: bool,
    /// Coming days whose time was moved or skipped, and which the changed series does
    /// not have.
    dropped: Vec<Date>,
    /// The version of the reminder that the user approves.
    version: String,
}

impl Update {
    /// The rule is expanded here, before the transaction.
    fn of(
        state: &CounterState,
        context: &Context,
        sql: &mut dyn Sql,
        mut input: Input,
    ) -> Result<Self> {
        let before = reminder::find(sql, &input.id)?;
        if input.time.is_none() && input.note.is_none() && input.repeat.is_none() {
            return Err(errors::nothing_to_change());
        }
        if before.status != "active" {
            return Err(errors::already_over("reminder", &before.id, &before.status));
        }
        // What only a whole reminder has is meant for the whole series.
        let is_time = input.note.is_none() && input.repeat.is_none();
        let may_be_one = before.rule.is_some() && is_time;
        let date = occurrence::given(input.date.take(), &before.note, may_be_one)?;
        let mut update = Self {
            version: before.version.to_string(),
            after: before.clone(),
            before,
            moved: None,
            has_new_time: false,
            dropped: Vec::new(),
        };
        match date {
            Some(date) => update.move_one(state, context, &date, &input)?,
            None => update.apply(state, context, input)?,
        }
        Ok(update)
    }

    fn move_one(
        &mut self,
        state: &CounterState,
        context: &Context,
        date: &str,
        input: &Input,
    ) -> Result<()> {
        let time = match (&input.note, &input.repeat, &input.time) {
            (None, None, Some(time)) => time,
            (Some(_), _, _) => return Err(errors::only_its_time("note")),
            _ => return Err(errors::only_its_time("repeat")),
        };
        let (after, (was, at)) = reminder::move_one(state, context, &self.before, date, time)?;
        self.after = after;
        self.moved = Some((was, at));
        self.has_new_time = was != at;
        Ok(())
    }

    /// Changes the reminder with all its times.
    fn apply(&mut self, state: &CounterState, context: &Context, input: Input) -> Result<()> {
        let (time, repeat) = (input.time.as_deref(), input.repeat.as_deref());
        if time.is_some() || repeat.is_some() {
            self.reschedule(state, context, time, repeat)?;
        }
        if let Some(note) = input.note {
            self.after.note = note;
        }
        Ok(())
    }

    /// Changes all times. Those that were moved or skipped stay so, as far as the
    /// changed series has their days.
    fn reschedule(
        &mut self,
        state: &CounterState,
        context: &Context,
        time: Option<&str>,
        repeat: Option<&str>,
    ) -> Result<()> {
        let (before, after) = (&self.before, &mut self.after);
        let next = before.next_fire_at.unwrap_or(before.starts_at);
        let earliest = reminder::earliest(state, context);
        let (plan, from) = match time {
            Some(time) => new_time(state, context, before, time, repeat)?,
            // Without a new time the series continues from its next time.
            None => {
                self.version.push_str(&format!("/{next}"));
                let now = here(context).now.to_zoned(before.zone());
                let is_once = |repeat| {
                    let read = repeat_words::read(repeat, now.datetime(), &now);
                    matches!(read, Ok(Some(Repeat::Once)))
                };
                let at = match repeat.is_some_and(is_once) {
                    true => next,
                    false => next_by_rule(before, next, earliest),
                };
                let time = format!("{}[{}]", local(before, at), before.zone);
                let plan = reminder::plan(state, context, &time, repeat, None)?;
                (plan, earliest)
            }
        };
        plan.apply(after);
        let steps = Steps::new(STEPS_OF_A_CALL);
        let carried = before
            .series()
            .carry_over(&after.series(), |moved| moved, &steps);
        self.dropped = carried.lost_days(state.now(context).as_millisecond());
        after.exceptions = carried.kept;
        reminder::set_next(after, from.max(earliest))?;
        // The same times again are no change.
        if after.rule == before.rule && coming(before) == coming(after) {
            *after = before.clone();
        }
        self.has_new_time =
            before != after && (time.is_some() || before.next_fire_at != after.next_fire_at);
        Ok(())
    }

    fn changes_anything(&self) -> bool {
        self.before != self.after
    }

    fn changed(&self) -> Vec<&'static str> {
        let (before, after) = (&self.before, &self.after);
        [
            ("note", before.note != after.note),
            ("time", self.has_new_time),
            ("repeat", before.rule != after.rule),
        ]
        .into_iter()
        .filter_map(|(name, differs)| differs.then_some(name))
        .collect()
    }

    /// Whether more than one time is to come.
    fn has_others(&self) -> bool {
        let steps = Steps::new(STEPS_OF_A_CALL);
        next_times(&self.after, &steps).len() > 1
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
                let others = match self.has_others() {
                    true => " The other times stay.",
                    false => "",
                };
                format!("I will remind you {at} instead of {was}: {note}.{others}")
            }
            (Language::Japanese, Some((was, at))) => {
                let was = state.spoken(context, was, &zone);
                let at = state.spoken(context, at, &zone);
                let others = match self.has_others() {
                    true => "ほかの回はそのままです。",
                    false => "",
                };
                format!("{was}の「{note}」は{at}にお知らせします。{others}")
            }
        }
    }
}

/// A new time of all. A time without a day leaves the series on its days: a rule counts
/// from its start, and what fired already does not fire again.
fn new_time(
    state: &CounterState,
    context: &Context,
    before: &Reminder,
    time: &str,
    repeat: Option<&str>,
) -> Result<(Plan, i64)> {
    let next = before.next_fire_at.unwrap_or(before.starts_at);
    let base = next_by_rule(before, next, reminder::earliest(state, context));
    let day = local(before, base).date();
    let plan = |rule: Option<&str>, day| reminder::plan(state, context, time, rule, Some(day));
    let (None, Some(rule)) = (repeat, &before.rule) else {
        return Ok((plan(repeat, day)?, i64::MIN));
    };
    let named = plan(Some(rule), day)?;
    let from_start = plan(Some(rule), before.start().local.date())?;
    if named.day() == from_start.day() {
        let rule = repeat::moved(rule, day, named.day());
        return Ok((plan(Some(&rule), day)?, i64::MIN));
    }
    let today = local(before, next).date().to_datetime(Time::midnight());
    let from = instant(today, &before.zone()).map_or(next, |at| at.as_millisecond());
    Ok((from_start, from - 1))
}

/// The first coming time as the rule gives it, whether it was moved or not.
fn next_by_rule(reminder: &Reminder, next: i64, earliest: i64) -> i64 {
    let steps = Steps::new(STEPS_OF_A_CALL);
    let most = reminder.exceptions.len() + 1;
    let coming = reminder.series().between(next - 1, i64::MAX, most, &steps);
    let originals = || coming.iter().map(|one| one.original);
    let not_passed = originals().filter(|at| *at >= earliest).min();
    not_passed.or(originals().min()).unwrap_or(next)
}

fn local(reminder: &Reminder, at: i64) -> DateTime {
    timestamp(at).to_zoned(reminder.zone()).datetime()
}

/// The coming times, beyond all that were moved.
fn coming(reminder: &Reminder) -> Vec<i64> {
    let next = reminder.next_fire_at.unwrap_or(reminder.starts_at);
    let most = reminder.exceptions.len() + NEXT;
    let steps = Steps::new(STEPS_OF_A_CALL);
    reminder
        .times_after(next - 1, most, &steps)
        .unwrap_or_default()
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
        warnings: exceptions_dropped(&update.dropped, context.language),
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
            let time = |at| spoken::on_card(timestamp(at), &zone, context.language);
            lines.fact(("Note", "内容"), &update.before.note);
            lines.field(("When", "日時"), &time(was), &time(at));
        }
    }
    lines.dropped(&update.dropped);
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
