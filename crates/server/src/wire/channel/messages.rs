//! The two ends of a connection, and what passes through them.

use std::sync::Arc;

use bytes::Bytes;
use desk::stations::identify::Credentials;
use kit::context::Language;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use crate::{
    addresses::Visit,
    wire::backlog::{Backlog, Held},
};

/// What goes out: a message, or the end with the reason for it.
pub enum Outgoing {
    Message(Text),
    /// The key was not valid; nothing else will be answered.
    Unauthorized,
    /// The client broke the rules of its transport.
    Broken(Breach),
}

/// A message, and what counts it as unread until it is dropped.
pub struct Text {
    pub text: String,
    pub held: Option<Held>,
}

/// The way out of a connection.
#[derive(Clone)]
pub struct Outbox {
    queue: mpsc::Sender<Outgoing>,
    /// `None` where a single client serves itself.
    backlog: Option<Arc<Backlog>>,
}

impl Outbox {
    pub fn new(queue: mpsc::Sender<Outgoing>, backlog: Option<Arc<Backlog>>) -> Self {
        Self { queue, backlog }
    }

    /// Waits while too many others wait, which slows down a client that does not
    /// read. A closed connection shows itself where its messages are received.
    pub async fn send(&self, text: String) {
        let held = self.backlog.as_ref().map(|it| it.hold(text.len()));
        let text = Text { text, held };
        let _ = self.queue.send(Outgoing::Message(text)).await;
    }

    /// The same, where nothing can be awaited.
    pub fn blocking_send(&self, text: String) {
        let text = Text { text, held: None };
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

/// A message that came, and its part of the memory for large ones. It is held
/// until the message is answered: what is made of it is larger still.
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
    pub incoming: mpsc::Receiver<Received>,
    pub outgoing: Outbox,
    pub credentials: Credentials,
    /// Whether they were good when the connection began. If not, they never
    /// are: nobody would close it when a key that came later is revoked.
    pub is_identified: bool,
    /// Whether it speaks as the counter's document has it: tools under the names
    /// given there, and their fields at the top of a result as well.
    pub own_dialect: bool,
    pub language: Option<Language>,
    /// Where it comes from; nobody knows of a pipe.
    pub visit: Option<Arc<Visit>>,
}
