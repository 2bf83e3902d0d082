//! WebSockets that are held open, with as much behind each as there can be.

use std::{sync::Arc, time::Duration};

use anyhow::{Result, bail};
use futures::{SinkExt as _, StreamExt as _};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::{
    Message,
    protocol::frame::{
        Frame,
        coding::{Data, OpCode},
    },
};

use crate::{
    caller::{Caller, Socket},
    requests::{self, QUIET_ROOM},
};

/// How long a client may take to send one message to a desk that reads slowly.
const PATIENCE: Duration = Duration::from_secs(60);

/// Requests that a connection may have in flight.
const IN_FLIGHT: u64 = 256;

/// What a call costs the desk that nobody waits for, in other requests.
pub const CALL_COST: usize = 3;

/// A large part of what a message may hold.
const ABOUT: usize = 1024 * 1024 - 1024;

/// What one frame may hold, and a little less.
const FRAME: usize = 1000 * 1024;

/// Sends a message, in several frames where one is too small for it.
pub async fn send(caller: &Caller, socket: &mut Socket, text: String) -> Result<()> {
    caller.pace(text.len()).await;
    if text.len() <= FRAME {
        return Ok(timeout(PATIENCE, socket.send(Message::text(text))).await??);
    }
    let mut kind = Data::Text;
    let frames = text.len().div_ceil(FRAME);
    for (number, piece) in (1..).zip(text.as_bytes().chunks(FRAME)) {
        let frame = Frame::message(piece.to_vec(), OpCode::Data(kind), number == frames);
        timeout(PATIENCE, socket.send(Message::Frame(frame))).await??;
        kind = Data::Continue;
    }
    Ok(())
}

/// Reads until the desk ends the connection, and so answers its pings.
pub async fn attend(caller: &Caller, socket: &mut Socket) -> Result<()> {
    while let Some(message) = socket.next().await {
        if let Message::Text(text) = message? {
            caller.tally.told(101, text.as_bytes());
        }
    }
    bail!("the desk closed the socket")
}

/// Sends without waiting for answers, which are read meanwhile. Each call costs
/// the desk as much as `cost` other requests.
pub async fn pour(
    caller: &Caller,
    socket: Socket,
    cost: usize,
    mut next: impl FnMut(u64) -> String,
) -> Result<()> {
    let (mut sink, mut stream) = socket.split();
    let writing = async {
        loop {
            let text = next(caller.number());
            caller.leave_time(cost).await;
            caller.pace(text.len()).await;
            timeout(PATIENCE, sink.send(Message::text(text))).await??;
        }
    };
    let reading = async {
        while let Some(message) = stream.next().await {
            if let Message::Text(text) = message? {
                caller.tally.told(101, text.as_bytes());
            }
        }
        bail!("the desk closed the socket")
    };
    tokio::select! {
        ended = writing => ended,
        ended = reading => ended,
    }
}

/// A socket on one of all addresses: silent, after a handshake, or after a call.
pub async fn idle(caller: Arc<Caller>, number: usize) -> Result<()> {
    let places = caller.ports.sockets();
    let (port, path) = &places[number % places.len()];
    let mut socket = caller.socket(*port, path).await?;
    let _held = caller.tally.hold();
    // Without a key, the first request on the voice counter ends the socket.
    let is_closed = caller.key.is_none() && (path == "/" || path.ends_with("innervoice"));
    if !is_closed && !number.is_multiple_of(3) {
        send(&caller, &mut socket, requests::initialize(1, "")).await?;
        send(
            &caller,
            &mut socket,
            requests::legacy(2, "tools/list", "{}"),
        )
        .await?;
    }
    attend(&caller, &mut socket).await
}

/// A client that says very much of itself.
pub async fn large_client(caller: Arc<Caller>, _: usize) -> Result<()> {
    let mut socket = caller.socket(caller.ports.main, "/ws/cinema").await?;
    let _held = caller.tally.hold();
    let hello = requests::initialize(1, &"a".repeat(ABOUT));
    send(&caller, &mut socket, hello).await?;
    attend(&caller, &mut socket).await
}

/// As many waiting calls on each socket as it takes.
pub async fn waits(caller: Arc<Caller>, _: usize) -> Result<()> {
    let mut socket = caller.socket(caller.ports.main, "/ws/rooms").await?;
    let _held = caller.tally.hold();
    let agent = format!("waiter-{}", caller.number());
    let enter = format!(r#"{{"roomName":"{QUIET_ROOM}","agentName":"{agent}"}}"#);
    let enter = requests::call(1, "enter_room", &enter);
    send(&caller, &mut socket, enter).await?;
    for id in 2..2 + IN_FLIGHT {
        let wait = format!(r#"{{"roomName":"{QUIET_ROOM}","agentName":"{agent}","timeout":300}}"#);
        let wait = requests::call(id, "wait_for_messages", &wait);
        send(&caller, &mut socket, wait).await?;
    }
    attend(&caller, &mut socket).await
}

/// Calls of every counter without waiting for answers.
pub async fn in_flight(caller: Arc<Caller>, number: usize) -> Result<()> {
    let places = caller.ports.sockets();
    let (port, path) = &places[number % places.len()];
    let socket = caller.socket(*port, path).await?;
    let _held = caller.tally.hold();
    pour(&caller, socket, CALL_COST, |id| match path.as_str() {
        "/ws/cinema" => requests::call(id, "get_movie_list", r#"{"limit":200}"#),
        "/ws/merchant" => requests::call(id, "search_products", r#"{"keywords":[],"limit":1000}"#),
        "/ws/rooms" => requests::call(id, "search_messages", r#"{"query":"a","limit":1000}"#),
        "/ws/todo" => requests::call(id, "search_contexts", r#"{"query":"a","limit":50}"#),
        _ => requests::call(id, "calendar_list", r#"{"limit":200}"#),
    })
    .await
}
