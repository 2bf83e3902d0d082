//! A booking as an entry for the customer's calendar.

use jiff::{Timestamp, tz::TimeZone};
use kit::ics::{FoldedLines, escape, utc};

pub struct CalendarEntry<'a> {
    pub ticket_id: &'a str,
    pub version: i64,
    pub title: &'a str,
    pub description: &'a str,
    pub location: &'a str,
    pub starts_at: Timestamp,
    pub ends_at: Timestamp,
    pub zone: &'a TimeZone,
    pub changed_at: Timestamp,
    pub is_cancelled: bool,
}

/// An `.ics` file (RFC 5545). A new version of the booking replaces the older entry.
pub fn calendar_file(entry: &CalendarEntry<'_>) -> String {
    let mut lines = FoldedLines::default();
    lines.put("BEGIN", "VCALENDAR");
    lines.put("VERSION", "2.0");
    lines.put("PRODID", "-//Madoguchi//Cinema//EN");
    lines.put("METHOD", "PUBLISH");
    lines.put_zone(entry.zone, entry.starts_at, entry.ends_at);
    lines.put("BEGIN", "VEVENT");
    lines.put("UID", &format!("{}@madoguchi", entry.ticket_id));
    lines.put("DTSTAMP", &utc(entry.changed_at));
    lines.put("SEQUENCE", &(entry.version - 1).to_string());
    lines.put_local("DTSTART", entry.starts_at, entry.zone);
    lines.put_local("DTEND", entry.ends_at, entry.zone);
    lines.put("SUMMARY", &escape(entry.title));
    lines.put("LOCATION", &escape(entry.location));
    lines.put("DESCRIPTION", &escape(entry.description));
    let status = match entry.is_cancelled {
        true => "CANCELLED",
        false => "CONFIRMED",
    };
    lines.put("STATUS", status);
    lines.put("END", "VEVENT");
    lines.put("END", "VCALENDAR");
    lines.into_text()
}
