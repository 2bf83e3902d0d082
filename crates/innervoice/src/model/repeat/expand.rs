//! From a rule to civil times, one period (day, week, month, year) after another.

use jiff::{
    Timestamp, ToSpan,
    civil::{Date, DateTime, Weekday, date},
};

use super::{Freq, HORIZON_YEARS, Rule, Start};
use crate::model::when;

pub enum Found {
    Local(DateTime),
    At(Timestamp),
}

/// The rule's times from its start on, in order. Those long before `after` may
/// be left out where nobody counts them.
pub fn civil<'a>(
    rule: &'a Rule,
    start: &'a Start,
    after: Timestamp,
) -> Box<dyn Iterator<Item = Found> + 'a> {
    let limit = rule.count.map_or(usize::MAX, |count| count as usize);
    if rule.freq == Freq::Hourly {
        return Box::new(hours(rule, start, after).take(limit));
    }
    let from = after.to_zoned(start.zone.clone()).date();
    let skipped = match rule.count {
        // They have to be counted.
        Some(_) => 0,
        None => periods_before(rule, start, from),
    };
    // A rule that never comes true must not be looked through for ever.
    let end = from
        .max(start.local.date())
        .year()
        .saturating_add(HORIZON_YEARS);
    let times = (skipped..)
        .map_while(move |at| period(rule, start, at).filter(|first| first.year() <= end))
        .flat_map(move |first| in_period(rule, start, first))
        .filter(move |local| *local >= start.local)
        .take(limit);
    Box::new(times.map(Found::Local))
}

/// Hours are counted on a stopwatch, not on the wall.
fn hours<'a>(
    rule: &'a Rule,
    start: &'a Start,
    after: Timestamp,
) -> impl Iterator<Item = Found> + 'a {
    let first = when::instant(start.local, &start.zone);
    let step = i64::from(rule.interval) * 3_600;
    let passed = match (first, rule.count) {
        (Some(first), None) => ((after.as_second() - first.as_second()) / step).max(0),
        _ => 0,
    };
    (passed..).map_while(move |nth| {
        let at = first?.as_second().checked_add(nth.checked_mul(step)?)?;
        Timestamp::from_second(at).ok().map(Found::At)
    })
}

/// The first day of the `at`-th period.
fn period(rule: &Rule, start: &Start, at: i32) -> Option<Date> {
    let steps = at.checked_mul(rule.interval)?;
    let day = start.local.date();
    match rule.freq {
        Freq::Hourly => None,
        Freq::Daily => day.checked_add(steps.days()).ok(),
        Freq::Weekly => week_of(day, rule.week_start)?
            .checked_add(steps.weeks())
            .ok(),
        Freq::Monthly => day.first_of_month().checked_add(steps.months()).ok(),
        Freq::Yearly => day.first_of_year().checked_add(steps.years()).ok(),
    }
}

/// How many periods end before `from`, and a few less.
fn periods_before(rule: &Rule, start: &Start, from: Date) -> i32 {
    let day = start.local.date();
    let days = day.until(from).map_or(0, |span| span.get_days());
    let months = i32::from(from.year() - day.year()) * 12 + i32::from(from.month() - day.month());
    let passed = match rule.freq {
        Freq::Hourly => 0,
        Freq::Daily => days,
        Freq::Weekly => days / 7,
        Freq::Monthly => months,
        Freq::Yearly => months / 12,
    };
    (passed / rule.interval - 2).max(0)
}

fn week_of(day: Date, week_start: Weekday) -> Option<Date> {
    let since = day.weekday().since(week_start);
    day.checked_sub(i32::from(since).days()).ok()
}

fn in_period(rule: &Rule, start: &Start, first: Date) -> Vec<DateTime> {
    let mut days = match rule.freq {
        Freq::Hourly => Vec::new(),
        Freq::Daily => vec![first],
        Freq::Weekly => week(rule, start, first),
        Freq::Monthly => month(rule, start, first),
        Freq::Yearly => year(rule, start, first),
    };
    days.retain(|day| rule.by_month.is_empty() || rule.by_month.contains(&day.month()));
    if rule.freq == Freq::Daily {
        days.retain(|day| is_month_day(rule, *day) && is_weekday(rule, *day));
    }
    days.sort_unstable();
    days.dedup();
    let mut times = at_times(rule, start, &days);
    if !rule.by_set_pos.is_empty() {
        let mut picked: Vec<DateTime> = rule
            .by_set_pos
            .iter()
            .filter_map(|at| nth(&times, *at))
            .collect();
        picked.sort_unstable();
        picked.dedup();
        times = picked;
    }
    times
}

