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

pub mod answer;
pub mod assets;
pub mod batch;
pub mod body;
pub mod budgeted_reader;
pub mod connections;
pub mod endpoint;
pub mod files;
pub mod guard;
pub mod http;
pub mod json_only;
pub mod layered;
pub mod listener;
pub mod origin;
pub mod own_port;
pub mod proxies;
pub mod request_budget;
pub mod stdio;
pub mod streamable_http;
pub mod tls;
pub mod websocket;
pub mod write_timeout;
