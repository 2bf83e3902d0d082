//! `owners.json`: which key holds which agent's name, and which key created
//! which room. `rooms.json` has its document's format, so this stands beside it.
//!
//! It only matters to callers over a network. An invalid value counts as a key that
//! nobody has: damage to the file never frees a name.

use std::collections::BTreeMap;

use kit::{Caller, Context};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    forgiving::{Contents, Fields, of_whom},
    names::{self, RoomName},
};

/// A key by its id, with the name it had when it was noted, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRef {
    pub id: String,
    pub name: String,
}

impl KeyRef {
    fn is(&self, other: &Self) -> bool {
        !self.id.is_empty() && self.id == other.id
    }
}

/// Who makes a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// A process that the user started. It may use every name, as its document
    /// says.
    Local,
    /// Somebody over the network without a key.
    Keyless,
    Key(KeyRef),
}

impl Actor {
    pub fn of(context: &Context) -> Self {
        let caller = &context.caller;
        if let Some(id) = caller.key() {
            return Self::Key(KeyRef {
                id: id.to_owned(),
                name: caller.name.to_string(),
            });
        }
        // A person's names in rooms are theirs, like those of a key. No key has this id.
        if *caller == Caller::console() {
            return Self::Key(KeyRef {
                id: caller.id.to_string(),
                name: caller.name.to_string(),
            });
        }
        if [Caller::local_user(), Caller::desk()].contains(caller) {
            Self::Local
        } else {
            Self::Keyless
        }
    }
}

impl Actor {
    pub fn has_key(&self) -> bool {
        matches!(self, Self::Key(_))
    }

    /// Whether it may delete or clear a room that this key created, if a key did.
    pub fn may_remove(&self, creator: Option<&KeyRef>) -> bool {
        match (creator, self) {
            (_, Self::Local) | (None, _) => true,
            (Some(creator), Self::Key(key)) => creator.is(key),
            (Some(_), Self::Keyless) => false,
        }
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub struct Owners {
    /// By their visible form.
    names: BTreeMap<String, Holder>,
    rooms: BTreeMap<String, Creator>,
}

impl TryFrom<Map<String, Value>> for Owners {
    type Error = String;

    fn try_from(mut file: Map<String, Value>) -> Result<Self, String> {
        let mut part = |key: &str| match file.shift_remove(key) {
            None => Ok(Map::new()),
            Some(Value::Object(entries)) => Ok(entries),
            Some(_) => Err(format!("{key} is not an object")),
        };
        let mut owners = Self::default();
        for (name, value) in part("names")? {
            let holder = Holder::read(&name, value);
            owners.names.entry(names::visible(&name)).or_insert(holder);
        }
        for (room, value) in part("rooms")? {
            owners.rooms.insert(room, value.into());
        }
        Ok(owners)
    }
}

impl Contents for Owners {
    fn odd(&self) -> Vec<String> {
        let names = self.names.values();
        let rooms = self.rooms.iter();
        names
            .flat_map(|holder| of_whom(&holder.odd, &holder.name))
            .chain(rooms.flat_map(|(room, creator)| of_whom(&creator.odd, room)))
            .collect()
    }
}

/// Who holds a name.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Holder {
    /// As it was written when it was first used.
    pub name: String,
    pub key: KeyRef,
    pub since: String,
    /// Other keys that a person lets use the name.
    pub shared_with: Vec<KeyRef>,
    #[serde(skip)]
    odd: Vec<&'static str>,
}

impl Holder {
    pub fn new(name: String, key: KeyRef, since: String, shared_with: Vec<KeyRef>) -> Self {
        Self {
            name,
            key,
            since,
            shared_with,
            odd: Vec::new(),
        }
    }

    /// Whether `actor` may use a name that `holder` holds, if anybody does.
    pub fn name_status(holder: Option<&Self>, actor: &Actor) -> NameStatus {
        match (holder, actor) {
            (_, Actor::Local) => NameStatus::Theirs,
            (None, _) => NameStatus::Free,
            (Some(holder), Actor::Key(key)) if holder.lets(key) => NameStatus::Theirs,
            (Some(_), _) => NameStatus::Taken,
        }
    }

    /// Lets another key use the name too.
    pub fn share(&mut self, key: &KeyRef) {
        self.shared_with.retain(|known| known.id != key.id);
        if self.key.id != key.id {
            self.shared_with.push(key.clone());
        }
    }

    /// Ends the sharing with a key, by its id or name. Returns whether it was shared.
    pub fn unshare(&mut self, key: &str) -> bool {
        let before = self.shared_with.len();
        self.shared_with
            .retain(|known| known.id != key && known.name != key);
        self.shared_with.len() < before
    }

    fn read(name: &str, value: Value) -> Self {
        let mut fields = Fields::of(value);
        Self {
            name: fields.take("name").unwrap_or_else(|| name.to_owned()),
            key: fields.take("key").unwrap_or_default(),
            since: fields.take("since").unwrap_or_default(),
            shared_with: fields.take("sharedWith").unwrap_or_default(),
            odd: fields.rest().1,
        }
    }

