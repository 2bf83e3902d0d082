//! How bytes come in and go out: stdio, HTTP, WebSocket. Each admits requests
//! and hands them to `wire`; none of them knows a tool.
//!
//! - `listener`: connections, for every port; `tls`: encrypts them
//! - `connections`: how many, and of whom; `unfinished`: how much of a request
//!   that has not ended; `write_timeout`: for how long nobody reads
//! - `guard`: who may reach a port at all
//! - `http`: the main port; `own_port`: the port of one counter
//! - `endpoint`: Streamable HTTP for one counter, on either; `sessions`: how many
//! - `files`: what a counter hands out without a key; `assets`: a directory
//! - `websocket`, `stdio`: connections that carry one message after another

pub mod accept;
pub mod answer;
pub mod assets;
pub mod batch;
pub mod connections;
pub mod endpoint;
pub mod files;
pub mod guard;
pub mod http;
pub mod listener;
pub mod origin;
pub mod own_port;
pub mod sessions;
pub mod stdio;
pub mod tls;
pub mod unfinished;
pub mod websocket;
pub mod write_timeout;
