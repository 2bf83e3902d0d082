//! A connection that carries whole messages, one after another: what stdio and
//! WebSocket have in common. A request may come bare, with neither handshake nor
//! metadata.
//!
//! - `messages`: the two ends of a connection
//! - `intake`: serves it
//! - `transport`: the connection as the protocol crate sees it

mod intake;
mod messages;
mod transport;

pub use intake::serve;
pub use messages::{Breach, Channel, Outgoing, OutgoingQueue, Received, Text};
