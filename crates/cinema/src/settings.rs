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
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            time_zone: "Asia/Tokyo".into(),
            max_seats_per_booking: NonZeroU8::MIN.saturating_add(9),
            // A box office sells whole halls with one key.
            max_seats_per_caller: 0,
        }
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
        assert!(read(r#"{"timezone": "Asia/Tokyo"}"#).is_err());
    }
}
