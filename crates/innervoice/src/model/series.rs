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
        let is_within = |start: i64| start > after && start < before;
        let Some(rule) = &self.rule else {
            let once = Some(self.first).filter(|first| is_within(*first) && count > 0);
            return once.into_iter().map(unmoved).collect();
        };
        let wanted = count.saturating_add(self.exceptions.len());
        let times = rule.times_before(
            &self.start,
            timestamp(after),
            timestamp(before),
            wanted,
            steps,
        );
        let times = times.unwrap_or_else(|TooCostly { found }| found);
        let times = times.into_iter().map(Timestamp::as_millisecond);
        let mut found: Vec<Occurrence> = times
            .filter(|time| !self.exceptions.contains(*time))
            .map(unmoved)
            .chain(self.exceptions.moved())
            .filter(|one| is_within(one.start))
            .collect();
        found.sort_unstable_by_key(|one| one.start);
        found.truncate(count);
        found
    }

    /// The occurrences that start on a day.
    pub fn on_day(&self, day: Date, steps: &Steps) -> Vec<Occurrence> {
        let midnight = |day: Date| instant(day.to_datetime(Time::midnight()), &self.start.zone);
        match (midnight(day), day.tomorrow().ok().and_then(midnight)) {
            (Some(from), Some(to)) => {
                let after = from.as_millisecond() - 1;
                self.between(after, to.as_millisecond(), usize::MAX, steps)
            }
            _ => Vec::new(),
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
