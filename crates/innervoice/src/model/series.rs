//! The times of something that comes once or repeatedly, with its exceptions.

use jiff::{
    Timestamp,
    civil::{Date, Time},
};

use super::{
    exceptions::{Exceptions, Occurrence},
    moment::instant,
    repeat::{Rule, Start, Steps, TooCostly},
};

pub struct Series<'a> {
    /// The first time, in milliseconds.
    pub first: i64,
    pub start: Start,
    pub rule: Option<Rule>,
    pub exceptions: &'a Exceptions,
}

impl Series<'_> {
    /// The occurrences that start after `after` and before `before`, in order, at
    /// most `count`. Fewer if the steps run out.
    pub fn between(&self, after: i64, before: i64, count: usize, steps: &Steps) -> Vec<Occurrence> {
        let wanted = count.saturating_add(self.exceptions.len());
        let times = self.by_rule(after, before, wanted, steps).into_iter();
        if self.rule.is_none() {
            return times.take(count).map(unmoved).collect();
        }
        let mut found: Vec<Occurrence> = times
            .filter(|time| !self.exceptions.contains(*time))
            .map(unmoved)
            .chain(self.exceptions.moved())
            .filter(|one| one.start > after && one.start < before)
            .collect();
        found.sort_unstable_by_key(|one| one.start);
        found.truncate(count);
        found
    }

    /// The times that the rule gives, or the only one.
    fn by_rule(&self, after: i64, before: i64, count: usize, steps: &Steps) -> Vec<i64> {
        let Some(rule) = &self.rule else {
            let is_within = self.first > after && self.first < before;
            return is_within.then_some(self.first).into_iter().collect();
        };
        let times = rule.times_before(
            &self.start,
            timestamp(after),
            timestamp(before),
            count,
            steps,
        );
        let times = times.unwrap_or_else(|TooCostly { found }| found);
        times.into_iter().map(Timestamp::as_millisecond).collect()
    }

    /// The occurrences that start on a day.
    pub fn on_day(&self, day: Date, steps: &Steps) -> Vec<Occurrence> {
        self.bounds_of(day)
            .map_or_else(Vec::new, |(after, before)| {
                self.between(after, before, usize::MAX, steps)
            })
    }

    /// The last millisecond before a day, and the first one after it.
    fn bounds_of(&self, day: Date) -> Option<(i64, i64)> {
        let midnight = |day: Date| instant(day.to_datetime(Time::midnight()), &self.start.zone);
        let (from, to) = (midnight(day)?, midnight(day.tomorrow().ok()?)?);
        Some((from.as_millisecond() - 1, to.as_millisecond()))
    }

    /// What becomes of the exceptions when `after` replaces this series. An exception
    /// belongs to a day: on a day when both series come, it stays. `retime` gives the
    /// new start and end of a moved occurrence.
    pub fn carry_over(
        &self,
        after: &Series<'_>,
        retime: impl Fn((i64, i64)) -> (i64, i64),
        steps: &Steps,
    ) -> CarriedOver {
        let mut carried = CarriedOver::default();
        for (original, moved) in self.exceptions.iter() {
            let day = timestamp(original).to_zoned(self.start.zone.clone()).date();
            match (self.counterpart(after, original, day, steps), moved) {
                (None, _) => carried.dropped.push(Dropped {
                    day,
                    last: moved.map_or(original, |(start, _)| start.max(original)),
                }),
                (Some(original), None) => carried.kept.skip(original),
                (Some(original), Some(moved)) => {
                    let (start, end) = retime(moved);
                    carried.kept.move_to(original, start, end);
                }
            }
        }
        carried.merge(after, steps);
        carried
    }

    /// The time of `after` that stands for a time of this rule: the same one, or the
    /// one with the same place among those of the day.
    fn counterpart(&self, after: &Series<'_>, at: i64, day: Date, steps: &Steps) -> Option<i64> {
        // Without a rule there are no exceptions.
        after.rule.as_ref()?;
        let on_day = |series: &Series<'_>| {
            let (from, to) = series.bounds_of(day)?;
            Some(series.by_rule(from, to, usize::MAX, steps))
        };
        let (olds, news) = (on_day(self)?, on_day(after)?);
        if news.contains(&at) {
            return Some(at);
        }
        let place = olds.iter().position(|old| *old == at)?;
        news.get(place)
            .copied()
            .filter(|_| olds.len() == news.len())
    }
}

/// The exceptions of a changed series.
#[derive(Debug, Default)]
pub struct CarriedOver {
    pub kept: Exceptions,
    pub dropped: Vec<Dropped>,
}

