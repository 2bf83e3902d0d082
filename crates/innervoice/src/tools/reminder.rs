//! What the tools about reminders have in common.

use jiff::civil::Date;
use kit::{Context, Language, Result, Sql};

use super::event;
use crate::{
    answers::{NEXT, timestamp},
    bounds::{MOST_EXCEPTIONS, STEPS_OF_A_CALL},
    cards::CardLines,
    errors,
    model::{
        exceptions::{Exceptions, Occurrence},
        moment::{Here, Moment, rfc3339},
        repeat::{self, Steps},
        repeat_words::{self, Repeat},
        spoken,
    },
    state::{CounterState, here},
    store::reminders::{self, Reminder},
};

/// A time that passed less than this ago is still accepted.
const TOLERANCE_MS: i64 = 60_000;

pub fn find(sql: &mut dyn Sql, id: &str) -> Result<Reminder> {
    reminders::find(sql, id)?.ok_or_else(|| errors::not_found("reminder", id, "reminder_list"))
}

/// When a reminder fires.
pub struct Plan {
    start: Moment,
    rule: Option<String>,
    /// The first firings, at most [`NEXT`].
    pub next: Vec<i64>,
}

impl Plan {
    /// The first firing.
    pub fn first(&self) -> i64 {
        self.next
            .first()
            .copied()
            .unwrap_or_else(|| self.start.millis())
    }

    pub fn zone(&self) -> &jiff::tz::TimeZone {
        &self.start.zone
    }

    /// The day of the start.
    pub fn day(&self) -> Date {
        self.start.civil().date()
    }

    pub fn rule(&self) -> Option<&str> {
        self.rule.as_deref()
    }

    pub fn apply(&self, reminder: &mut Reminder) {
        reminder.starts_local = self.start.civil().to_string();
        reminder.starts_at = self.start.millis();
        reminder.zone = self.start.zone_name();
        reminder.rule.clone_from(&self.rule);
        reminder.next_fire_at = Some(self.first());
        reminder.exceptions.clear();
    }
}

/// `day` is the day of a time without one.
pub fn plan(
    state: &CounterState,
    context: &Context,
    time: &str,
    repeat: Option<&str>,
    day: Option<Date>,
) -> Result<Plan> {
    let here = Here {
        day,
        ..here(context)
    };
    let start = here
        .moment(time)
        .map_err(|why| errors::invalid_time("time", time, why, &here))?;
    let said_at = here.now.to_zoned(start.zone.clone());
    let repeat = match repeat {
        None => Repeat::Once,
        Some(text) => repeat_words::read(text, start.civil(), &said_at)
            .map_err(|why| errors::invalid_repeat(text, Some(&why)))?
            .ok_or_else(|| errors::invalid_repeat(text, None))?,
    };
    let now = state.now(context);
    let earliest = now.as_millisecond() - TOLERANCE_MS;
    let rule = match repeat {
        Repeat::Rule(rule) => Some(rule),
        Repeat::Once => {
            check_future(state, context, &start)?;
            None
        }
    };
    let probe = Reminder {
        id: String::new(),
        note: String::new(),
        status: String::new(),
        next_fire_at: None,
        starts_local: start.civil().to_string(),
        starts_at: start.millis(),
        zone: start.zone_name(),
        rule,
        created_at: 0,
        version: 0,
        caller: String::new(),
        changed_by: None,
        exceptions: Exceptions::default(),
    };
    // A series may have begun in the past; its next time must not have passed.
    let from = match probe.rule {
        Some(_) => earliest,
        None => start.millis() - 1,
    };
    let steps = Steps::new(STEPS_OF_A_CALL);
    let next = probe.times_after(from, NEXT, &steps);
    let next = next.map_err(|_| errors::rule_too_costly())?;
    if next.is_empty() {
        return Err(errors::never_fires());
    }
    Ok(Plan {
        start,
        rule: probe.rule,
        next,
    })
}

fn check_future(state: &CounterState, context: &Context, start: &Moment) -> Result<()> {
    let now = state.now(context);
    if start.millis() >= now.as_millisecond() - TOLERANCE_MS {
        return Ok(());
    }
    let said = spoken::time(start.at, &start.zone, &state.zone, now, context.language);
    Err(errors::time_passed(&said, &rfc3339(now, &state.zone)))
}

