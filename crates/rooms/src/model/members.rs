//! Who is a member of a room, and who is online.
//!
//! `presence.json` lists the members; `activity.json` says when each was last
//! active, and through which process. Who is online follows from both: see
//! [`Activity::is_present`].

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::{
    forgiving::{Contents, Fields, of_whom},
    names,
};

/// Bytes of all profiles of a room. They are in memory while the room is in use.
pub const MAX_PROFILES: usize = 256_000;

/// `rooms/{room}/presence.json`. Keys we do not know are kept.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Presence {
    #[serde(default)]
    pub room_name: String,
    /// Written even if empty: a file without it is damaged.
    pub users: Users,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl Contents for Presence {
    const IF_DAMAGED: &'static str = "the members are restored from its copy and the messages";

    fn odd(&self) -> Vec<String> {
        let users = self.users.iter();
        users
            .flat_map(|(name, user)| of_whom(&user.odd, name))
            .collect()
    }

    fn is_empty(&self) -> bool {
        self.users.len() == 0
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", from = "Value")]
pub struct User {
    pub status: Status,
    pub message_count: u64,
    pub joined_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    #[serde(flatten)]
    pub other: Map<String, Value>,
    #[serde(skip)]
    odd: Vec<&'static str>,
}

impl From<Value> for User {
    /// Everybody listed in the file is a member, even with invalid values.
    fn from(value: Value) -> Self {
        let mut fields = Fields::of(value);
        let status = fields.take("status");
        let message_count = fields.take("messageCount").unwrap_or_default();
        let joined_at = fields.take("joinedAt").unwrap_or_default();
        let profile = fields.take("profile");
        let (other, odd) = fields.rest();
        Self {
            status: status.unwrap_or(Status::Offline),
            message_count,
            joined_at,
            profile,
            other,
            odd,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Status {
    Online,
    Offline,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Profile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

/// The members, in the order in which they entered.
pub type Users = ByName<User>;

/// `rooms/{room}/activity.json`: ours alone, and worth nothing once everybody
/// has gone, so it is never synced to the disk.
pub type Activities = ByName<Activity>;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    pub last_active_at: Timestamp,
    /// The process that last served this agent.
    #[serde(default)]
    pub process: String,
    /// Set while the agent waits for messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_until: Option<Timestamp>,
}

impl Activity {
    pub fn is_waiting(&self, now: Timestamp) -> bool {
        self.waiting_until.is_some_and(|until| until > now)
    }

    fn is_recent(&self, now: Timestamp, idle_ms: i64) -> bool {
        self.is_waiting(now)
            || now.as_millisecond() - self.last_active_at.as_millisecond() < idle_ms
    }

    /// Whether a member with this record is online: recently active, through a
    /// process that is still running.
    pub fn is_present(
        &self,
        now: Timestamp,
        idle_ms: i64,
        lives: &mut impl FnMut(&str) -> bool,
    ) -> bool {
        self.is_recent(now, idle_ms) && (self.process.is_empty() || lives(&self.process))
    }
}

impl User {
    pub fn new(now: &str, profile: Option<Profile>) -> Self {
        Self {
            status: Status::Online,
            message_count: 0,
            joined_at: now.to_owned(),
            profile,
            other: Map::new(),
            odd: Vec::new(),
        }
    }

    /// What the member's status is now, whatever the file still says.
    pub fn status(
        &self,
        activity: Option<&Activity>,
        now: Timestamp,
        idle_ms: i64,
        lives: &mut impl FnMut(&str) -> bool,
    ) -> Status {
        if self.status == Status::Offline {
            return Status::Offline;
        }
        // A directory written by another program has no record of activity.
        let entered = Activity {
            last_active_at: self.joined_at.parse().unwrap_or_default(),
            ..Activity::default()
        };
        if activity.unwrap_or(&entered).is_present(now, idle_ms, lives) {
            Status::Online
        } else {
            Status::Offline
        }
    }
}

/// A JSON object that keeps its order. Rooms have few members, so a linear search
/// is as fast as a map, and takes less memory.
#[derive(Debug, Clone)]
pub struct ByName<T> {
    entries: Vec<(String, T)>,
    /// The names whose values are invalid.
    odd: Vec<String>,
}

impl<T> Default for ByName<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            odd: Vec::new(),
        }
    }
}

impl<T: Serialize + DeserializeOwned> Contents for ByName<T> {
    fn odd(&self) -> Vec<String> {
        self.odd.iter().map(|name| format!("`{name}`")).collect()
    }
}

impl<T> ByName<T> {
    pub fn get(&self, name: &str) -> Option<&T> {
        let found = self.entries.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value)
    }

    pub fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        let found = self.entries.iter_mut().find(|(known, _)| known == name);
        found.map(|(_, value)| value)
    }

    pub fn set(&mut self, name: &str, value: T) {
        match self.get_mut(name) {
            Some(known) => *known = value,
            None => self.entries.push((name.to_owned(), value)),
        }
    }

    pub fn remove(&mut self, name: &str) -> Option<T> {
        let at = self.entries.iter().position(|(known, _)| known == name)?;
        Some(self.entries.remove(at).1)
    }

    /// Removes the oldest entries until at most `most` are left, but none that `keep`
    /// names.
    pub fn keep_last(&mut self, most: usize, keep: impl Fn(&str) -> bool) {
        let mut over = self.entries.len().saturating_sub(most);
        self.entries.retain(|(name, _)| {
            let goes = over > 0 && !keep(name);
            over -= usize::from(goes);
            !goes
        });
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> + Clone {
        self.entries
            .iter()
            .map(|(name, value)| (name.as_str(), value))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut T)> {
        self.entries
            .iter_mut()
            .map(|(name, value)| (name.as_str(), value))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.entries.iter().map(|(name, _)| name.as_str())
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }
}

impl<T: Serialize> Serialize for ByName<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.entries.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for ByName<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut by_name = Self::default();
        for (name, value) in Map::<String, Value>::deserialize(deserializer)? {
            let canonical = names::canonical(&name);
            if *canonical != name && by_name.get(&canonical).is_some() {
                continue;
            }
            let name = canonical.into_owned();
            match serde_json::from_value(value) {
                Ok(value) => by_name.entries.push((name, value)),
                Err(_) => by_name.odd.push(name),
            }
        }
        Ok(by_name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: &str = r#"{
  "roomName": "dev-team",
  "users": {
    "agent1": {
      "status": "online",
      "messageCount": 42,
      "joinedAt": "2024-01-20T10:00:00Z",
      "profile": {
        "role": "coordinator",
        "description": "Task coordination and workflow management",
        "capabilities": [
          "task_planning",
          "resource_allocation",
          "progress_tracking"
        ],
        "metadata": {
          "team": "automation",
          "version": "2.0"
        }
      }
    }
  }
}"#;

    #[test]
    fn the_file_matches_the_seed_byte_for_byte() {
        let presence: Presence = serde_json::from_str(SEED).unwrap();
        assert_eq!(serde_json::to_string_pretty(&presence).unwrap(), SEED);
    }

    #[test]
    fn unknown_keys_are_kept() {
        let text = r#"{"roomName":"a","users":{"x":{"status":"offline","messageCount":1,"joinedAt":"","mood":"fine"}},"v":2}"#;
        let presence: Presence = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&presence).unwrap(), text);
    }

    #[test]
    fn members_go_offline_when_idle_or_when_their_process_ends() {
        let at = |minute: i64| Timestamp::from_second(1_700_000_000 + minute * 60).unwrap();
        let user = User::new(&at(0).to_string(), None);
        let heard = Activity {
            last_active_at: at(5),
            process: "p".into(),
            waiting_until: None,
        };
        let idle = 30 * 60_000;
        let status =
            |activity, now, alive: bool| user.status(activity, now, idle, &mut |_: &str| alive);
        assert_eq!(status(Some(&heard), at(34), true), Status::Online);
        assert_eq!(status(Some(&heard), at(35), true), Status::Offline);
        assert_eq!(status(Some(&heard), at(6), false), Status::Offline);
        assert_eq!(status(None, at(29), false), Status::Online);
        assert_eq!(status(None, at(31), false), Status::Offline);
        let waiting = Activity {
            waiting_until: Some(at(50)),
            ..heard.clone()
        };
        assert_eq!(status(Some(&waiting), at(40), true), Status::Online);
    }
}
