//! Times as commands print them.

use jiff::{Timestamp, tz::TimeZone};

/// For programs, in UTC.
pub fn utc(ms: i64) -> String {
    Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |at| at.to_string())
}

/// For people, in their own time zone.
pub fn local(ms: i64) -> String {
    match Timestamp::from_millisecond(ms) {
        Ok(at) => {
            let at = at.to_zoned(TimeZone::system());
            at.strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
        }
        Err(_) => ms.to_string(),
    }
}
