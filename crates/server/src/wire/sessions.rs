//! Sessions of the handshake era. Only the caller that began a session can use
//! it, and their number is bounded: a session takes about 140 kB until it times
//! out, and most clients never come back. When there are too many, the one that
//! was idle longest ends; its client is told to begin a new one.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use desk::{settings::Http, stations::identify::Identified};
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

use crate::address_limits::network;

tokio::task_local! {
    /// The caller of the current request. The protocol crate does not pass it on
    /// when it opens or looks up a session.
    static OWNER: SessionOwner;
}

/// Whose sessions are counted together: those of a key, or, for callers without
/// a key, those of an address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionOwner {
    caller: Arc<str>,
    address: Option<IpAddr>,
}

impl SessionOwner {
    pub fn new(who: &Identified, peer: Option<IpAddr>) -> Self {
        Self {
            caller: Arc::clone(&who.caller.id),
            address: peer.filter(|_| who.key.is_none()).map(network),
        }
    }

    /// Runs `work` in the name of this owner.
    pub async fn scope<F: Future>(self, work: F) -> F::Output {
        OWNER.scope(self, work).await
    }

    /// The owner of the current request; `None` outside of one.
    fn asking() -> Option<Self> {
        OWNER.try_with(Clone::clone).ok()
    }
}

/// The sessions of one counter. The book is common to all.
pub struct Sessions {
    inner: Arc<LocalSessionManager>,
    book: Arc<SessionBook>,
}

/// Every open session of the desk.
pub struct SessionBook {
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
    owner: SessionOwner,
    manager: Arc<LocalSessionManager>,
    used: u64,
    /// Streams that are being written.
    streams: usize,
}

impl SessionBook {
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
        owner: SessionOwner,
        manager: &Arc<LocalSessionManager>,
    ) -> Vec<(SessionId, Arc<LocalSessionManager>)> {
        let mut open = self.open();
        let mut leaving = Vec::new();
        let counts = open.counts();
        // All callers without a key together may have as many as one key.
        let is_alike = |other: &SessionOwner| match owner.address {
            Some(_) => other.address.is_some(),
            None => *other == owner,
        };
        let alike = counts.iter().filter(|(other, _)| is_alike(other));
        if alike.map(|(_, count)| count).sum::<usize>() >= self.most_of_one {
            leaving.extend(open.make_room(&counts, is_alike));
        }
        if open.entries.len() >= self.most {
            leaving.extend(open.make_room(&counts, |_| true));
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

    /// Whether this caller began the session.
    fn is_of(&self, id: &SessionId, caller: &SessionOwner) -> bool {
        let open = self.open();
        let entry = open.entries.get(id);
        entry.is_some_and(|entry| entry.owner.caller == caller.caller)
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
    fn counts(&self) -> HashMap<SessionOwner, usize> {
        let mut counts = HashMap::new();
        for entry in self.entries.values() {
            *counts.entry(entry.owner.clone()).or_default() += 1;
        }
        counts
    }

    /// Ends one session of the owner who has the most, so that nobody can push out
    /// others. Sessions without open streams end first, then the longest unused.
    fn make_room(
        &mut self,
        counts: &HashMap<SessionOwner, usize>,
        of: impl Fn(&SessionOwner) -> bool,
    ) -> Option<(SessionId, Arc<LocalSessionManager>)> {
        let counts = counts.iter().filter(|(owner, _)| of(owner));
        let most = counts.max_by_key(|(_, count)| **count)?.0;
        let candidates = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.owner == *most);
        let (id, _) = candidates.min_by_key(|(_, entry)| (entry.streams > 0, entry.used))?;
        let id = id.clone();
        let entry = self.entries.remove(&id)?;
        Some((id, entry.manager))
    }
}

/// A stream that is being written; its session is in use until it ends.
struct InUse {
    book: Arc<SessionBook>,
    id: SessionId,
}

impl InUse {
    fn new(book: &Arc<SessionBook>, id: &SessionId) -> Self {
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
    pub fn new(http: &Http, book: &Arc<SessionBook>) -> Self {
        let mut inner = LocalSessionManager::default();
        inner.session_config.keep_alive = Some(Duration::from_secs(http.session_seconds));
        // It would keep an unbounded number of answers for clients that come back.
        inner.session_config.completed_cache_ttl = Duration::ZERO;
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
        let owner = SessionOwner::asking().unwrap_or_else(|| SessionOwner {
            caller: "nobody".into(),
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

    /// Called before anything is done in a session. Callers who did not begin it
    /// can't tell that it exists.
    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        let is_own = SessionOwner::asking().is_some_and(|owner| self.book.is_of(id, &owner));
        Ok(is_own && self.inner.has_session(id).await?)
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
