//! Some days of a calendar, and what is on them.

use jiff::{Timestamp, civil::Date, tz::TimeZone};

use super::link::Query;

/// The console puts the entries on the days of its reader's zone.
#[derive(Debug, Clone)]
pub struct Calendar {
    pub label: String,
    /// The zone of the counter.
    pub zone: TimeZone,
    /// A Monday.
    pub first: Date,
    pub days: usize,
    /// Other days are shown faintly: year and month. `None`: all are shown alike.
    pub month: Option<(i16, i8)>,
    /// A day with more entries says how many are left out.
    pub most_a_day: usize,
    /// The query that leads to one day, without the day itself.
    pub day_query: Query,
    /// The parameter of the query that gets the day, as `2026-11-16`.
    pub day_parameter: &'static str,
    /// In the order of their times.
    pub entries: Vec<CalendarEntry>,
}

#[derive(Debug, Clone)]
pub struct CalendarEntry {
    pub title: String,
    /// Such as the place.
    pub note: String,
    pub when: EntryTime,
    /// Leads to more about it.
    pub query: Query,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryTime {
    /// From a time to another.
    Span(Timestamp, Timestamp),
    /// From the first day to the last, wherever the reader is.
    Days(Date, Date),
}