    fn lets(&self, key: &KeyRef) -> bool {
        self.key.is(key) || self.shared_with.iter().any(|shared| shared.is(key))
    }
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Creator {
    created_by: KeyRef,
    #[serde(skip)]
    odd: Vec<&'static str>,
}

impl From<Value> for Creator {
    fn from(value: Value) -> Self {
        let mut fields = Fields::of(value);
        Self {
            created_by: fields.take("createdBy").unwrap_or_default(),
            odd: fields.rest().1,
        }
    }
}

/// Whether somebody may use a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameStatus {
    /// No key holds it.
    Free,
    /// The caller may use it.
    Theirs,
    /// Another key holds it, or one that looks like it.
    Taken,
}

impl Owners {
    pub fn name_status(&self, actor: &Actor, name: &str) -> NameStatus {
        Holder::name_status(self.holder(name), actor)
    }

    pub fn holder(&self, name: &str) -> Option<&Holder> {
        self.names.get(&names::visible(name))
    }

    pub fn holder_mut(&mut self, name: &str) -> Option<&mut Holder> {
        self.names.get_mut(&names::visible(name))
    }

    /// All of them, by name.
    pub fn holders(&self) -> impl Iterator<Item = &Holder> {
        self.names.values()
    }

    pub fn count(&self) -> usize {
        self.names.len()
    }

    pub fn held_by(&self, key: &KeyRef) -> usize {
        let held = self.names.values().filter(|holder| holder.key.is(key));
        held.count()
    }

    pub fn hold(&mut self, name: &str, key: &KeyRef, since: String) {
        let holder = Holder::new(name.to_owned(), key.clone(), since, Vec::new());
        self.names.insert(names::visible(name), holder);
    }

    /// Adds a holder as it is.
    pub fn add(&mut self, holder: Holder) {
        self.names.insert(names::visible(&holder.name), holder);
    }

    pub fn release(&mut self, name: &str) -> Option<Holder> {
        self.names.remove(&names::visible(name))
    }

    /// The key that created a room, if one did.
    pub fn creator(&self, room: &RoomName) -> Option<&KeyRef> {
        let creator = self.rooms.get(room.as_str());
        creator.map(|creator| &creator.created_by)
    }

    /// Whether `actor` may delete or clear a room.
    pub fn may_remove(&self, actor: &Actor, room: &RoomName) -> bool {
        actor.may_remove(self.creator(room))
    }

    /// Notes who created a room; what was noted of an earlier room of this name,
    /// and of rooms that are gone, is forgotten. Returns whether that changed
    /// anything.
    pub fn created(
        &mut self,
        room: &RoomName,
        actor: &Actor,
        exists: impl Fn(&str) -> bool,
    ) -> bool {
        let before = self.rooms.len();
        self.rooms
            .retain(|known, _| known != room.as_str() && exists(known));
        let mut changed = self.rooms.len() != before;
        if let Actor::Key(key) = actor {
            let creator = Creator {
                created_by: key.clone(),
                odd: Vec::new(),
            };
            self.rooms.insert(room.to_string(), creator);
            changed = true;
        }
        changed
    }

    /// Returns whether anything was noted of it.
    pub fn deleted(&mut self, room: &RoomName) -> bool {
        self.rooms.remove(room.as_str()).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: &str) -> Actor {
        Actor::Key(KeyRef {
            id: id.into(),
            name: id.into(),
        })
    }

    #[test]
    fn the_file_comes_back_as_it_was_written() {
        let Actor::Key(alpha) = key("alpha") else {
            unreachable!()
        };
        let mut owners = Owners::default();
        owners.hold("Bob", &alpha, "2026-11-15T09:00:00Z".into());
        let room = RoomName::parse("a").unwrap();
        assert!(owners.created(&room, &key("alpha"), |_| true));
        let text = serde_json::to_string(&owners).unwrap();
        let read: Owners = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert!(read.odd().is_empty());
        assert_eq!(read.name_status(&key("alpha"), "bob"), NameStatus::Theirs);
        assert_eq!(read.name_status(&key("beta"), "ｂｏｂ"), NameStatus::Taken);
        assert_eq!(read.name_status(&Actor::Keyless, "bob"), NameStatus::Taken);
        assert_eq!(read.name_status(&Actor::Local, "bob"), NameStatus::Theirs);
        assert_eq!(read.name_status(&key("beta"), "eve"), NameStatus::Free);
        assert!(read.may_remove(&key("alpha"), &room));
        assert!(!read.may_remove(&key("beta"), &room));
    }

    #[test]
    fn an_invalid_value_frees_no_name() {
        let text = r#"{"names": {"bob": 7, "eve": {"key": {}}}, "rooms": {"a": null}}"#;
        let read: Owners = serde_json::from_str(text).unwrap();
        assert_eq!(read.odd().len(), 3);
        for actor in [key("alpha"), key(""), Actor::Keyless] {
            assert_eq!(read.name_status(&actor, "bob"), NameStatus::Taken);
            assert_eq!(read.name_status(&actor, "Eve"), NameStatus::Taken);
            let room = RoomName::parse("a").unwrap();
            assert!(!read.may_remove(&actor, &room));
        }
        for text in ["[]", "[{}, {}]", r#"{"names": []}"#, r#"{"rooms": null}"#] {
            assert!(serde_json::from_str::<Owners>(text).is_err(), "{text}");
        }
    }
}
