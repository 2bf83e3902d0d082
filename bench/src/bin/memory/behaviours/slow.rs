//! Requests and messages that begin, grow large, and never end.

use std::{sync::Arc, time::Duration};

use anyhow::{Result, bail};
use futures::SinkExt as _;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};
use tokio_tungstenite::tungstenite::{
    Message,
    protocol::frame::{
        Frame,
        coding::{Data, OpCode},
    },
};

use super::sockets::attend;
use crate::caller::Caller;

/// What the desk accepts as a body, and as a message.
pub const LIMIT: usize = 4 * 1024 * 1024;

const PIECE: usize = 64 * 1024;

/// What the desk's HTTP server buffers of a head, and a little less.
const HEAD: usize = 390 * 1024;

/// How often a byte follows, so that the connection does not look idle.
const DRIP: Duration = Duration::from_secs(5);

/// No time limit of the desk is longer than this.
const HOLD: Duration = Duration::from_secs(180);

/// Sends `filler` in pieces.
async fn fill(caller: &Caller, stream: &mut TcpStream, filler: &[u8]) -> Result<()> {
    for piece in filler.chunks(PIECE) {
        caller.pace(piece.len()).await;
        timeout(HOLD, stream.write_all(piece)).await??;
    }
    Ok(())
}

/// Adds a byte now and then, until the desk answers or closes.
async fn drip(caller: &Caller, stream: &mut TcpStream, drop: &[u8]) -> Result<()> {
    let mut answer = [0; 512];
    for _ in 0..HOLD.as_secs() / DRIP.as_secs() {
        match timeout(DRIP, stream.read(&mut answer)).await {
            Ok(read) => {
                let read = read?;
                let status = answer.get(9..12).filter(|_| read >= 12);
                let status = status.and_then(|it| std::str::from_utf8(it).ok()?.parse().ok());
                caller.tally.told(status.unwrap_or_default(), b"");
                return Ok(());
            }
            Err(_) => stream.write_all(drop).await?,
        }
    }
    bail!("the desk waits for ever")
}

pub async fn head(caller: Arc<Caller>, number: usize) -> Result<()> {
    let places = caller.ports.endpoints();
    let (port, path) = &places[number % places.len()];
    let mut stream = caller.connect(*port).await?;
    let _held = caller.tally.hold();
    let start = caller.head(*port, path, "X-Filler: ");
    stream.write_all(start.as_bytes()).await?;
    fill(&caller, &mut stream, &vec![b'a'; HEAD]).await?;
    drip(&caller, &mut stream, b"a").await
}

pub async fn body(caller: Arc<Caller>, number: usize) -> Result<()> {
    let places = caller.ports.endpoints();
    let (port, path) = &places[number % places.len()];
    let mut stream = caller.connect(*port).await?;
    let _held = caller.tally.hold();
    let head = caller.head(*port, path, &format!("Content-Length: {LIMIT}\r\n\r\n"));
    stream.write_all(head.as_bytes()).await?;
    // A few bytes are left for the drops.
    fill(&caller, &mut stream, &vec![b' '; LIMIT - 1024]).await?;
    drip(&caller, &mut stream, b" ").await
}

/// A body in chunks of one byte: each may cost its reader more than a byte.
pub async fn tiny_chunks(caller: Arc<Caller>, number: usize) -> Result<()> {
    let places = caller.ports.endpoints();
    let (port, path) = &places[number % places.len()];
    let mut stream = caller.connect(*port).await?;
    let _held = caller.tally.hold();
    let head = caller.head(*port, path, "Transfer-Encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    let chunks = b"1\r\n \r\n".repeat(LIMIT / 2);
    fill(&caller, &mut stream, &chunks).await?;
    drip(&caller, &mut stream, b"1\r\n \r\n").await
}

/// Frames of a message whose last one never comes.
pub async fn message(caller: Arc<Caller>, number: usize) -> Result<()> {
    let places = caller.ports.sockets();
    let (port, path) = &places[number % places.len()];
    let mut socket = caller.socket(*port, path).await?;
    let _held = caller.tally.hold();
    let mut kind = Data::Text;
    for _ in 1..LIMIT / PIECE {
        caller.pace(PIECE).await;
        let frame = Frame::message(vec![b' '; PIECE], OpCode::Data(kind), false);
        timeout(HOLD, socket.send(Message::Frame(frame))).await??;
        kind = Data::Continue;
    }
    attend(&caller, &mut socket).await
}
