//! One WebSocket from its handshake to its end: reading, writing, pings.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{http::HeaderMap, response::Response};
use bytes::Bytes;
use desk::{
    Desk,
    pipeline::Refusal,
    stations::identify::{Credentials, Identified, Unidentified},
};
use futures::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use kit::context::Language;
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use tokio_tungstenite::tungstenite::{
    self, Message, Utf8Bytes,
    error::ProtocolError,
    protocol::{CloseFrame, WebSocketConfig, frame::coding::CloseCode},
};
use tokio_util::sync::CancellationToken;

use super::{
    frames::{self, Socket},
    handshake::Upgrade,
};
use crate::{
    address_limits::Visit,
    transport::{body::MAX_UNIDENTIFIED_BODY, connections::OpenConnection, guard::Guard},
    wire::{
        channel::{self, Breach, Channel, Outgoing, OutgoingQueue, Received, Text},
        definitions::PublishedCounter,
        language,
    },
};

/// The library allocates this much for every socket, also while it idles. What it reads
/// has been read from the network before, in larger pieces.
const READ_BUFFER: usize = 512;

/// What a socket writes at a time.
const WRITE_BUFFER: usize = 4 * 1024;

/// Requests read ahead while an earlier one is being taken up.
const READ_AHEAD: usize = 1;

/// The largest message of a client without a key, where none is needed.
const MOST_WITHOUT_KEY: usize = 256 * 1024;

/// A client that leaves so many pings unanswered is disconnected.
const MOST_UNANSWERED_PINGS: u32 = 2;

/// How a socket is closed: a code and the reason.
type Farewell = (CloseCode, &'static str);

const INVALID_KEY: Farewell = (CloseCode::Policy, "Invalid API key");

fn refused(why: &Refusal) -> Farewell {
    match why {
        Refusal::InvalidKey => INVALID_KEY,
        Refusal::OutOfScope { .. } => (CloseCode::Policy, "The key does not open this counter"),
        // Nothing else ends a socket.
        _ => (CloseCode::Again, "The database can't be reached"),
    }
}

/// The counter that a socket is for.
pub struct SocketTarget<'a> {
    pub desk: &'a Arc<Desk>,
    pub guard: &'a Guard,
    pub published: &'a Arc<PublishedCounter>,
    /// The port that the counter's document names.
    pub is_own_port: bool,
}

/// Accepts the upgrade, also without a valid key: the answer to the first request
/// then says why the socket is closed.
pub async fn accept(
    to: &SocketTarget<'_>,
    headers: &HeaderMap,
    from: Arc<Visit>,
    open: Arc<OpenConnection>,
    upgrade: Upgrade,
) -> Response {
    open.dedicate();
    let settings = &to.desk.settings.websocket;
    let credentials = to.guard.credentials(headers);
    let name = to.published.counter.about.name;
    let who = to.desk.keyring.identify(&credentials, name).await;
    let most = match &who {
        Ok(who) => {
            if let Err(full) = open.identify(who) {
                return full.answer();
            }
            match who.key {
                Some(_) => settings.max_message_bytes,
                // Each socket can hold an unfinished message, and these have no limit per key.
                None => settings.max_message_bytes.min(MOST_WITHOUT_KEY),
            }
        }
        Err(why) => {
            // Counted now: how the socket ends shows that the key is wrong.
            let is_wrong = *why == Unidentified::InvalidKey;
            if is_wrong && matches!(credentials, Credentials::Key(_)) {
                from.wrong_key();
            }
            // Its first request is refused in any case.
            settings.max_message_bytes.min(MAX_UNIDENTIFIED_BODY)
        }
    };
    drop(open.request.end(most));
    let accepted = Accepted {
        desk: Arc::clone(to.desk),
        published: Arc::clone(to.published),
        from,
        open,
        credentials,
        who,
        language: language::of_headers(headers),
        own_dialect: to.is_own_port,
        most,
    };
    let config = WebSocketConfig::default()
        // The library's own are 128 KiB each, for every socket that idles.
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(WRITE_BUFFER)
        .max_message_size(Some(most))
        .max_frame_size(Some(settings.max_frame_bytes.min(most)));
    upgrade.accept(config, move |socket| accepted.serve(socket))
}

/// A socket before its first message.
struct Accepted {
    desk: Arc<Desk>,
    published: Arc<PublishedCounter>,
    from: Arc<Visit>,
    open: Arc<OpenConnection>,
    credentials: Credentials,
    who: Result<Identified, Unidentified>,
    language: Option<Language>,
    own_dialect: bool,
    /// The size of its largest message.
    most: usize,
}

