//! Between the protocol's words and ours. The only part of the program that
//! knows the protocol crate, `rmcp`.
//!
//! - `definitions`: what a counter offers, in the protocol's shape, built once
//! - `handler`: every method of both protocol eras, served by the protocol crate
//! - `http_service`: its HTTP service; `sessions`: those of the handshake era
//! - `direct`: plain calls, without the protocol crate
//! - `mistyped`: what is wrong with a request whose parameters have another form
//! - `plain`: tools without the protocol, one JSON object in and one out
//! - `inbound`: bytes into messages
//! - `tool_result`: a tool's answer, on every path; `errors`: refusals and errors
//! - `channel`: a connection of messages (stdio, WebSocket) for the protocol crate
//! - `backlog`: answers that clients have not read yet, and their budget
//! - `client`: the way back to the client while a call runs
//! - `subscriptions`: changes on their way to the client
//! - `trace`: the trace that a caller is part of
//! - `seal`: state that travels through the client and must come back unchanged

pub mod accept_header;
pub mod backlog;
pub mod channel;
pub mod client;
pub mod definitions;
pub mod direct;
pub mod errors;
pub mod handler;
pub mod http_service;
pub mod inbound;
pub mod language;
pub mod mistyped;
pub mod plain;
pub mod seal;
pub mod sessions;
pub mod subscriptions;
pub mod tool_result;
pub mod trace;

/// The newest protocol revision, the first without a handshake.
pub const STATELESS: &str = "2026-07-28";
