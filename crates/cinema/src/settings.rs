//! What an operator can set for this counter.

use std::num::NonZeroU8;

use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The IANA time zone the cinema keeps: what "today" is, and when a show begins.
    #[serde(deserialize_with = "known_zone")]
    pub time_zone: String,
    /// How many seats one reservation may have.
    pub max_seats_per_booking: NonZeroU8,
    /// How many seats of one screening one caller may have; 0 for no limit. All callers without a key count as one.
    pub max_seats_per_caller: u32,
    /// How many seats one hold may have. A hold of more than max_seats_per_booking is booked as one.
    pub max_seats_per_group: NonZeroU8,
    /// How many seats one caller may hold at a time, over all screenings; 0 for no limit.
    pub max_held_seats_per_caller: u32,
    /// How many minutes a hold lasts.
    pub hold_minutes: NonZeroU8,
    /// How many minutes a hold may last in all, however often it is extended.
    pub max_hold_minutes: NonZeroU8,
    /// How many minutes before its start a screening is no longer sold; negative for minutes after it.
    #[schemars(range(min = -240, max = 1440))]
    #[serde(deserialize_with = "closing_minutes")]
    pub sales_close_minutes: i16,
    /// How many minutes freed seats are kept for the first party on the waiting list.
    pub waiting_offer_minutes: NonZeroU8,
    /// How many parties may wait for one screening; at most 1000.
    pub max_waiting_per_show: u32,
    /// How many of them one caller may have; 0 for no limit. All callers without a key count as one.
    pub max_waiting_per_caller: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            time_zone: "Asia/Tokyo".into(),
            max_seats_per_booking: minutes_or_seats(10),
            // A box office sells whole halls with one key.
            max_seats_per_caller: 0,
            max_seats_per_group: minutes_or_seats(50),
            max_held_seats_per_caller: 100,
            hold_minutes: minutes_or_seats(10),
            max_hold_minutes: minutes_or_seats(30),
            sales_close_minutes: 0,
            waiting_offer_minutes: minutes_or_seats(10),
            max_waiting_per_show: 100,
            max_waiting_per_caller: 20,
        }
    }
}

const fn minutes_or_seats(number: u8) -> NonZeroU8 {
    match NonZeroU8::new(number) {
        Some(number) => number,
        None => NonZeroU8::MIN,
    }
}

impl Settings {
    /// An unknown zone in a configuration is refused when it is read. Only settings
    /// made in code can need the fallback.
    pub(crate) fn zone(&self) -> TimeZone {
        kit::time::zone(&self.time_zone).unwrap_or(TimeZone::UTC)
    }
}

fn known_zone<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    match kit::time::zone(&name) {
        Some(_) => Ok(name),
        None => Err(D::Error::custom(format!(
            "`{name}` is not an IANA time zone such as `Asia/Tokyo`"
        ))),
    }
}

/// From four hours after the start to a day before it.
fn closing_minutes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i16, D::Error> {
    let minutes = i16::deserialize(deserializer)?;
    match (-240..=1440).contains(&minutes) {
        true => Ok(minutes),
        false => Err(D::Error::custom(format!(
            "`sales_close_minutes` is {minutes}; it must be from -240 to 1440"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_checked_when_read() {
        let read = |text| serde_json::from_str::<Settings>(text);
        assert_eq!(read("{}").unwrap(), Settings::default());
        assert!(read(r#"{"time_zone": "Europe/Paris"}"#).is_ok());
        let refused = read(r#"{"time_zone": "Asia/Tokio"}"#).unwrap_err();
        assert!(refused.to_string().contains("Asia/Tokio"), "{refused}");
        assert!(read(r#"{"max_seats_per_booking": 0}"#).is_err());
        assert!(read(r#"{"sales_close_minutes": -15}"#).is_ok());
        assert!(read(r#"{"sales_close_minutes": 2000}"#).is_err());
        assert!(read(r#"{"timezone": "Asia/Tokyo"}"#).is_err());
    }
}
