//! Writes events to a calendar on a CalDAV server, when one is configured.

mod server;
mod sync;

pub use server::Server;
