//! Which occurrence of a series a call means by `date`.

use jiff::{
    civil::{Date, Time},
    tz::TimeZone,
};
use kit::{Context, Error, Result};

use crate::{
    answers::timestamp,
    bounds::STEPS_OF_A_CALL,
    errors,
    model::{
        exceptions::Occurrence,
        moment::{Here, instant, rfc3339_millis},
        repeat::Steps,
        series::Series,
    },
    state::here,
};

/// The `date` of a call; `None` means everything. An empty one of a series is refused:
/// a model that left it blank must not cancel or move the whole series.
pub fn given(date: Option<String>, name: &str, is_series: bool) -> Result<Option<String>> {
    match date.as_deref() {
        Some("") if is_series => Err(errors::empty_date(name)),
        Some("" | "all" | "series" | "全部" | "すべて" | "全て") | None => Ok(None),
        Some(_) => Ok(date),
    }
}

/// The day that `date` names, and the occurrences of a series then. A time names one.
pub fn named(
    context: &Context,
    series: &Series<'_>,
    date: &str,
) -> Result<(Date, Vec<Occurrence>)> {
    let here = Here {
        zone: series.start.zone.clone(),
        ..here(context)
    };
    let (day, at) = here
        .day_or_time(date)
        .map_err(|why| errors::invalid_time("date", date, why, &here))?;
    let mut found = series.on_day(day, &Steps::new(STEPS_OF_A_CALL));
    found.retain(|one| at.is_none_or(|at| at.as_millisecond() == one.start));
    Ok((day, found))
}

/// The only one of the occurrences that were found for `day`.
pub fn single(
    name: &str,
    series: &Series<'_>,
    day: Date,
    found: &[Occurrence],
) -> Result<Occurrence> {
    match found {
        [one] => Ok(*one),
        [] => Err(none_on(name, series, day, i64::MIN)),
        several => Err(several_on(name, series, several)),
    }
}

/// Refuses a day on which one occurrence was moved beside others: the call may mean
/// any of them. The times that a rule gives one day are cancelled together.
pub fn check_is_clear(name: &str, series: &Series<'_>, found: &[Occurrence]) -> Result<()> {
    let zone = &series.start.zone;
    let is_from_elsewhere =
        |one: &Occurrence| date_of(one.original, zone) != date_of(one.start, zone);
    match found.len() > 1 && found.iter().any(is_from_elsewhere) {
        true => Err(several_on(name, series, found)),
        false => Ok(()),
    }
}

/// Refuses to move an occurrence to the time of another one.
pub fn check_is_free(name: &str, series: &Series<'_>, moved: &Occurrence, to: i64) -> Result<()> {
    let steps = Steps::new(STEPS_OF_A_CALL);
    let others = series.between(to - 1, to + 1, usize::MAX, &steps);
    match others.iter().any(|one| one.original != moved.original) {
        true => Err(errors::occurrence_exists(
            name,
            &rfc3339_millis(to, &series.start.zone),
        )),
        false => Ok(()),
    }
}

fn several_on(name: &str, series: &Series<'_>, found: &[Occurrence]) -> Error {
    let zone = &series.start.zone;
    let times = found.iter().map(|one| rfc3339_millis(one.start, zone));
    errors::several_that_day(name, &times.collect::<Vec<_>>())
}

/// The error for a day without any occurrence, with days around it.
pub fn none_on(name: &str, series: &Series<'_>, day: Date, earliest: i64) -> Error {
    let zone = &series.start.zone;
    let from = instant(day.to_datetime(Time::midnight()), zone);
    let from = from.map_or(0, |at| at.as_millisecond()) - NEAR_MS;
    let steps = Steps::new(STEPS_OF_A_CALL);
    let near = series.between(from.max(earliest), i64::MAX, 4, &steps);
    let days = near.iter().map(|one| date_of(one.start, zone).to_string());
    let mut days: Vec<String> = days.collect();
    days.dedup();
    errors::no_occurrence(name, day, &days)
}

/// A little more than a week.
const NEAR_MS: i64 = 8 * 24 * 60 * 60_000;

fn date_of(at: i64, zone: &TimeZone) -> Date {
    timestamp(at).to_zoned(zone.clone()).date()
}
