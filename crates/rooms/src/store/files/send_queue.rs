//! Messages that wait to be written to a room.

use kit::{Result, time::Clock};
use tokio::sync::oneshot;

use crate::{model::message::Draft, store::messages::Sent};

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
