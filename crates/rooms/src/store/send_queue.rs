//! Messages that wait to be written to a room.

use kit::{Result, time::Clock};
use tokio::sync::oneshot;

use crate::model::message::{Draft, Line};

#[derive(Default)]
pub struct Queue {
    pub unsent: Vec<Unsent>,
    /// Whether somebody is writing them.
    pub is_led: bool,
}

/// A message that somebody wants to send.
pub struct Unsent {
    pub draft: Draft,
    pub clock: Clock,
    pub answer: oneshot::Sender<Result<Sent>>,
}

#[derive(Debug, Clone)]
pub struct Sent {
    pub line: Line,
    /// It had been sent before, with the same clientMessageId.
    pub repeated: bool,
    /// What the sender has not read.
    pub unread: usize,
    pub unknown: Vec<UnknownMention>,
}

/// A name that a message mentions and that no member has.
#[derive(Debug, Clone)]
pub struct UnknownMention {
    pub name: String,
    /// The member that was probably meant.
    pub nearest: Option<String>,
}
