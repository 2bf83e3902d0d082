//! From a rule to civil times, one period (day, week, month, year) after another.
//!
//! The times of a period are the product of its days, hours and minutes. They
//! are not listed: each is computed from its index. So a rule that names every
//! minute of a year costs its days and the times that are used.

use std::rc::Rc;

use jiff::{
    Timestamp, ToSpan,
    civil::{Date, DateTime, Weekday, date},
};

use super::{
    rule::{Freq, Rule, Start},
    steps::{Steps, TooCostly},
};
use crate::model::moment;

/// How far ahead the next time is searched.
const HORIZON_YEARS: i16 = 60;

impl Rule {
    /// The next times after `after`, at most `count`. Fewer if the rule ends, or has
    /// no more times within sixty years.
    pub fn next_times(
        &self,
        start: &Start,
        after: Timestamp,
        count: usize,
        steps: &Steps,
    ) -> Result<Vec<Timestamp>, TooCostly> {
        self.times_before(start, after, Timestamp::MAX, count, steps)
    }

    /// The same, before `before`.
    pub fn times_before(
        &self,
        start: &Start,
        after: Timestamp,
        before: Timestamp,
        count: usize,
        steps: &Steps,
    ) -> Result<Vec<Timestamp>, TooCostly> {
        let within = self.times(start, after, steps);
        let within = within.take_while(|at| *at < before);
        let found: Vec<Timestamp> = within.take(count).collect();
        match found.len() < count && steps.ran_out() {
            true => Err(TooCostly { found }),
            false => Ok(found),
        }
    }

    /// The last time; `None` without an end, or if it takes too many steps to find.
    pub fn last_time(&self, start: &Start, steps: &Steps) -> Option<Timestamp> {
        if self.count.is_none() && self.until.is_none() {
            return None;
        }
        let last = self.times(start, Timestamp::MIN, steps).last();
        last.filter(|_| !steps.ran_out())
    }

    /// All times after `after`, in order, each once, as far as the steps go.
    fn times<'a>(
        &'a self,
        start: &'a Start,
        after: Timestamp,
        steps: &'a Steps,
    ) -> impl Iterator<Item = Timestamp> + 'a {
        let mut last = after;
        civil(self, start, after, steps)
            .map_while(move |found| {
                let at = match found {
                    CivilTime::Local(local) => moment::instant(local, &start.zone)?,
                    CivilTime::At(at) => at,
                };
                (!self.is_over(start, at)).then_some(at)
            })
            .filter(move |at| {
                // Two civil times of a skipped hour can be one instant.
                let is_new = *at > last;
                if is_new {
                    last = *at;
                }
                is_new
            })
    }
}

enum CivilTime {
    Local(DateTime),
    At(Timestamp),
}

/// The rule's times from its start on, in order. Those long before `after` are
/// left out. Ends early when `steps` run out.
fn civil<'a>(
    rule: &'a Rule,
    start: &'a Start,
    after: Timestamp,
    steps: &'a Steps,
) -> Box<dyn Iterator<Item = CivilTime> + 'a> {
    if rule.freq == Freq::Hourly {
        return Box::new(hours(rule, start, after, steps));
    }
    let from = after.to_zoned(start.zone.clone()).date();
    let skipped = match rule.count {
        // COUNT counts from the start, so nothing can be skipped.
        Some(_) => 0,
        None => periods_before(rule, start, from),
    };
    // The search for a rule that never comes true must end.
    let end = from
        .max(start.local.date())
        .year()
        .saturating_add(HORIZON_YEARS);
    // One day of slack: a zone can move its clocks by a day.
    let earliest = from.yesterday().unwrap_or(from).at(0, 0, 0, 0);
    let of_day = Rc::new(TimesOfDay::new(rule, start));
    let mut left = rule.count.map_or(usize::MAX, |count| count as usize);
    let times = (skipped..)
        .map_while(move |at| period(rule, start, at).filter(|first| first.year() <= end))
        .map_while(move |first| {
            if left == 0 {
                return None;
            }
            let times = Times::of(rule, days(rule, start, first, steps)?, &of_day);
            let first = times.position(start.local);
            let end = times.len().min(first.saturating_add(left));
            // Times before `after` are counted without being computed.
            left -= end - first;
            Some((times.position(earliest).max(first)..end, times))
        })
        .flat_map(move |(range, times)| {
            range.map_while(move |at| times.get(at).filter(|_| steps.take(1)))
        });
    Box::new(times.map(CivilTime::Local))
}

