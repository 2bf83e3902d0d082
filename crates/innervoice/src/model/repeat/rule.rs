//! A repetition rule of RFC 5545, and its start.

use jiff::{
    Timestamp,
    civil::{Date, DateTime, Weekday},
    tz::TimeZone,
};

use crate::model::moment::instant;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub(super) freq: Freq,
    pub(super) interval: i32,
    pub(super) by_month: Vec<i8>,
    pub(super) by_month_day: Vec<i8>,
    /// A weekday, or the n-th one of a month (or, yearly without months, of a year);
    /// in the order of [`day_key`].
    pub(super) by_day: Vec<(Option<i8>, Weekday)>,
    pub(super) by_hour: Vec<i8>,
    pub(super) by_minute: Vec<i8>,
    pub(super) by_set_pos: Vec<i32>,
    pub(super) week_start: Weekday,
    pub(super) count: Option<u32>,
    pub(super) until: Option<Until>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freq {
    Hourly,
    Daily,
    Weekly,
    Monthly,
    Yearly,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// The whole day counts.
    Date(Date),
    Local(DateTime),
    At(Timestamp),
}

/// The first time of a series.
#[derive(Debug, Clone)]
pub struct Start {
    pub local: DateTime,
    pub zone: TimeZone,
}

impl Start {
    pub fn new(at: Timestamp, zone: &TimeZone) -> Self {
        Self {
            local: at.to_zoned(zone.clone()).datetime(),
            zone: zone.clone(),
        }
    }
}

impl Rule {
    /// Whether BYDAY has this weekday, with this number or without any.
    pub(super) fn names_day(&self, number: Option<i8>, weekday: Weekday) -> bool {
        let key = day_key(&(number, weekday));
        self.by_day.binary_search_by_key(&key, day_key).is_ok()
    }

    /// The last instant that UNTIL allows, and the day if it is one.
    pub fn until_in(&self, zone: &TimeZone) -> Option<(Timestamp, Date)> {
        Some(match self.until? {
            Until::Date(date) => (instant(date.at(23, 59, 59, 0), zone)?, date),
            Until::Local(local) => (instant(local, zone)?, local.date()),
            Until::At(at) => (at, at.to_zoned(zone.clone()).date()),
        })
    }

    /// Whether UNTIL excludes this time.
    pub(super) fn is_over(&self, start: &Start, at: Timestamp) -> bool {
        let local = || at.to_zoned(start.zone.clone()).datetime();
        match self.until {
            None => false,
            Some(Until::Date(date)) => local().date() > date,
            Some(Until::Local(until)) => local() > until,
            Some(Until::At(until)) => at > until,
        }
    }
}

/// The order of BYDAY.
pub(super) fn day_key((number, weekday): &(Option<i8>, Weekday)) -> (i8, Option<i8>) {
    (weekday.to_monday_zero_offset(), *number)
}

/// A rule whose only day was that of `from`, for a series that begins on `to`:
/// every Thursday becomes every Friday. Other rules stay.
pub fn moved(rule: &str, from: Date, to: Date) -> String {
    let parts = rule.split(';').map(|part| {
        let day = |date: Date| format!("BYDAY={}", code(date.weekday()));
        let month_day = |date: Date| format!("BYMONTHDAY={}", date.day());
        let month = |date: Date| format!("BYMONTH={}", date.month());
        for write in [&day as &dyn Fn(Date) -> String, &month_day, &month] {
            if part == write(from) {
                return write(to);
            }
        }
        part.to_owned()
    });
    parts.collect::<Vec<_>>().join(";")
}

fn code(weekday: Weekday) -> &'static str {
    match weekday {
        Weekday::Monday => "MO",
        Weekday::Tuesday => "TU",
        Weekday::Wednesday => "WE",
        Weekday::Thursday => "TH",
        Weekday::Friday => "FR",
        Weekday::Saturday => "SA",
        Weekday::Sunday => "SU",
    }
}
