//! Days of a calendar, counted from today.

use jiff::{
    Span, ToSpan as _, Zoned,
    civil::{Date, Weekday},
};

/// The first and the last day.
pub type Days = (Date, Date);

/// The Monday of the week that is `weeks` later.
fn monday(now: &Zoned, weeks: i32) -> Option<Date> {
    let today = now.date();
    let since = i32::from(today.weekday().to_monday_zero_offset());
    today.checked_add((weeks * 7 - since).days()).ok()
}

pub fn weekday_in(now: &Zoned, weeks: i32, weekday: Weekday) -> Option<Date> {
    let offset = i32::from(weekday.to_monday_zero_offset());
    monday(now, weeks)?.checked_add(offset.days()).ok()
}

pub fn week(now: &Zoned, weeks: i32) -> Option<Days> {
    let first = monday(now, weeks)?;
    Some((first, first.checked_add(6.days()).ok()?))
}

pub fn weekend(now: &Zoned, weeks: i32) -> Option<Days> {
    let saturday = weekday_in(now, weeks, Weekday::Saturday)?;
    Some((saturday, saturday.tomorrow().ok()?))
}

/// The next such day, or today.
pub fn coming(now: &Zoned, weekday: Weekday) -> Option<Date> {
    let today = now.date();
    let until = i32::from(weekday.since(today.weekday()));
    today.checked_add(until.days()).ok()
}

pub fn later(now: &Zoned, days: i32) -> Option<Date> {
    now.date()
        .checked_add(Span::new().try_days(days).ok()?)
        .ok()
}

pub fn month(now: &Zoned, months: i32) -> Option<Days> {
    let first = now
        .date()
        .first_of_month()
        .checked_add(months.months())
        .ok()?;
    Some((first, first.last_of_month()))
}

pub fn year(now: &Zoned, years: i32) -> Option<Days> {
    let first = now.date().first_of_year().checked_add(years.years()).ok()?;
    Some((first, first.last_of_year()))
}

/// A day of a month, in the next year if this year's has passed.
pub fn day_of_year(now: &Zoned, month: i8, day: i8) -> Option<Date> {
    let of = |year: i16| Date::new(year, month, day).ok();
    let this = of(now.year());
    match this.filter(|day| *day >= now.date()) {
        Some(day) => Some(day),
        // 29 February may be years away.
        None => (1..=8).find_map(|years| of(now.year() + years)),
    }
}

/// The next such day of a month.
pub fn day_of_month(now: &Zoned, day: i8) -> Option<Date> {
    (0..12).find_map(|months| {
        let (first, _) = month(now, months)?;
        let day = Date::new(first.year(), first.month(), day).ok()?;
        (day >= now.date()).then_some(day)
    })
}

/// `2026-11-20`, `2026/11/20`, `11/20`.
pub fn numeric_day(text: &str, now: &Zoned) -> Option<Date> {
    let parts: Vec<i16> = text
        .split(['-', '/'])
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    let small = |number: i16| i8::try_from(number).ok();
    match parts.as_slice() {
        [year @ 1000..=9999, month, day] => Date::new(*year, small(*month)?, small(*day)?).ok(),
        [month, day] if text.contains('/') => day_of_year(now, small(*month)?, small(*day)?),
        _ => None,
    }
}
