//! Between the protocol's words and ours. The only part of the program that
//! knows the protocol crate, `rmcp`.
//!
//! - `definitions`: what a counter offers, in the protocol's shape, built once
//! - `apps`: views that chat clients show beside the answers of tools
//! - `handler`: every method of both protocol eras, served by the protocol crate
//! - `http_service`: its HTTP service; `sessions`: those of the handshake era;
//!   `first_answer`: event streams that begin together with their answer
//! - `direct`: plain calls, without the protocol crate
//! - `mistyped`: what is wrong with a request whose parameters have another form
//! - `plain`: tools without the protocol, one JSON object in and one out
//! - `inbound`: bytes into messages; `headers`: the protocol's own HTTP headers
//! - `tool_result`: a tool's answer, on every path; `errors`: refusals and errors
//! - `channel`: a connection of messages (stdio, WebSocket) for the protocol crate
//! - `backlog`: answers that clients have not read yet, and their budget
//! - `client`: the way back to the client while a call runs
//! - `subscriptions`: changes on their way to the client
//! - `trace`: the trace that a caller is part of
//! - `seal`: state that travels through the client and must come back unchanged

pub(crate) mod accept_header;
pub(crate) mod apps;
pub(crate) mod backlog;
pub(crate) mod channel;
pub mod client;
pub mod definitions;
pub(crate) mod direct;
pub mod errors;
pub(crate) mod first_answer;
pub(crate) mod handler;
pub(crate) mod headers;
pub(crate) mod http_service;
pub(crate) mod inbound;
pub(crate) mod language;
pub(crate) mod mistyped;
pub(crate) mod plain_json;
pub mod seal;
pub(crate) mod sessions;
pub(crate) mod subscriptions;
pub mod tool_result;
pub(crate) mod trace;

/// The newest protocol revision, the first without a handshake.
pub const STATELESS: &str = "2026-07-28";
