//! Rooms on their way from one store to another.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    model::{
        members::{Activity, User},
        owners::{Holder, KeyRef},
        reads::ReadStatus,
    },
    store::rooms::Listed,
};

/// How many there were of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct MovedRooms {
    pub rooms: usize,
    pub messages: usize,
    pub members: usize,
    /// Read positions, of agents that left too.
    pub positions: usize,
    /// Names that keys hold.
    pub names: usize,
}

impl MovedRooms {
    pub fn add(&mut self, room: &MovedRoom) {
        self.rooms += 1;
        self.messages += room.messages;
        let members = room.members.iter();
        self.members += members.clone().filter(|it| it.user.is_some()).count();
        self.positions += members.filter(|it| it.reads.is_some()).count();
    }
}

/// What is not part of a room.
pub struct Shared {
    /// Keys of `rooms.json` that are not ours.
    pub other: Map<String, Value>,
    /// Who ever entered a room, and when first.
    pub agents: Vec<(String, String)>,
    pub names: Vec<Holder>,
}

/// A room without its messages.
pub struct MovedRoom {
    pub listed: Listed,
    /// Keys of its entry in `rooms.json` that are not ours.
    pub other: Map<String, Value>,
    pub creator: Option<KeyRef>,
    /// Keys of `presence.json` that are not ours.
    pub presence_other: Map<String, Value>,
    /// In the order in which they entered.
    pub members: Vec<MovedMember>,
    pub messages: usize,
    /// How many of the messages, the oldest, are archived.
    pub archived: usize,
}

/// A member, or the read position of an agent that left.
pub struct MovedMember {
    pub agent: String,
    pub user: Option<User>,
    pub activity: Option<Activity>,
    pub reads: Option<ReadStatus>,
}
