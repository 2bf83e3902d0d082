//! The counter's settings.

use std::{num::NonZeroU32, path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The variables the counter's document names, and the keys they set.
pub const SEED_VARIABLES: &[(&str, &str)] = &[
    ("AGENT_COMM_DATA_DIR", "data_dir"),
    ("AGENT_COMM_LOCK_TIMEOUT", "lock_timeout_ms"),
    ("AGENT_COMM_MAX_MESSAGES", "max_messages"),
    ("AGENT_COMM_MAX_ROOMS", "max_rooms"),
];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Where `rooms.json` and `rooms/` are kept. Several processes may share it. Setting it keeps
    /// rooms in files when everything else is on PostgreSQL.
    pub data_dir: PathBuf,
    /// How long a write waits, in milliseconds, while another process holds a room's lock.
    pub lock_timeout_ms: u64,
    /// How many messages a room's log holds; beyond it the oldest move to the archive beside it.
    pub max_messages: NonZeroU32,
    /// How many rooms there may be.
    pub max_rooms: NonZeroU32,
    /// After how many minutes without a sign of life an agent counts as offline.
    pub idle_minutes: NonZeroU32,
    /// How many messages one agent may send in any 60 seconds, to one room through all processes
    /// and to all rooms through one process; 0 for no limit.
    pub sends_per_minute: u32,
    /// How many members a room may have.
    pub max_members: NonZeroU32,
    /// How many megabytes a room's archive may take; then nothing more can be sent to the room
    /// until it is cleared or the archive is moved away.
    pub max_archive_mb: NonZeroU32,
    /// How many agent names one key may hold.
    pub max_names_per_key: NonZeroU32,
    /// How many agent names all keys together may hold.
    pub max_names: NonZeroU32,
    /// How many calls of `wait_for_messages` may wait at once for one key; all callers without a
    /// key count as one.
    pub max_waits_per_caller: NonZeroU32,
    /// How many may wait at once in all, in one process.
    pub max_waits: NonZeroU32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            data_dir: "./data".into(),
            lock_timeout_ms: 5_000,
            max_messages: at_least_one(10_000),
            max_rooms: at_least_one(100),
            idle_minutes: at_least_one(30),
            sends_per_minute: 600,
            max_members: at_least_one(500),
            max_archive_mb: at_least_one(1_024),
            max_names_per_key: at_least_one(100),
            max_names: at_least_one(10_000),
            max_waits_per_caller: at_least_one(1_000),
            max_waits: at_least_one(4_000),
        }
    }
}

impl Settings {
    pub(crate) fn lock_timeout(&self) -> Duration {
        Duration::from_millis(self.lock_timeout_ms)
    }

    pub(crate) fn idle_ms(&self) -> i64 {
        i64::from(self.idle_minutes.get()) * 60_000
    }
}

const fn at_least_one(number: u32) -> NonZeroU32 {
    match NonZeroU32::new(number) {
        Some(number) => number,
        None => NonZeroU32::MIN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_match_the_seed_and_unknown_keys_are_refused() {
        let read = |text| serde_json::from_str::<Settings>(text);
        let defaults = read("{}").unwrap();
        assert_eq!(defaults, Settings::default());
        assert_eq!(defaults.data_dir.to_str(), Some("./data"));
        assert_eq!(defaults.lock_timeout_ms, 5_000);
        assert_eq!(defaults.max_messages.get(), 10_000);
        assert_eq!(defaults.max_rooms.get(), 100);
        assert!(read(r#"{"max_messages": 0}"#).is_err());
        assert!(read(r#"{"max_message": 1}"#).is_err());
    }

    #[test]
    fn every_seed_variable_sets_a_key_that_exists() {
        let keys = serde_json::to_value(Settings::default()).unwrap();
        for (_, key) in SEED_VARIABLES {
            assert!(keys.get(key).is_some(), "{key}");
        }
    }
}
