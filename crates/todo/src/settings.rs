//! What an operator can set for this counter.

use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The project whose `.todo/` is served.
    pub root: String,
    /// Whether items that people add to task.md without an id get one at once;
    /// otherwise they get it when an agent first changes them.
    pub number_items: bool,
    /// Whether index.md is kept current.
    pub keep_index: bool,
    /// The IANA time zone that says what day it is and how times are written;
    /// `local` is the machine's own.
    #[serde(deserialize_with = "known_zone")]
    pub time_zone: String,
}

const LOCAL: &str = "local";

impl Default for Settings {
    fn default() -> Self {
        Self {
            root: ".".into(),
            number_items: false,
            keep_index: true,
            time_zone: LOCAL.into(),
        }
    }
}

impl Settings {
    /// An unknown zone in a configuration is rejected when it is read, so
    /// the fallback only applies to settings built in code.
    pub(crate) fn zone(&self) -> TimeZone {
        if self.time_zone == LOCAL {
            return TimeZone::system();
        }
        TimeZone::get(&self.time_zone).unwrap_or(TimeZone::UTC)
    }
}

fn known_zone<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    if name == LOCAL || TimeZone::get(&name).is_ok() {
        return Ok(name);
    }
    Err(D::Error::custom(format!(
        "`{name}` is neither `local` nor an IANA time zone such as `Asia/Tokyo`"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_time_zones_are_rejected() {
        let read = |text| serde_json::from_str::<Settings>(text);
        assert_eq!(read("{}").unwrap(), Settings::default());
        assert!(read(r#"{"time_zone": "Europe/Paris"}"#).is_ok());
        assert!(read(r#"{"time_zone": "Asia/Tokio"}"#).is_err());
        assert!(read(r#"{"rooot": "."}"#).is_err());
    }
}
