//! What is asked and answered about rooms and their members.

use jiff::Timestamp;
use kit::Warning;

use crate::model::{
    members::{Profile, Status},
    names::RoomName,
};

/// A room, without what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub name: RoomName,
    pub description: Option<String>,
    pub created_at: String,
}

/// A room that somebody wants to create.
pub struct NewRoom {
    pub name: RoomName,
    pub description: Option<String>,
    /// Who enters it at once.
    pub agent: Option<String>,
}

pub struct RoomSummary {
    pub listed: Listed,
    pub users: usize,
    pub messages: usize,
    /// Of the agent whose rooms were asked for.
    pub unread: Option<usize>,
}

pub struct RoomList {
    /// Oldest first.
    pub rooms: Vec<RoomSummary>,
    /// How many rooms there are, whoever is in them.
    pub total: usize,
    /// Rooms that can't be read.
    pub warnings: Vec<Warning>,
}

pub struct RoomStatus {
    pub name: RoomName,
    /// The names of its members that are online.
    pub online: Vec<String>,
    pub messages: usize,
    pub bytes: u64,
    /// What is wrong with its files, in words.
    pub damage: Vec<String>,
}

pub struct StatusReport {
    pub rooms: Vec<RoomStatus>,
    /// What is wrong with files outside of rooms, in words.
    pub damage: Vec<String>,
    /// Rooms that can't be read.
    pub unreadable: Vec<Warning>,
}

/// A member as it is at this moment.
#[derive(Debug, Clone)]
pub struct Member {
    pub name: String,
    pub status: Status,
    pub message_count: u64,
    pub profile: Option<Profile>,
    pub is_waiting: bool,
    /// The last sign of life: of a waiting member, when it began to wait.
    pub active_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entrance {
    /// Was no member before.
    New,
    /// Was a member, and offline.
    Back,
    /// Is a member and online. Nothing was changed.
    AlreadyIn,
}

/// What an agent finds in a room.
pub struct Inside {
    pub description: Option<String>,
    pub user_count: usize,
    /// The members that are online, in the order in which they entered.
    pub online: Vec<String>,
    pub unread: usize,
}

pub struct Entered {
    pub entrance: Entrance,
    pub inside: Inside,
    /// Another member whose name people could take for the newcomer's.
    pub similar: Option<String>,
}

/// How many messages were unread before and after they were marked as read.
pub struct Marked {
    pub before: usize,
    pub after: usize,
}
