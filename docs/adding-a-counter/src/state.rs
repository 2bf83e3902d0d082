//! What the handlers share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub struct CounterState {
    pub settings: Settings,
}

/// The section `[guestbook]` of the configuration.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How many of the latest names a visitor sees.
    pub names_shown: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { names_shown: 20 }
    }
}
