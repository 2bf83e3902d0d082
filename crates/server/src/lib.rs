//! How calls arrive and how answers leave.
//!
//! - `wire`: what a protocol revision says; the only part that knows the
//!   protocol crate
//! - `transport`: connections (stdio, HTTP, WebSocket), and the limits on them
//! - `console`: pages for people
//! - `addresses`: limits on those who have no key to be limited by
//!
//! `console` and `transport` use `wire`, never the other way round. What happens
//! to a call is decided in the crate `desk`.

mod address_limits;
pub mod console;
pub mod transport;
pub mod wire;
