//! MCP over WebSocket: one message a text frame, both protocol eras, and bare
//! requests without any handshake.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    extract::{
        WebSocketUpgrade,
        ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code},
    },
    http::HeaderMap,
    response::Response,
};
use bytes::Bytes;
use futures::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{guard::Guard, language, listener::OpenConnection};
use crate::{
    desk::{Desk, Window},
    settings,
    wire::channel::{self, Breach, Channel, Outgoing},
};

/// What a socket reads or writes at a time.
const BUFFER: usize = 4 * 1024;

/// Requests read ahead while earlier ones are being taken up.
const READ_AHEAD: usize = 16;

/// Where a socket leads.
pub struct To<'a> {
    pub desk: &'a Arc<Desk>,
    pub guard: &'a Guard,
    pub window: &'a Arc<Window>,
    /// The port that the counter's document names.
    pub is_own_port: bool,
}

pub fn accept(
    to: &To<'_>,
    headers: &HeaderMap,
    open: Arc<OpenConnection>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let settings = to.desk.settings.websocket.clone();
    let credentials = to.guard.credentials(headers);
    let language = language::of_headers(headers);
    let (desk, window) = (Arc::clone(to.desk), Arc::clone(to.window));
    let own_dialect = to.is_own_port;
    upgrade
        .protocols(["mcp"])
        // The library's own are 128 KiB each, for every socket that idles.
        .read_buffer_size(BUFFER)
        .write_buffer_size(BUFFER)
        .max_message_size(settings.max_message_bytes)
        .max_frame_size(settings.max_frame_bytes)
        .on_upgrade(move |socket| async move {
            let (to_wire, incoming) = mpsc::channel(READ_AHEAD);
            let (outgoing, from_wire) = mpsc::channel(settings.queue.max(1));
            let channel = Channel {
                incoming,
                outgoing,
                credentials,
                bare_dialect: true,
                own_dialect,
                language,
                visit: Some(Arc::clone(&open.visit)),
            };
            serve(desk, window, socket, settings, channel, to_wire, from_wire).await;
            drop(open);
        })
}

async fn serve(
    desk: Arc<Desk>,
    window: Arc<Window>,
    socket: WebSocket,
    settings: settings::WebSocket,
    channel: Channel,
    to_wire: mpsc::Sender<Bytes>,
    from_wire: mpsc::Receiver<Outgoing>,
) {
    let (sink, stream) = socket.split();
    let outgoing = channel.outgoing.clone();
    let name = window.counter.about.name;
    let who = desk.keyring.identify(&channel.credentials, name).await;
    let revoked = who.map_or_else(CancellationToken::new, |who| who.revoked());
    let ping = Duration::from_secs(settings.ping_seconds.max(1));
    let heard = Arc::new(Mutex::new(Instant::now()));
    let mut writer = tokio::spawn(write(
        sink,
        from_wire,
        ping,
        Arc::clone(&heard),
        desk.stopping.clone(),
    ));
    // Tells calls under way that their client has gone.
    let gone = CancellationToken::new();
    let work = channel::serve(Arc::clone(&desk), window, channel, gone.clone());
    let mut work = desk.under_way.spawn(work);
    let (mut written, mut worked) = (false, false);
    tokio::select! {
        () = read(stream, to_wire, outgoing.clone(), heard) => gone.cancel(),
        () = revoked.cancelled() => {
            let _ = outgoing.send(Outgoing::Unauthorized).await;
            gone.cancel();
        }
        _ = &mut writer => {
            written = true;
            gone.cancel();
        }
        // The desk is stopping, and everything under way has been answered.
        _ = &mut work => worked = true,
    }
    drop(outgoing);
    // Whichever is left ends by itself: the work when it learns that the client
    // has gone, the writer when nobody can send to it any more.
    if !worked {
        let _ = work.await;
    }
    if !written {
        let _ = writer.await;
    }
}

async fn read(
    mut stream: SplitStream<WebSocket>,
    to_wire: mpsc::Sender<Bytes>,
    outgoing: mpsc::Sender<Outgoing>,
    heard: Arc<Mutex<Instant>>,
) {
    while let Some(message) = stream.next().await {
        let message = match message {
            Ok(message) => message,
            Err(error) => {
                if let Some(breach) = breach(error) {
                    let _ = outgoing.send(Outgoing::Broken(breach)).await;
                }
                return;
            }
        };
        *heard.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        let bytes = match message {
            Message::Text(text) => Bytes::from(text),
            Message::Binary(bytes) => bytes,
            Message::Ping(_) | Message::Pong(_) => continue,
            Message::Close(_) => return,
        };
        if to_wire.send(bytes).await.is_err() {
            return;
        }
    }
}

/// What the client did wrong; nothing, when the connection just broke.
fn breach(error: axum::Error) -> Option<Breach> {
    use tungstenite::{Error, error::ProtocolError};
    let error = error.into_inner();
    Some(match error.downcast_ref::<Error>()? {
        Error::Capacity(_) => Breach::TooLarge,
        Error::Utf8(_) => Breach::NotText,
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => return None,
        Error::Protocol(_) => Breach::Protocol,
        _ => return None,
    })
}

fn farewell(breach: Breach) -> (u16, &'static str) {
    match breach {
        Breach::TooLarge => (close_code::SIZE, "the message is too large"),
        Breach::NotText => (close_code::INVALID, "the text is not UTF-8"),
        Breach::Protocol => (close_code::PROTOCOL, "the frame is not valid"),
    }
}

async fn write(
    mut sink: SplitSink<WebSocket, Message>,
    mut from_wire: mpsc::Receiver<Outgoing>,
    ping: Duration,
    heard: Arc<Mutex<Instant>>,
    stopping: CancellationToken,
) {
    let mut pings = tokio::time::interval_at(Instant::now() + ping, ping);
    let farewell = loop {
        let message = tokio::select! {
            outgoing = from_wire.recv() => match outgoing {
                Some(Outgoing::Message(text)) => Message::Text(Utf8Bytes::from(text)),
                Some(Outgoing::Unauthorized) => break (close_code::POLICY, "Invalid API key"),
                Some(Outgoing::Broken(breach)) => break farewell(breach),
                None if stopping.is_cancelled() => break (close_code::AWAY, "the desk is stopping"),
                None => break (close_code::NORMAL, ""),
            },
            _ = pings.tick() => {
                let silent = heard
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .elapsed();
                if silent > ping * 2 {
                    return;
                }
                Message::Ping(Bytes::new())
            }
        };
        // A client that does not read at all is given up on.
        match tokio::time::timeout(ping * 2, sink.send(message)).await {
            Ok(Ok(())) => {}
            _ => return,
        }
    };
    let (code, reason) = farewell;
    let close = Message::Close(Some(CloseFrame {
        code,
        reason: Utf8Bytes::from_static(reason),
    }));
    let _ = tokio::time::timeout(Duration::from_secs(2), sink.send(close)).await;
}
