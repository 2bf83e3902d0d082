//! Clients that ask for much and never read an answer.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use futures::SinkExt as _;
use tokio::{io::AsyncWriteExt as _, net::TcpStream, time::timeout};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    caller::Caller,
    requests::{self, LOUD_ROOM},
};

/// When nothing more can be written, the desk waits for us.
const BLOCKED: Duration = Duration::from_secs(3);

/// How long the connection is held then.
const HOLD: Duration = Duration::from_secs(90);

/// More than the system buffers answers for.
const PIPELINED: usize = 128;

/// More than a socket may have in flight and read ahead.
const IN_FLIGHT: u64 = 300;

/// A large answer costs the desk as much as so many others.
const LARGE: usize = 8;

/// Sends the same request again and again until the desk reads no more.
async fn pipeline(
    caller: &Caller,
    mut stream: TcpStream,
    request: &str,
    cost: usize,
) -> Result<()> {
    let _held = caller.tally.hold();
    for _ in 0..PIPELINED {
        caller.leave_time(cost).await;
        caller.pace(request.len()).await;
        match timeout(BLOCKED, stream.write_all(request.as_bytes())).await {
            Ok(written) => written?,
            Err(_) => break,
        }
    }
    tokio::time::sleep(HOLD).await;
    Ok(())
}

pub async fn metrics(caller: Arc<Caller>, _: usize) -> Result<()> {
    let port = caller.ports.main;
    let stream = caller.connect(port).await?;
    let request = format!("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    pipeline(&caller, stream, &request, 0).await
}

pub async fn answers(caller: Arc<Caller>, number: usize) -> Result<()> {
    let stream = caller.connect(caller.ports.main).await?;
    let request = match number % 3 {
        0 => caller.call("rooms", "get_messages", &a_page()),
        1 => caller.call(
            "merchant",
            "search_products",
            r#"{"keywords":[],"limit":1000}"#,
        ),
        _ => caller.call("cinema", "get_movie_list", r#"{"limit":200}"#),
    };
    pipeline(&caller, stream, &request, LARGE).await
}

/// The largest answers there are, each of them waiting on the desk's side.
pub async fn sockets(caller: Arc<Caller>, _: usize) -> Result<()> {
    let mut socket = caller.socket(caller.ports.main, "/ws/rooms").await?;
    let _held = caller.tally.hold();
    for id in 0..IN_FLIGHT {
        let text = requests::call(id, "get_messages", &a_page());
        caller.leave_time(LARGE).await;
        caller.pace(text.len()).await;
        match timeout(BLOCKED, socket.send(Message::text(text))).await {
            Ok(sent) => sent?,
            Err(_) => break,
        }
    }
    tokio::time::sleep(HOLD).await;
    Ok(())
}

fn a_page() -> String {
    format!(r#"{{"roomName":"{LOUD_ROOM}","limit":1000}}"#)
}
