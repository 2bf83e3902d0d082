//! How bytes come in and go out: stdio, HTTP, WebSocket. Each admits requests
//! and hands them to `wire`; none of them knows a tool.

pub mod guard;
pub mod http;
pub mod language;
pub mod listener;
pub mod stdio;
pub mod websocket;