/// An exception on a day when the changed series no longer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dropped {
    pub day: Date,
    /// The original or the moved start, whichever is later.
    pub last: i64,
}

impl CarriedOver {
    /// The days of dropped exceptions that are not over yet.
    pub fn lost_days(&self, now: i64) -> Vec<Date> {
        let coming = self.dropped.iter().filter(|one| one.last > now);
        coming.map(|one| one.day).collect()
    }

    /// An occurrence that was moved to a time at which the changed series comes anyway
    /// is skipped, so that nothing comes twice.
    fn merge(&mut self, after: &Series<'_>, steps: &Steps) {
        let moved: Vec<Occurrence> = self.kept.moved().collect();
        for one in moved {
            let start = one.start;
            let comes_anyway = start != one.original
                && !self.kept.contains(start)
                && after.by_rule(start - 1, start + 1, 1, steps) == [start];
            if comes_anyway {
                self.kept.skip(one.original);
            }
        }
    }
}

fn unmoved(start: i64) -> Occurrence {
    Occurrence {
        original: start,
        start,
        end: None,
    }
}

fn timestamp(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap_or(match millis > 0 {
        true => Timestamp::MAX,
        false => Timestamp::MIN,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> i64 {
        let at: Timestamp = format!("{text}:00+09:00").parse().unwrap();
        at.as_millisecond()
    }

    fn series<'a>(start: &str, rule: &str, exceptions: &'a Exceptions) -> Series<'a> {
        let zone = kit::time::zone("Asia/Tokyo").unwrap();
        let first = at(start);
        Series {
            first,
            start: Start::new(timestamp(first), &zone),
            rule: (!rule.is_empty()).then(|| Rule::parse(rule).unwrap()),
            exceptions,
        }
    }

    /// The 18th is skipped, the 19th is moved to the 21st at noon.
    fn exceptions() -> Exceptions {
        let mut exceptions = Exceptions::default();
        exceptions.skip(at("2026-11-18T08:00"));
        let noon = at("2026-11-21T12:00");
        exceptions.move_to(at("2026-11-19T08:00"), noon, noon);
        exceptions
    }

    #[test]
    fn exceptions_stay_on_their_days() {
        let exceptions = exceptions();
        let before = series("2026-11-16T08:00", "FREQ=DAILY", &exceptions);
        let none = Exceptions::default();
        let plenty = Steps::new(10_000);
        for (start, rule, expected, dropped) in [
            (
                "2026-11-16T09:30",
                "FREQ=DAILY",
                "17T09:30 20T09:30 21T09:30 21T12:00",
                "",
            ),
            (
                "2026-11-16T08:00",
                "FREQ=DAILY;UNTIL=20261120",
                "17T08:00 20T08:00 21T12:00",
                "",
            ),
            // The 21st comes at noon anyway, and only once.
            (
                "2026-11-16T12:00",
                "FREQ=DAILY",
                "17T12:00 20T12:00 21T12:00",
                "",
            ),
            // Wednesdays and Fridays: the 18th stays skipped, the 19th is none of them.
            (
                "2026-11-16T08:00",
                "FREQ=WEEKLY;BYDAY=WE,FR",
                "20T08:00",
                "2026-11-19",
            ),
            ("2026-11-19T08:00", "", "19T08:00", "2026-11-18 2026-11-19"),
            // Two times a day: which one of them was skipped is unknown.
            (
                "2026-11-16T08:00",
                "FREQ=DAILY;BYHOUR=9,10",
                "17T09:00 17T10:00 18T09:00 18T10:00 19T09:00 19T10:00 20T09:00 20T10:00 21T09:00 21T10:00",
                "2026-11-18 2026-11-19",
            ),
        ] {
            let carried = before.carry_over(&series(start, rule, &none), |moved| moved, &plenty);
            let after = series(start, rule, &carried.kept);
            let (from, to) = (at("2026-11-17T00:00"), at("2026-11-22T00:00"));
            let found = after.between(from, to, usize::MAX, &plenty);
            let found = found.iter().map(|one| {
                let local = timestamp(one.start).to_zoned(after.start.zone.clone());
                local.strftime("%dT%H:%M").to_string()
            });
            assert_eq!(
                found.collect::<Vec<_>>().join(" "),
                expected,
                "{start} {rule}"
            );
            let days = carried.dropped.iter().map(|one| one.day.to_string());
            assert_eq!(
                days.collect::<Vec<_>>().join(" "),
                dropped,
                "{start} {rule}"
            );
        }
    }
}
