//! The names under which a person at the console takes part.

use std::collections::HashMap;

use kit::{Context, Result};

use crate::{
    model::owners::Actor,
    store::{Call, RoomStore},
};

/// The name that is offered to whoever has none yet.
const USUAL_NAME: &str = "user";

pub struct OwnNames {
    names: Vec<String>,
    /// By room.
    unread: HashMap<String, usize>,
}

impl OwnNames {
    pub async fn read(store: &dyn RoomStore, context: &Context) -> Result<Self> {
        let Actor::Key(console) = Actor::of(context) else {
            return Ok(Self {
                names: Vec::new(),
                unread: HashMap::new(),
            });
        };
        // The page is readable where nobody can tell who holds which name.
        let held = store.held_names().await.unwrap_or_default().into_iter();
        let held = held.filter(|holder| holder.key.id == console.id);
        let names: Vec<String> = held.map(|holder| holder.name).collect();
        let mut unread = HashMap::new();
        for name in &names {
            let list = store.list_rooms(Call::of(context), Some(name.clone()));
            for room in list.await?.rooms {
                let room_name = room.listed.name.to_string();
                *unread.entry(room_name).or_default() += room.unread.unwrap_or_default();
            }
        }
        Ok(Self { names, unread })
    }

    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }

    /// What the person is probably called in the next room.
    pub fn usual_name(&self) -> &str {
        self.names.first().map_or(USUAL_NAME, String::as_str)
    }

    /// `None` if the person is not in the room.
    pub fn unread(&self, room: &str) -> Option<usize> {
        self.unread.get(room).copied()
    }
}
