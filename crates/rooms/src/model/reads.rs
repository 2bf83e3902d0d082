//! The format of `read_status.json`, which is the original server's.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::members::ByName;

pub type Reads = ByName<ReadStatus>;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadStatus {
    #[serde(default)]
    pub agent_name: String,
    #[serde(default)]
    pub last_read_message_id: String,
    #[serde(default)]
    pub last_read_timestamp: String,
    /// How far the agent has seen its mentions, where that is further.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_mention_message_id: Option<String>,
    /// Other messages beyond that were delivered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delivered_message_ids: Vec<String>,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl ReadStatus {
    /// When the position was written.
    pub fn time(&self) -> Option<Timestamp> {
        self.last_read_timestamp.parse().ok()
    }
}
