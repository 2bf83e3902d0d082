//! The format of `agents.json`: who ever entered a room.

use serde::{Deserialize, Serialize};

use super::{forgiving::Contents, members::ByName};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Agents {
    #[serde(default)]
    pub agents: ByName<FirstSeen>,
}

impl Contents for Agents {
    fn odd(&self) -> Vec<String> {
        self.agents.odd()
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FirstSeen {
    pub first_seen_at: String,
}
