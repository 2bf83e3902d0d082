//! Sessions of the handshake era, not too many of them. A session takes about
//! 50 kB for as long as its client might come back, which most never do: when
//! there are too many, the one that was idle longest ends, and should its client
//! come back after all, it is told to start anew.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::{Stream, StreamExt};
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::{
        WorkerTransport,
        streamable_http_server::session::{
            ServerSseMessage, SessionId, SessionManager,
            local::{LocalSessionManager, LocalSessionManagerError, LocalSessionWorker},
        },
    },
};

use crate::settings::Http;

tokio::task_local! {
    /// Who is asking: the protocol crate opens sessions without saying for whom.
    pub static OWNER: Owner;
}

/// A caller, at an address: those without keys are told apart at least by that.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Owner {
    pub caller: Arc<str>,
    pub address: Option<IpAddr>,
}

/// The sessions of one counter. The book is common to all.
pub struct Sessions {
    inner: Arc<LocalSessionManager>,
    book: Arc<Book>,
}

/// Every open session of the desk.
pub struct Book {
    open: Mutex<Open>,
    most: usize,
    most_of_one: usize,
}

#[derive(Default)]
struct Open {
    entries: HashMap<SessionId, Entry>,
    /// Counts uses, so that the order of two is never in doubt.
    uses: u64,
}

struct Entry {
    owner: Owner,
    manager: Arc<LocalSessionManager>,
    used: u64,
    /// Streams that are being written.
    streams: usize,
}

impl Book {
    pub fn new(http: &Http) -> Arc<Self> {
        Arc::new(Self {
            open: Mutex::default(),
            most: http.max_sessions.max(1),
            most_of_one: http.max_sessions_per_caller.max(1),
        })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a session; returns those that must end for it.
    fn enter(
        &self,
        id: &SessionId,
        owner: Owner,
        manager: &Arc<LocalSessionManager>,
    ) -> Vec<(SessionId, Arc<LocalSessionManager>)> {
        let mut open = self.open();
        let mut leaving = Vec::new();
        let of_owner = open.entries.values().filter(|e| e.owner == owner).count();
        if of_owner >= self.most_of_one {
            leaving.extend(open.remove_idlest(|entry| entry.owner == owner));
        }
        if open.entries.len() >= self.most {
            leaving.extend(open.remove_idlest(|_| true));
        }
        open.uses += 1;
        let entry = Entry {
            owner,
            manager: Arc::clone(manager),
            used: open.uses,
            streams: 0,
        };
        open.entries.insert(id.clone(), entry);
        leaving
    }

    fn use_it(&self, id: &SessionId) {
        let mut open = self.open();
        open.uses += 1;
        let now = open.uses;
        if let Some(entry) = open.entries.get_mut(id) {
            entry.used = now;
        }
    }
}

impl Open {
    /// Without open streams before those with, and the longest unused first.
    fn remove_idlest(
        &mut self,
        of: impl Fn(&Entry) -> bool,
    ) -> Option<(SessionId, Arc<LocalSessionManager>)> {
        let candidates = self.entries.iter().filter(|(_, entry)| of(entry));
        let (id, _) = candidates.min_by_key(|(_, entry)| (entry.streams > 0, entry.used))?;
        let id = id.clone();
        let entry = self.entries.remove(&id)?;
        Some((id, entry.manager))
    }
}

/// A stream that is being written; its session is in use until it ends.
struct InUse {
    book: Arc<Book>,
    id: SessionId,
}

impl InUse {
    fn new(book: &Arc<Book>, id: &SessionId) -> Self {
        book.use_it(id);
        if let Some(entry) = book.open().entries.get_mut(id) {
            entry.streams += 1;
        }
        Self {
            book: Arc::clone(book),
            id: id.clone(),
        }
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.book.use_it(&self.id);
        if let Some(entry) = self.book.open().entries.get_mut(&self.id) {
            entry.streams = entry.streams.saturating_sub(1);
        }
    }
}

impl Sessions {
    pub fn new(http: &Http, book: &Arc<Book>) -> Self {
        let mut inner = LocalSessionManager::default();
        inner.session_config.keep_alive = Some(Duration::from_secs(http.session_seconds));
        Self {
            inner: Arc::new(inner),
            book: Arc::clone(book),
        }
    }

    fn held<S>(&self, id: &SessionId, stream: S) -> impl Stream<Item = ServerSseMessage> + use<S>
    where
        S: Stream<Item = ServerSseMessage>,
    {
        let in_use = InUse::new(&self.book, id);
        stream.map(move |message| {
            let _ = &in_use;
            message
        })
    }
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = WorkerTransport<LocalSessionWorker>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let (id, transport) = self.inner.create_session().await?;
        let owner = OWNER.try_with(Clone::clone).unwrap_or_else(|_| Owner {
            caller: "unknown".into(),
            address: None,
        });
        for (leaving, manager) in self.book.enter(&id, owner, &self.inner) {
            tracing::debug!(session = %leaving, "a session ends to make room for another");
            // It may have ended by itself.
            let _ = manager.close_session(&leaving).await;
        }
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.book.open().entries.remove(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let stream = self.inner.create_stream(id, message).await?;
        Ok(self.held(id, stream))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.book.use_it(id);
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let stream = self.inner.create_standalone_stream(id).await?;
        Ok(self.held(id, stream))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let stream = self.inner.resume(id, last_event_id).await?;
        Ok(self.held(id, stream))
    }
}
