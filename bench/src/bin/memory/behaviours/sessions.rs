//! Sessions of the handshake era, and subscriptions of both eras.

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use tokio::{io::AsyncWriteExt as _, time::timeout};

use super::{
    counters::shows,
    sockets::{attend, send},
};
use crate::{
    caller::{Caller, Line},
    desk::COUNTERS,
    requests::{self, LOUD_ROOM},
};

/// What a large page costs the desk, in other requests.
const CALL_COST: usize = 8;

/// Addresses that one connection may watch.
const WATCHED: u64 = 100;

/// What a client of a session says of itself.
const ABOUT: usize = 512 * 1024;

const LONG_ADDRESS: usize = 128 * 1024;

/// So that a hundred of them fit into one body.
const SHORTER_ADDRESS: usize = 40 * 1024;

const HOLD: Duration = Duration::from_secs(120);

/// Opens a session; its id.
async fn open(caller: &Caller, line: &mut Line<'_>, path: &str, about: &str) -> Result<String> {
    let hello = requests::initialize(caller.number(), about);
    line.ask(&caller.post(caller.ports.main, path, "", &hello))
        .await?;
    line.header("mcp-session-id").context("no session")
}

/// Sessions, one after another, that nobody uses again.
pub async fn many(caller: Arc<Caller>, number: usize) -> Result<()> {
    let path = format!("/mcp/{}", COUNTERS[number % COUNTERS.len()]);
    let about = "a".repeat(ABOUT);
    let mut line = caller.line(caller.ports.main).await?;
    for turn in 0..20 {
        let about = if turn % 2 == 0 { "" } else { about.as_str() };
        open(&caller, &mut line, &path, about).await?;
    }
    Ok(())
}

/// Large answers in many sessions, as if each client were to ask for them again.
pub async fn calls(caller: Arc<Caller>, _: usize) -> Result<()> {
    let mut line = caller.line(caller.ports.main).await?;
    let session = open(&caller, &mut line, "/mcp/rooms", "").await?;
    let headers = format!("Mcp-Session-Id: {session}\r\n");
    let page = format!(
        r#"{{"name":"get_messages","arguments":{{"roomName":"{LOUD_ROOM}","limit":1000}}}}"#
    );
    for _ in 0..4 {
        caller.leave_time(CALL_COST).await;
        let body = requests::legacy(caller.number(), "tools/call", &page);
        line.ask(&caller.post(caller.ports.main, "/mcp/rooms", &headers, &body))
            .await?;
    }
    Ok(())
}

/// Addresses that need not exist to be watched.
fn address(caller: &Caller, number: usize, length: usize) -> (&'static str, String) {
    let id = format!("{}{}", caller.number(), "a".repeat(length));
    match number % 3 {
        0 => ("todo", format!("file://.todo/adr/{id}.md")),
        1 if caller.key.is_some() => ("innervoice", format!("innervoice://events/{id}.ics")),
        _ => ("cinema", format!("cinema://shows/{id}/seats")),
    }
}

/// The same address, written differently for each number.
fn spelt(id: &str, number: u64) -> String {
    let letters = id.bytes().enumerate();
    let letters = letters.map(|(at, letter)| match number >> (at % 64) & 1 {
        0 => char::from(letter).to_string(),
        _ => format!("%{letter:02X}"),
    });
    letters.collect()
}

/// A session that watches as much as it may, and another one, and so on. The
/// desk accepts only what is there, so most are spellings of a few addresses.
pub async fn subscriptions(caller: Arc<Caller>, number: usize) -> Result<()> {
    let mut line = caller.line(caller.ports.main).await?;
    let shows = shows(&caller, &mut line).await?;
    let is_voice = caller.key.is_some() && number.is_multiple_of(4);
    let path = if is_voice {
        "/mcp/innervoice"
    } else {
        "/mcp/cinema"
    };
    let session = open(&caller, &mut line, path, "").await?;
    let headers = format!("Mcp-Session-Id: {session}\r\n");
    for (turn, show) in (0..WATCHED).zip(shows.iter().cycle()) {
        let uri = match turn % 10 {
            0 => address(&caller, 2, LONG_ADDRESS).1,
            1 if is_voice => "innervoice://calendar.ics".to_owned(),
            _ => format!("cinema://shows/{}/seats", spelt(show, turn)),
        };
        let params = format!(r#"{{"uri":"{uri}"}}"#);
        let body = requests::legacy(caller.number(), "resources/subscribe", &params);
        line.ask(&caller.post(caller.ports.main, path, &headers, &body))
            .await?;
    }
    Ok(())
}

/// Streams that nobody reads, and sockets with many of them.
pub async fn listen(caller: Arc<Caller>, number: usize) -> Result<()> {
    let (counter, _) = address(&caller, number, 0);
    let body = |length| {
        let uris = (0..WATCHED).map(|_| format!("\"{}\"", address(&caller, number, length).1));
        let uris = uris.collect::<Vec<_>>().join(",");
        let filter = format!(
            r#""notifications":{{"toolsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":[{uris}]}}"#
        );
        requests::modern(caller.number(), "subscriptions/listen", &filter)
    };
    if number.is_multiple_of(2) {
        let path = format!("/ws/{counter}");
        let mut socket = caller.socket(caller.ports.main, &path).await?;
        let _held = caller.tally.hold();
        for _ in 0..200 {
            send(&caller, &mut socket, body(1024)).await?;
        }
        return attend(&caller, &mut socket).await;
    }
    let mut stream = caller.connect(caller.ports.main).await?;
    let _held = caller.tally.hold();
    let headers = requests::modern_headers("subscriptions/listen", "");
    let headers = headers.replace("Mcp-Name: \r\n", "");
    let path = format!("/mcp/{counter}");
    let request = caller.post(caller.ports.main, &path, &headers, &body(SHORTER_ADDRESS));
    caller.pace(request.len()).await;
    timeout(HOLD, stream.write_all(request.as_bytes())).await??;
    tokio::time::sleep(HOLD).await;
    Ok(())
}
