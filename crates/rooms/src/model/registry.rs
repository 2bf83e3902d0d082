//! The format of `rooms.json`. Its counts are for people who read the file:
//! answers count the messages themselves, so an old count misleads nobody.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    forgiving::{Contents, Fields, of_whom},
    members::ByName,
};

/// Keys we do not know are kept.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Registry {
    /// Written even if empty: a file without it is damaged.
    pub rooms: ByName<RoomEntry>,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl Contents for Registry {
    const IF_DAMAGED: &'static str = "the rooms are restored from its copy and their directories";

    fn odd(&self) -> Vec<String> {
        let rooms = self.rooms.iter();
        rooms
            .flat_map(|(name, entry)| of_whom(&entry.odd, name))
            .collect()
    }

    fn is_empty(&self) -> bool {
        self.rooms.len() == 0
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", from = "Value")]
pub struct RoomEntry {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub created_at: String,
    pub message_count: u64,
    pub user_count: u64,
    #[serde(flatten)]
    pub other: Map<String, Value>,
    /// The fields with invalid values.
    #[serde(skip)]
    pub odd: Vec<&'static str>,
}

impl From<Value> for RoomEntry {
    /// Every entry of the file is a room; invalid counts can be counted again.
    fn from(value: Value) -> Self {
        let mut fields = Fields::of(value);
        let description = fields.take("description");
        let created_at = fields.take("createdAt").unwrap_or_default();
        let message_count = fields.take("messageCount").unwrap_or_default();
        let user_count = fields.take("userCount").unwrap_or_default();
        let (other, odd) = fields.rest();
        Self {
            description,
            created_at,
            message_count,
            user_count,
            other,
            odd,
        }
    }
}

impl RoomEntry {
    pub fn new(description: Option<String>, created_at: String) -> Self {
        Self {
            description,
            created_at,
            message_count: 0,
            user_count: 0,
            other: Map::new(),
            odd: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: &str = r#"{
  "rooms": {
    "general": {
      "description": "General discussion",
      "createdAt": "2024-01-20T09:00:00Z",
      "messageCount": 150,
      "userCount": 5
    },
    "dev-team": {
      "description": "Development team discussions",
      "createdAt": "2024-01-20T09:30:00Z",
      "messageCount": 42,
      "userCount": 3
    }
  }
}"#;

    #[test]
    fn the_file_matches_the_seed_byte_for_byte() {
        let registry: Registry = serde_json::from_str(SEED).unwrap();
        assert_eq!(serde_json::to_string_pretty(&registry).unwrap(), SEED);
    }
}