/// The times of a series on the day that `date` names; none if they are skipped.
pub fn named(
    context: &Context,
    reminder: &Reminder,
    date: &str,
) -> Result<(Date, Vec<Occurrence>)> {
    let series = reminder.series();
    let (day, mut found) = event::named(context, &series, date)?;
    let earliest = reminder.next_fire_at.unwrap_or(i64::MIN);
    found.retain(|one| one.start >= earliest);
    if found.is_empty() && !reminder.exceptions.is_skipped_on(day, &reminder.zone()) {
        let after = earliest.saturating_sub(1);
        return Err(event::no_occurrence(&reminder.note, &series, day, after));
    }
    Ok((day, found))
}

/// Sets the next time by the exceptions; `false` if there is none.
pub fn find_next(reminder: &mut Reminder) -> Result<bool> {
    if reminder.exceptions.len() > MOST_EXCEPTIONS {
        return Err(errors::too_many_exceptions(MOST_EXCEPTIONS));
    }
    let steps = Steps::new(STEPS_OF_A_CALL);
    let after = reminder.next_fire_at.unwrap_or(reminder.starts_at) - 1;
    let next = reminder.times_after(after, 1, &steps);
    let next = next.map_err(|_| errors::rule_too_costly())?;
    reminder.next_fire_at = next.first().copied();
    Ok(reminder.next_fire_at.is_some())
}

/// Moves one time of a series, or of a reminder that comes once.
pub fn move_one(
    state: &CounterState,
    context: &Context,
    before: &Reminder,
    date: &str,
    time: &str,
) -> Result<(Reminder, i64)> {
    let (day, found) = named(context, before, date)?;
    let zone = before.zone();
    let occurrence = match found.as_slice() {
        [one] => *one,
        [] => {
            let series = before.series();
            return Err(event::no_occurrence(&before.note, &series, day, i64::MIN));
        }
        several => {
            let times = event::times(several, &zone);
            return Err(errors::several_that_day(&before.note, &times));
        }
    };
    let here = Here {
        day: Some(day),
        zone,
        ..here(context)
    };
    let moment = here
        .moment(time)
        .map_err(|why| errors::invalid_time("time", time, why, &here))?;
    check_future(state, context, &moment)?;
    let mut after = before.clone();
    let at = moment.millis();
    match before.rule {
        None => {
            after.starts_at = at;
            after.starts_local = moment.civil().to_string();
            after.next_fire_at = Some(at);
        }
        Some(_) => {
            if occurrence.start != at {
                after.exceptions.move_to(occurrence.original, at, at);
            }
            after.next_fire_at = after.next_fire_at.map(|next| next.min(at));
            find_next(&mut after)?;
        }
    }
    Ok((after, at))
}

pub fn message(state: &CounterState, context: &Context, reminder: &Reminder) -> String {
    let language = context.language;
    let first = reminder.next_fire_at.unwrap_or(reminder.starts_at);
    let spoken = state.spoken(context, first, &reminder.zone());
    let repeat = reminder
        .rule
        .as_ref()
        .map(|rule| repeat::say(rule, language));
    let note = &reminder.note;
    match (language, repeat) {
        (Language::English, None) => format!("I will remind you {spoken}: {note}."),
        (Language::English, Some(repeat)) => {
            format!("I will remind you {repeat}, first {spoken}: {note}.")
        }
        (Language::Japanese, None) => format!("{spoken}に「{note}」をお知らせします。"),
        (Language::Japanese, Some(repeat)) => {
            format!("{repeat}、次は{spoken}に「{note}」をお知らせします。")
        }
    }
}

/// Adds the fields of a reminder, before and after where they differ.
pub fn add_lines(lines: &mut CardLines, before: &Reminder, after: &Reminder) {
    let language = lines.language;
    let when = |reminder: &Reminder| {
        let at = reminder.next_fire_at.unwrap_or(reminder.starts_at);
        spoken::in_full(timestamp(at), &reminder.zone())
    };
    let repeats = |reminder: &Reminder| event::repetition(reminder.rule.as_deref(), language);
    lines.field(("Note", "内容"), &before.note, &after.note);
    lines.field(("When", "日時"), &when(before), &when(after));
    lines.field(("Repeats", "繰り返し"), &repeats(before), &repeats(after));
}