/// Hours are elapsed hours, not wall-clock hours.
fn hours<'a>(
    rule: &'a Rule,
    start: &'a Start,
    after: Timestamp,
    steps: &'a Steps,
) -> impl Iterator<Item = CivilTime> + 'a {
    let first = moment::instant(start.local, &start.zone);
    let step = i64::from(rule.interval) * 3_600;
    let passed = first.map_or(0, |first| {
        ((after.as_second() - first.as_second()) / step).max(0)
    });
    let end = rule.count.map_or(i64::MAX, i64::from);
    (passed..end).map_while(move |nth| {
        let at = first?.as_second().checked_add(nth.checked_mul(step)?)?;
        let at = Timestamp::from_second(at).ok().map(CivilTime::At);
        at.filter(|_| steps.take(1))
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

/// A lower bound of how many periods end before `from`.
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

/// The days of a period that the rule names, in order. Each day examined takes a
/// step; `None` when the steps ran out.
fn days(rule: &Rule, start: &Start, first: Date, steps: &Steps) -> Option<Vec<Date>> {
    let mut days = match rule.freq {
        Freq::Hourly => Vec::new(),
        Freq::Daily => days_from(first, 1, steps)?,
        Freq::Weekly => week(rule, start, days_from(first, 7, steps)?),
        Freq::Monthly => month(rule, start, first, steps)?,
        Freq::Yearly => year(rule, start, first, steps)?,
    };
    days.retain(|day| rule.by_month.is_empty() || rule.by_month.contains(&day.month()));
    if rule.freq == Freq::Daily {
        days.retain(|day| is_month_day(rule, *day) && is_weekday(rule, *day));
    }
    days.sort_unstable();
    days.dedup();
    Some(days)
}

/// The times of day of a rule.
struct TimesOfDay {
    hours: Vec<i8>,
    minutes: Vec<i8>,
    second: i8,
}

impl TimesOfDay {
    fn new(rule: &Rule, start: &Start) -> Self {
        let or_start = |own: &[i8], start: i8| match own {
            [] => vec![start],
            own => own.to_vec(),
        };
        Self {
            hours: or_start(&rule.by_hour, start.local.hour()),
            minutes: or_start(&rule.by_minute, start.local.minute()),
            second: match rule.by_minute.as_slice() {
                [] => start.local.second(),
                _ => 0,
            },
        }
    }

    fn len(&self) -> usize {
        self.hours.len() * self.minutes.len()
    }

    fn on(&self, day: Date, at: usize) -> Option<DateTime> {
        let hour = self.hours.get(at / self.minutes.len())?;
        let minute = self.minutes.get(at % self.minutes.len())?;
        Some(day.at(*hour, *minute, self.second, 0))
    }
}

/// All times of one period, in order.
struct Times {
    days: Vec<Date>,
    of_day: Rc<TimesOfDay>,
    /// The positions that BYSETPOS picks.
    picked: Option<Vec<usize>>,
}

impl Times {
    fn of(rule: &Rule, days: Vec<Date>, of_day: &Rc<TimesOfDay>) -> Self {
        let all = days.len() * of_day.len();
        let picked = (!rule.by_set_pos.is_empty()).then(|| {
            let positions = rule.by_set_pos.iter();
            let mut picked: Vec<usize> = positions.filter_map(|at| index(all, *at)).collect();
            picked.sort_unstable();
            picked.dedup();
            picked
        });
        Self {
            days,
            of_day: Rc::clone(of_day),
            picked,
        }
    }

    fn len(&self) -> usize {
        match &self.picked {
            Some(picked) => picked.len(),
            None => self.days.len() * self.of_day.len(),
        }
    }

    fn get(&self, at: usize) -> Option<DateTime> {
        let at = match &self.picked {
            Some(picked) => *picked.get(at)?,
            None => at,
        };
        let day = self.days.get(at / self.of_day.len())?;
        self.of_day.on(*day, at % self.of_day.len())
    }

    /// How many times come before `local`.
    fn position(&self, local: DateTime) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle) {
                Some(time) if time < local => low = middle + 1,
                _ => high = middle,
            }
        }
        low
    }
}

