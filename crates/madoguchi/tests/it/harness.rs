//! How tests start the program and talk to it.
//!
//! [`Desk::start`] is a running `madoguchi serve` with fresh data, the sample
//! cinema and the fixture counter; [`Desk::setup`] when it needs more than that.
//! [`Place::run`] is any other command. [`Session`], [`Socket`] and [`Pipe`] speak
//! the handshake era over HTTP, WebSocket and stdio; [`tls`] encrypts the first
//! two; [`clients`] runs the real clients.

mod cinema;
pub mod clients;
mod desk;
mod fake_time;
mod http;
mod mail;
mod peer;
mod pipe;
mod place;
mod relay;
mod socket;
pub mod terminal;
pub mod tls;

use std::{fs, io::Write as _};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

pub use cinema::{day_after_tomorrow, free_seats, largest_show, seats_of, show_to_book};
pub use desk::{Desk, modern_headers, post};
pub use fake_time::FakeClock;
pub use http::{
    Answer, Session, TryAnswer, connect_from, request, request_over, try_request, upgrade_head,
};
pub use mail::MailServer;
pub use peer::Peer;
pub use pipe::Pipe;
pub use place::{Output, Place, is_root};
pub use relay::Relay;
pub use socket::Socket;
pub use terminal::Terminal;

/// The revision without handshake and sessions.
pub const MODERN: &str = "2026-07-28";
/// The newest revision with them.
pub const LEGACY: &str = "2025-11-25";

/// The section of the configuration that makes keys: the name of each, and the
/// key itself.
pub fn configured_keys(keys: &[(&str, &str)]) -> String {
    let keys = keys.iter().map(|(name, key)| {
        let digest = kit::text::hex(Sha256::digest(key.as_bytes()));
        format!("[[identity.keys]]\nname = \"{name}\"\nsha256 = \"{digest}\"\n")
    });
    keys.collect()
}

/// A request of the modern era.
pub fn modern(id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    plain(id, method, params)
}

/// A tool call of the modern era.
pub fn call(id: u64, tool: &str, arguments: Value) -> Value {
    modern(id, "tools/call", call_params(tool, arguments))
}

/// A tool call with nothing about any era.
pub fn plain_call(id: u64, tool: &str, arguments: Value) -> Value {
    plain(id, "tools/call", call_params(tool, arguments))
}

fn call_params(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

/// A request with nothing about any era.
pub fn plain(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// The first message of the handshake era.
pub fn initialize(id: u64, version: &str) -> Value {
    let params = json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": { "name": "tests", "version": "1" },
    });
    plain(id, "initialize", params)
}

pub fn initialized() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}

/// Reports what can't be tried on this machine. `scripts/test` counts it.
pub fn skipped(what: &str) {
    println!("skipped: {what}");
    let list = clients::environment().join("skipped.txt");
    let list = fs::File::options().create(true).append(true).open(list);
    // Without `scripts/test` there is no such place.
    let _ = list.and_then(|mut list| writeln!(list, "{what}"));
}

/// The result of a message that must have one.
#[track_caller]
pub fn result(message: &Value) -> &Value {
    message.get("result").unwrap_or_else(|| panic!("{message}"))
}

/// The text must hold each of these parts.
#[track_caller]
pub fn mentions(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
}

/// What a tool call answered, when it must have gone well.
#[track_caller]
pub fn structured(result: &Value) -> &Value {
    assert_ne!(result["isError"], true, "{result}");
    &result["structuredContent"]
}

/// The error of a tool call that must have failed, with the given code.
#[track_caller]
pub fn refused<'a>(result: &'a Value, code: &str) -> &'a Value {
    assert_eq!(result["isError"], true, "{result}");
    let error = &result["structuredContent"]["error"];
    assert_eq!(error["code"], code, "{result}");
    error
}
