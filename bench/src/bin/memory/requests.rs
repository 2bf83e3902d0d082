//! Messages as text, for sockets and for the bodies of requests.

use bench::wire::META;

/// A room full of large messages.
pub const LOUD_ROOM: &str = "loud";
/// A room in which nobody says anything.
pub const QUIET_ROOM: &str = "quiet";

/// The headers of a stateless request, for [`crate::caller::Caller::post`].
pub fn modern_headers(method: &str, name: &str) -> String {
    format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\nMcp-Name: {name}\r\n")
}

/// A stateless request; `fields` stand in its `params`.
pub fn modern(id: u64, method: &str, fields: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{fields},{META}}}}}"#)
}

/// A request of the handshake era, or a bare one.
pub fn legacy(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

/// The first message of the handshake era. A server keeps what the client says
/// of itself, here `about` in a place where anything may stand.
pub fn initialize(id: u64, about: &str) -> String {
    let params = format!(
        r#"{{"protocolVersion":"2025-06-18","capabilities":{{"experimental":{{"x":{{"y":"{about}"}}}}}},"clientInfo":{{"name":"bench","version":"0.1.0"}}}}"#
    );
    legacy(id, "initialize", &params)
}

pub fn call(id: u64, tool: &str, arguments: &str) -> String {
    let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
    legacy(id, "tools/call", &params)
}
