//! Writes the rules that words stand for.

use jiff::civil::DateTime;

/// Weekdays as rules spell them.
pub const CODES: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

pub const WORKDAYS: [&str; 5] = ["MO", "TU", "WE", "TH", "FR"];

pub fn every(interval: u32, freq: &str) -> String {
    match interval {
        1 => format!("FREQ={freq}"),
        _ => format!("FREQ={freq};INTERVAL={interval}"),
    }
}

pub fn days(interval: u32, named: &[&str]) -> String {
    let in_order: Vec<&str> = CODES
        .into_iter()
        .filter(|code| named.contains(code))
        .collect();
    format!("{};BYDAY={}", every(interval, "WEEKLY"), in_order.join(","))
}

/// All days from `first` to `last`, across the end of the week if necessary.
pub fn days_through(first: &str, last: &str) -> Option<Vec<&'static str>> {
    let at = |code: &str| CODES.iter().position(|known| *known == code);
    let (first, last) = (at(first)?, at(last)?);
    let count = (last + CODES.len() - first) % CODES.len() + 1;
    Some(CODES.into_iter().cycle().skip(first).take(count).collect())
}

pub fn weekly(interval: u32, start: DateTime) -> String {
    let at = usize::try_from(start.weekday().to_monday_zero_offset()).unwrap_or_default();
    let code = CODES.get(at).copied().unwrap_or("MO");
    days(interval, &[code])
}

pub fn monthly(interval: u32, day: i8) -> String {
    format!("{};{}", every(interval, "MONTHLY"), or_last(day))
}

pub fn yearly(interval: u32, start: DateTime) -> String {
    let day = match (start.month(), start.day()) {
        (2, 29) => or_last(29),
        (_, day) => format!("BYMONTHDAY={day}"),
    };
    format!(
        "{};BYMONTH={};{day}",
        every(interval, "YEARLY"),
        start.month()
    )
}

pub fn nth_weekday(number: i8, day: &str) -> String {
    format!("FREQ=MONTHLY;BYDAY={number}{day}")
}

/// The day, or the last day of a shorter month.
fn or_last(day: i8) -> String {
    match day {
        29 => "BYMONTHDAY=28,29;BYSETPOS=-1".into(),
        30 => "BYMONTHDAY=28,29,30;BYSETPOS=-1".into(),
        31 => "BYMONTHDAY=-1".into(),
        _ => format!("BYMONTHDAY={day}"),
    }
}
