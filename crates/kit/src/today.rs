//! What day it is where the counter is. Agents do not know.

use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;

/// Two fields of every answer that speaks of days. Flatten it into the output. Output
/// schemas do not list them: they would do so for most tools, and say nothing that the
/// answer does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Today {
    #[schemars(skip)]
    pub today: String,
    // The IANA name; left out if the zone has none.
    #[schemars(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
}

impl Today {
    pub fn of(context: &Context) -> Self {
        Self {
            today: context.today().to_string(),
            time_zone: context.zone.iana_name().map(str::to_owned),
        }
    }

    /// `2026-11-15 (Asia/Tokyo)`.
    pub fn sentence(&self) -> String {
        match &self.time_zone {
            Some(zone) => format!("{} ({zone})", self.today),
            None => self.today.clone(),
        }
    }
}