fn at_times(rule: &Rule, start: &Start, days: &[Date]) -> Vec<DateTime> {
    let or_start = |own: &[i8], start: i8| {
        if own.is_empty() {
            vec![start]
        } else {
            own.to_vec()
        }
    };
    let hours = or_start(&rule.by_hour, start.local.hour());
    let minutes = or_start(&rule.by_minute, start.local.minute());
    let second = if rule.by_minute.is_empty() {
        start.local.second()
    } else {
        0
    };
    let mut times = Vec::new();
    for day in days {
        for hour in &hours {
            for minute in &minutes {
                times.push(day.at(*hour, *minute, second, 0));
            }
        }
    }
    times
}

fn week(rule: &Rule, start: &Start, first: Date) -> Vec<Date> {
    let wanted: Vec<Weekday> = if rule.by_day.is_empty() {
        vec![start.local.weekday()]
    } else {
        rule.by_day.iter().map(|(_, day)| *day).collect()
    };
    days_from(first, 7)
        .filter(|day| wanted.contains(&day.weekday()))
        .collect()
}

fn month(rule: &Rule, start: &Start, first: Date) -> Vec<Date> {
    let days = || days_from(first, i32::from(first.days_in_month()));
    if !rule.by_month_day.is_empty() {
        let mut found: Vec<Date> = days().filter(|day| is_month_day(rule, *day)).collect();
        if !rule.by_day.is_empty() {
            let weekdays = weekdays_among(rule, &days().collect::<Vec<_>>());
            found.retain(|day| weekdays.contains(day));
        }
        return found;
    }
    if !rule.by_day.is_empty() {
        return weekdays_among(rule, &days().collect::<Vec<_>>());
    }
    days()
        .filter(|day| day.day() == start.local.day())
        .collect()
}

fn year(rule: &Rule, start: &Start, first: Date) -> Vec<Date> {
    let selects_days = !rule.by_month_day.is_empty() || !rule.by_day.is_empty();
    // Numbered weekdays of a year that names no months are the year's.
    if rule.by_month.is_empty() && rule.by_month_day.is_empty() && !rule.by_day.is_empty() {
        let days: Vec<Date> = days_from(first, i32::from(first.days_in_year())).collect();
        return weekdays_among(rule, &days);
    }
    let months: Vec<i8> = if !rule.by_month.is_empty() {
        rule.by_month.clone()
    } else if selects_days {
        (1..=12).collect()
    } else {
        vec![start.local.month()]
    };
    months
        .into_iter()
        .flat_map(|of_year| month(rule, start, date(first.year(), of_year, 1)))
        .collect()
}

/// Those of `days` (a whole month or year) that are a weekday of the rule.
fn weekdays_among(rule: &Rule, days: &[Date]) -> Vec<Date> {
    let mut found = Vec::new();
    for (number, weekday) in &rule.by_day {
        let of_it: Vec<Date> = days
            .iter()
            .copied()
            .filter(|day| day.weekday() == *weekday)
            .collect();
        match number {
            None => found.extend(of_it),
            Some(number) => found.extend(nth(&of_it, i32::from(*number))),
        }
    }
    found
}

fn is_weekday(rule: &Rule, day: Date) -> bool {
    rule.by_day.is_empty() || rule.by_day.iter().any(|(_, of)| *of == day.weekday())
}

fn is_month_day(rule: &Rule, day: Date) -> bool {
    let from_end = day.day() - day.days_in_month() - 1;
    rule.by_month_day.is_empty()
        || rule.by_month_day.contains(&day.day())
        || rule.by_month_day.contains(&from_end)
}

/// Counted from 1, or from -1 at the end.
fn nth<T: Copy>(all: &[T], at: i32) -> Option<T> {
    let index = if at > 0 {
        usize::try_from(at - 1).ok()?
    } else {
        let from_end = usize::try_from(at.unsigned_abs()).ok()?;
        all.len().checked_sub(from_end)?
    };
    all.get(index).copied()
}

fn days_from(first: Date, count: i32) -> impl Iterator<Item = Date> {
    (0..count).map_while(move |at| first.checked_add(at.days()).ok())
}
