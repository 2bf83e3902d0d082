//! `rooms.json`: which rooms there are. Its counts are for people who read the
//! file; answers count for themselves, so that a stale count misleads nobody.

use std::{fs, io, path::Path};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    cached::State,
    files::{LOG, PRESENCE, Stamp},
};
use crate::model::{
    forgiving::{Contents, Fields, of_whom},
    members::ByName,
    message::written,
    names,
};

/// Keys we do not know are kept.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Registry {
    #[serde(default)]
    pub rooms: ByName<Entry>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl Contents for Registry {
    fn odd(&self) -> Vec<String> {
        let rooms = self.rooms.iter();
        rooms
            .flat_map(|(name, entry)| of_whom(&entry.odd, name))
            .collect()
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", from = "Value")]
pub struct Entry {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub created_at: String,
    pub message_count: u64,
    pub user_count: u64,
    #[serde(flatten)]
    other: Map<String, Value>,
    /// What could not be understood.
    #[serde(skip)]
    pub odd: Vec<&'static str>,
}

impl From<Value> for Entry {
    /// What stands in the file is a room; its counts can be counted again.
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

impl Entry {
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

/// `agents.json`: everybody who ever entered a room, so that a stranger can be
/// told from somebody who is in the wrong room.
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

/// What the file says; without a file that can be read, what the directories say.
pub fn or_rebuilt(state: State<Registry>, rooms: &Path) -> io::Result<std::sync::Arc<Registry>> {
    match state {
        State::Read(registry) => Ok(registry),
        State::Absent | State::Damaged => rebuild(rooms).map(Into::into),
    }
}

fn rebuild(rooms: &Path) -> io::Result<Registry> {
    let mut registry = Registry::default();
    let entries = match fs::read_dir(rooms) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(registry),
        Err(error) => return Err(error),
    };
    let mut found: Vec<(String, Entry)> = Vec::new();
    for entry in entries {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let path = entry.path();
        let is_room = names::is_room_name(&name)
            && entry.file_type()?.is_dir()
            && [LOG, PRESENCE]
                .iter()
                .any(|file| Stamp::at(&path.join(file)).is_some());
        if is_room {
            let made = entry.metadata()?.modified()?;
            let made = jiff::Timestamp::try_from(made).unwrap_or_default();
            found.push((name, Entry::new(None, written(made))));
        }
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    for (name, entry) in found {
        registry.rooms.set(&name, entry);
    }
    Ok(registry)
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
    fn the_file_is_the_documents_byte_for_byte() {
        let registry: Registry = serde_json::from_str(SEED).unwrap();
        assert_eq!(serde_json::to_string_pretty(&registry).unwrap(), SEED);
    }
}
