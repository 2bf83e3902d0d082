//! How bytes come in and go out: stdio, HTTP, WebSocket. Each admits requests
//! and hands them to `wire`; none of them knows a tool.
//!
//! - `listener`: connections, for every port; `tls`: encrypts them
//! - `connections`: how many may be open, and whose; `proxies`: who is behind a proxy
//! - `request_budget`: the memory that large requests share; `budgeted_reader`
//!   keeps to it; `write_timeout`: ends connections that nobody reads; `layered`
//!   puts these two on a connection
//! - `guard`: who may reach a port at all; `origin`: compares web origins
//! - `http`: the main port; `own_port`: the port of one counter
//! - `streamable_http`: requests to a counter, on either; `body` reads them,
//!   `batch` splits them, `endpoint` answers one message
//! - `files`: what a counter hands out without a key; `assets`: a directory
//! - `websocket`, `stdio`: connections that carry one message after another
//! - `answer`, `accept`: HTTP answers that are not a tool's

pub(crate) mod answer;
pub(crate) mod assets;
pub(crate) mod batch;
pub(crate) mod body;
pub(crate) mod budgeted_reader;
pub(crate) mod connections;
pub(crate) mod credentials;
mod cross_origin;
pub mod endpoint;
pub(crate) mod files;
pub mod guard;
pub mod http;
pub(crate) mod json_only;
pub(crate) mod layered;
pub mod listener;
pub(crate) mod origin;
pub mod own_port;
pub mod proxies;
pub(crate) mod request_budget;
pub mod stdio;
pub(crate) mod streamable_http;
pub mod tls;
pub(crate) mod websocket;
pub(crate) mod write_timeout;
