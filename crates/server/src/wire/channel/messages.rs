//! The two ends of a connection, and what passes through them.

use std::sync::Arc;

use bytes::Bytes;
use desk::{
    pipeline::Refusal,
    stations::identify::{Credentials, Unidentified},
};
use kit::context::Language;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use crate::{
    address_limits::Visit,
    wire::backlog::{Backlog, UnreadAnswer},
};

/// What goes out: a message, or the end with the reason for it. Small, since the queue of
/// every connection allocates room for 32 of them.
pub enum Outgoing {
    Message(Box<Text>),
    /// The key was not valid; nothing else will be answered.
    Unidentified(Box<Refusal>),
    /// The client broke the rules of its transport.
    Broken(Breach),
}

/// A message, and what counts it as unread until it is dropped.
pub struct Text {
    pub text: String,
    pub held: Option<UnreadAnswer>,
}

/// The way out of a connection.
#[derive(Clone)]
pub struct OutgoingQueue {
    queue: mpsc::Sender<Outgoing>,
    /// `None` on stdio, where the only client is the user's own.
    backlog: Option<Arc<Backlog>>,
}

impl OutgoingQueue {
    pub fn new(queue: mpsc::Sender<Outgoing>, backlog: Option<Arc<Backlog>>) -> Self {
        Self { queue, backlog }
    }

    /// Waits while the queue is full, which slows down a client that does not
    /// read. A closed connection is noticed where its messages are received.
    pub async fn send(&self, text: String) {
        let held = self.backlog.as_ref().map(|it| it.hold(text.len()));
        let text = Box::new(Text { text, held });
        let _ = self.queue.send(Outgoing::Message(text)).await;
    }

    /// The same, where nothing can be awaited.
    pub fn blocking_send(&self, text: String) {
        let text = Box::new(Text { text, held: None });
        let _ = self.queue.blocking_send(Outgoing::Message(text));
    }

    /// Waits until there is room for one more message.
    pub async fn has_room(&self) {
        drop(self.queue.reserve().await);
    }

    /// Ends the connection.
    pub async fn end(&self, with: Outgoing) {
        let _ = self.queue.send(with).await;
    }
}

/// A message, and its permit if it is large. The permit is held until the message
/// is answered, because the parsed message takes even more memory.
pub struct Received {
    pub bytes: Bytes,
    pub permit: Option<OwnedSemaphorePermit>,
}

#[derive(Debug, Clone, Copy)]
pub enum Breach {
    /// More than a message may hold.
    TooLarge,
    /// Text that is not UTF-8.
    NotText,
    /// Anything else.
    Protocol,
}

/// The two ends a transport pumps bytes through, and who is on the other side.
pub struct Channel {
    /// Boxed, as small as what goes out.
    pub incoming: mpsc::Receiver<Box<Received>>,
    pub outgoing: OutgoingQueue,
    pub credentials: Credentials,
    /// Whether they were valid when the connection began. If not, they never
    /// become valid: nothing would close the connection when the key is revoked.
    pub identified: Result<(), Unidentified>,
    /// Whether it is on the counter's own port: tools have the names of the
    /// counter's document, and their fields stand at the top of a result too.
    pub own_dialect: bool,
    pub language: Option<Language>,
    /// Where it comes from; `None` for a pipe.
    pub visit: Option<Arc<Visit>>,
}