fn week(rule: &Rule, start: &Start, mut days: Vec<Date>) -> Vec<Date> {
    days.retain(|day| match rule.by_day.as_slice() {
        [] => day.weekday() == start.local.weekday(),
        _ => is_weekday(rule, *day),
    });
    days
}

fn month(rule: &Rule, start: &Start, first: Date, steps: &Steps) -> Option<Vec<Date>> {
    let all = days_from(first, i32::from(first.days_in_month()), steps)?;
    Some(match (&*rule.by_month_day, &*rule.by_day) {
        ([], []) => {
            let same = |day: &Date| day.day() == start.local.day();
            all.into_iter().filter(same).collect()
        }
        ([], _) => weekdays_among(rule, all),
        (_, []) => {
            let named = |day: &Date| is_month_day(rule, *day);
            all.into_iter().filter(named).collect()
        }
        _ => {
            let mut found = weekdays_among(rule, all);
            found.retain(|day| is_month_day(rule, *day));
            found
        }
    })
}

fn year(rule: &Rule, start: &Start, first: Date, steps: &Steps) -> Option<Vec<Date>> {
    let selects_days = !rule.by_month_day.is_empty() || !rule.by_day.is_empty();
    // Without months, numbered weekdays count within the year.
    if rule.by_month.is_empty() && rule.by_month_day.is_empty() && !rule.by_day.is_empty() {
        let days = days_from(first, i32::from(first.days_in_year()), steps)?;
        return Some(weekdays_among(rule, days));
    }
    let months: Vec<i8> = if !rule.by_month.is_empty() {
        rule.by_month.clone()
    } else if selects_days {
        (1..=12).collect()
    } else {
        vec![start.local.month()]
    };
    let mut days = Vec::new();
    for of_year in months {
        days.extend(month(rule, start, date(first.year(), of_year, 1), steps)?);
    }
    Some(days)
}

/// The days of `days` (a whole month or year) that fall on a weekday of the rule.
fn weekdays_among(rule: &Rule, days: Vec<Date>) -> Vec<Date> {
    let last = days.len().saturating_sub(1);
    // Which Monday, Tuesday, … of the period it is.
    let number = |days: usize| i8::try_from(days / 7 + 1).ok();
    days.into_iter()
        .enumerate()
        .filter(|(at, day)| {
            let from_end = number(last - at).map(|number| -number);
            [None, number(*at), from_end]
                .into_iter()
                .any(|number| rule.names_day(number, day.weekday()))
        })
        .map(|(_, day)| day)
        .collect()
}

fn is_weekday(rule: &Rule, day: Date) -> bool {
    rule.by_day.is_empty() || rule.names_day(None, day.weekday())
}

fn is_month_day(rule: &Rule, day: Date) -> bool {
    let from_end = day.day() - day.days_in_month() - 1;
    rule.by_month_day.is_empty()
        || rule.by_month_day.contains(&day.day())
        || rule.by_month_day.contains(&from_end)
}

/// An index into `len` items, counted from 1, or from -1 at the end.
fn index(len: usize, at: i32) -> Option<usize> {
    let steps = usize::try_from(at.unsigned_abs()).ok()?;
    let index = match at > 0 {
        true => steps - 1,
        false => len.checked_sub(steps)?,
    };
    (index < len).then_some(index)
}

fn days_from(first: Date, count: i32, steps: &Steps) -> Option<Vec<Date>> {
    if !steps.take(count.unsigned_abs()) {
        return None;
    }
    let days = (0..count).map_while(|at| first.checked_add(at.days()).ok());
    Some(days.collect())
}
