//! Messages on their way into a room: who sends at the same time is written
//! together.

use kit::{Result, time::Clock};
use tokio::sync::oneshot;

use crate::model::message::{Draft, Line};

#[derive(Default)]
pub struct Queue {
    pub unsent: Vec<Unsent>,
    /// Whether somebody writes what has gathered.
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
}
