//! MCP over WebSocket: one message a text frame, both protocol eras, and bare
//! requests without any handshake.
//!
//! - `handshake`: from the HTTP request to the connection
//! - `serve`: the connection
//! - `frames`: large messages in small frames

mod frames;
mod handshake;
mod serve;

pub use handshake::Upgrade;
pub use serve::{SocketTarget, accept};