impl Accepted {
    async fn serve(self, socket: Socket) {
        let settings = &self.desk.settings.websocket;
        let (to_wire, incoming) = mpsc::channel(READ_AHEAD);
        let (queue, from_wire) = mpsc::channel(settings.queue.max(1));
        let outgoing = OutgoingQueue::new(queue, Some(Arc::clone(&self.open.backlog)));
        let channel = Channel {
            incoming,
            outgoing: outgoing.clone(),
            credentials: self.credentials.clone(),
            identified: self.who.as_ref().map(|_| ()).map_err(Clone::clone),
            own_dialect: self.own_dialect,
            language: self.language,
            visit: Some(Arc::clone(&self.from)),
        };
        let (sink, stream) = socket.split();
        let ping = Duration::from_secs(settings.ping_seconds.max(1));
        let heard = Arc::new(Mutex::new(Instant::now()));
        let (close, told_to_close) = oneshot::channel();
        let mut writer = tokio::spawn(write(
            sink,
            from_wire,
            told_to_close,
            ping,
            Arc::clone(&heard),
            self.desk.stopping.clone(),
        ));
        // Tells calls in flight that their client has gone.
        let gone = CancellationToken::new();
        let (desk, published) = (Arc::clone(&self.desk), Arc::clone(&self.published));
        let work = channel::serve(desk, published, channel, gone.clone());
        let mut work = self.desk.in_flight.spawn(work);
        let (mut written, mut worked) = (false, false);
        tokio::select! {
            () = self.read(stream, to_wire, outgoing.clone(), heard) => gone.cancel(),
            farewell = self.must_end() => {
                // At once: without a valid key nothing more is sent.
                let _ = close.send(farewell);
                gone.cancel();
            }
            _ = &mut writer => {
                written = true;
                gone.cancel();
            }
            // The desk is stopping, and everything in flight has been answered.
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

    /// When the desk ends the socket, and how.
    async fn must_end(&self) -> Farewell {
        let no_longer_valid = async {
            match &self.who {
                Ok(who) => who.revoked().cancelled().await,
                Err(_) => {
                    let limit = self.desk.settings.http.identify_timeout_seconds;
                    tokio::time::sleep(Duration::from_secs(limit)).await;
                }
            }
        };
        tokio::select! {
            () = no_longer_valid => INVALID_KEY,
            () = self.open.evicted() => match self.who {
                Ok(_) => (CloseCode::Again, "too many answers are unread"),
                Err(_) => (CloseCode::Again, "too many connections without a key"),
            },
        }
    }

    async fn read(
        &self,
        mut stream: SplitStream<Socket>,
        to_wire: mpsc::Sender<Box<Received>>,
        outgoing: OutgoingQueue,
        heard: Arc<Mutex<Instant>>,
    ) {
        while let Some(message) = stream.next().await {
            let message = match message {
                Ok(message) => message,
                Err(error) => {
                    if let Some(breach) = breach(error) {
                        outgoing.end(Outgoing::Broken(breach)).await;
                    }
                    return;
                }
            };
            *heard.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
            let bytes = match message {
                Message::Text(text) => Bytes::from(text),
                Message::Binary(bytes) => bytes,
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => continue,
                Message::Close(_) => return,
            };
            let permit = self.open.request.end(self.most);
            let received = Box::new(Received { bytes, permit });
            if to_wire.send(received).await.is_err() {
                return;
            }
        }
    }
}

/// What the client did wrong; nothing, when the connection just broke.
fn breach(error: tungstenite::Error) -> Option<Breach> {
    use tungstenite::Error;
    Some(match error {
        Error::Capacity(_) => Breach::TooLarge,
        Error::Utf8(_) => Breach::NotText,
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => return None,
        Error::Protocol(_) => Breach::Protocol,
        _ => return None,
    })
}

fn farewell(breach: Breach) -> Farewell {
    match breach {
        Breach::TooLarge => (CloseCode::Size, "the message is too large"),
        Breach::NotText => (CloseCode::Invalid, "the text is not UTF-8"),
        Breach::Protocol => (CloseCode::Protocol, "the frame is not valid"),
    }
}

async fn write(
    mut sink: SplitSink<Socket, Message>,
    mut from_wire: mpsc::Receiver<Outgoing>,
    told_to_close: oneshot::Receiver<Farewell>,
    ping: Duration,
    heard: Arc<Mutex<Instant>>,
    stopping: CancellationToken,
) {
    let mut pings = tokio::time::interval_at(Instant::now() + ping, ping);
    let (mut last_ping, mut unanswered) = (None, 0);
    let told_to_close = async {
        match told_to_close.await {
            Ok(farewell) => farewell,
            // Nobody will.
            Err(_) => std::future::pending().await,
        }
    };
    let mut told_to_close = std::pin::pin!(told_to_close);
    let farewell = loop {
        let (message, _unread) = tokio::select! {
            biased;
            farewell = &mut told_to_close => break farewell,
            outgoing = from_wire.recv() => match outgoing {
                Some(Outgoing::Message(message)) => {
                    let Text { text, held } = *message;
                    (Message::Text(Utf8Bytes::from(text)), held)
                }
                Some(Outgoing::Unidentified(why)) => break refused(&why),
                Some(Outgoing::Broken(breach)) => break farewell(breach),
                None if stopping.is_cancelled() => break (CloseCode::Away, "the desk is stopping"),
                None => break (CloseCode::Normal, ""),
            },
            _ = pings.tick() => {
                let heard = *heard.lock().unwrap_or_else(PoisonError::into_inner);
                if last_ping.is_none_or(|sent| heard > sent) {
                    unanswered = 0;
                }
                if unanswered == MOST_UNANSWERED_PINGS {
                    return;
                }
                unanswered += 1;
                last_ping = Some(Instant::now());
                (Message::Ping(Bytes::new()), None)
            }
        };
        // Ends the connection of a client that reads too slowly. `WriteTimeout`
        // ends that of a client that reads nothing.
        let sent = tokio::select! {
            sent = tokio::time::timeout(ping * 2, frames::send(&mut sink, message)) => sent,
            farewell = &mut told_to_close => break farewell,
        };
        if !matches!(sent, Ok(Ok(()))) {
            return;
        }
    };
    // Messages that still wait are dropped.
    drop(from_wire);
    let (code, reason) = farewell;
    let close = Message::Close(Some(CloseFrame {
        code,
        reason: Utf8Bytes::from_static(reason),
    }));
    let _ = tokio::time::timeout(Duration::from_secs(2), sink.send(close)).await;
}
