//! What the tools about reminders have in common.

use jiff::civil::Date;
use kit::{Context, Language, Result, Sql};

use super::{event, occurrence};
use crate::{
    answers::{NEXT, timestamp},
    bounds::{MOST_EXCEPTIONS, STEPS_OF_A_CALL},
    cards::CardLines,
    errors,
    model::{
        exceptions::Occurrence,
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

/// The start of a reminder, and its rule.
pub struct Plan {
    start: Moment,
    rule: Option<String>,
}

impl Plan {
    /// The day of the start.
    pub fn day(&self) -> Date {
        self.start.civil().date()
    }

    pub fn apply(&self, reminder: &mut Reminder) {
        reminder.starts_local = self.start.civil().to_string();
        reminder.starts_at = self.start.millis();
        reminder.zone = self.start.zone_name();
        reminder.rule.clone_from(&self.rule);
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
    let rule = match repeat {
        Repeat::Rule(rule) => Some(rule),
        Repeat::Once => {
            check_future(state, context, &start)?;
            None
        }
    };
    Ok(Plan { start, rule })
}

/// Times before this have passed.
pub fn earliest(state: &CounterState, context: &Context) -> i64 {
    state.now(context).as_millisecond() - TOLERANCE_MS
}

/// Sets the next time, after `after` if it repeats, and returns the first times, at most
/// [`NEXT`]. A series may have begun in the past; its next time must not have passed.
pub fn set_next(reminder: &mut Reminder, after: i64) -> Result<Vec<i64>> {
    let after = match reminder.rule {
        Some(_) => after,
        None => reminder.starts_at - 1,
    };
    let steps = Steps::new(STEPS_OF_A_CALL);
    let next = reminder.times_after(after, NEXT, &steps);
    let next = next.map_err(|_| errors::rule_too_costly())?;
    reminder.next_fire_at = next.first().copied();
    match next.is_empty() {
        true => Err(errors::never_fires("reminder")),
        false => Ok(next),
    }
}

fn check_future(state: &CounterState, context: &Context, start: &Moment) -> Result<()> {
    if start.millis() >= earliest(state, context) {
        return Ok(());
    }
    let now = state.now(context);
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
    let (day, mut found) = occurrence::named(context, &series, date)?;
    let earliest = reminder.next_fire_at.unwrap_or(i64::MIN);
    found.retain(|one| one.start >= earliest);
    if found.is_empty() && !reminder.exceptions.is_skipped_on(day, &reminder.zone()) {
        let after = earliest.saturating_sub(1);
        return Err(occurrence::none_on(&reminder.note, &series, day, after));
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

/// Moves one time of a series, or of a reminder that comes once. Also returns that time
/// before and after.
pub fn move_one(
    state: &CounterState,
    context: &Context,
    before: &Reminder,
    date: &str,
    time: &str,
) -> Result<(Reminder, (i64, i64))> {
    let (day, found) = named(context, before, date)?;
    let series = before.series();
    let occurrence = occurrence::single(&before.note, &series, day, &found)?;
    let here = Here {
        day: Some(day),
        zone: before.zone(),
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
                occurrence::check_is_free(&before.note, &series, &occurrence, at)?;
                after.exceptions.move_to(occurrence.original, at, at);
            }
            after.next_fire_at = after.next_fire_at.map(|next| next.min(at));
            find_next(&mut after)?;
        }
    }
    Ok((after, (occurrence.start, at)))
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
        spoken::on_card(timestamp(at), &reminder.zone(), language)
    };
    let repeats = |reminder: &Reminder| event::repetition(reminder.rule.as_deref(), language);
    lines.field(("Note", "内容"), &before.note, &after.note);
    lines.field(("When", "日時"), &when(before), &when(after));
    lines.field(("Repeats", "繰り返し"), &repeats(before), &repeats(after));
}
