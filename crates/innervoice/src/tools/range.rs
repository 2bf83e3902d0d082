//! The range of time that a list is about.

use jiff::{Timestamp, ToSpan as _};
use kit::{Context, Language, Result};

use crate::{
    errors,
    model::{moment::rfc3339, spoken},
    state::here,
};

pub struct Range {
    pub from: Timestamp,
    pub to: Timestamp,
}

impl Range {
    /// From now on, unless it is given, for so many days, unless the end is given.
    pub fn of(context: &Context, from: Option<&str>, to: Option<&str>, days: i32) -> Result<Self> {
        let here = here(context);
        let bound = |field: &str, text: &str, is_end| {
            here.bound(text, is_end)
                .map_err(|why| errors::invalid_time(field, text, why, &here))
        };
        let from = match from {
            None => here.now,
            Some(text) => bound("from", text, false)?,
        };
        let to = match to {
            Some(text) => bound("to", text, true)?,
            None => from
                .to_zoned(here.zone.clone())
                .checked_add(days.days())
                .map_or(from, |zoned| zoned.timestamp()),
        };
        match to > from {
            true => Ok(Self { from, to }),
            false => Err(errors::empty_range()),
        }
    }

    pub fn millis(&self) -> (i64, i64) {
        (self.from.as_millisecond(), self.to.as_millisecond())
    }

    /// The first and the last day, as a voice says them.
    pub fn spoken(&self, context: &Context) -> String {
        let day =
            |at: Timestamp| spoken::day(at, &context.zone, context.clock.now(), context.language);
        let last = self.to - jiff::SignedDuration::from_secs(1);
        let (first, last) = (day(self.from), day(last));
        match context.language {
            _ if first == last => first,
            Language::English => format!("from {first} to {last}"),
            Language::Japanese => format!("{first}から{last}まで"),
        }
    }

    pub fn rfc3339(&self, context: &Context) -> (String, String) {
        (
            rfc3339(self.from, &context.zone),
            rfc3339(self.to, &context.zone),
        )
    }
}
