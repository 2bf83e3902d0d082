//! How many connections may be open, and of whom.
//!
//! A connection is unidentified until a request on it shows who sends it. Those
//! who need a key and have not shown one share a small number of places. A
//! newcomer always gets one: when all are taken, the connection that has waited
//! longest is closed, of the address that has the most. So nobody without a key
//! can keep a key holder out, from one address or from many.
//!
//! Where no key is needed, a connection without one counts as anonymous. All of
//! these together have half of the places, and so has each key.
//!
//! On the connection of a trusted proxy, clients take turns. Each of its requests
//! is identified by itself, and the proxy limits how many connections it opens.

mod full;

use std::{
    collections::{BTreeMap, HashMap},
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::http::HeaderMap;
use desk::{metrics::Metrics, settings::Settings, stations::identify::Identified};
use prometheus_client::metrics::{counter::Counter, gauge::Gauge};
use tokio_util::sync::CancellationToken;

use super::{
    proxies::Proxies,
    request_budget::{PendingRequest, RequestBudgets},
};
use crate::{
    address_limits::{Addresses, Visit, network},
    wire::backlog::{Backlog, BacklogOwner, Backlogs},
};

pub use full::Full;

/// One key may have one part in this many of all connections, and so may all
/// callers without a key together.
const SHARE: usize = 2;

/// Who is on the other side, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    Unidentified,
    /// Nobody in particular, where no key is needed.
    Anonymous,
    /// The holder of a valid key, or a person signed in to the console.
    Identified,
    /// A trusted proxy, behind which clients take turns.
    Proxy,
}

impl Standing {
    pub fn of(who: &Identified) -> Self {
        match who.key {
            Some(_) => Self::Identified,
            None => Self::Anonymous,
        }
    }
}

/// Every open connection of a desk, on all its listeners.
pub struct Connections {
    most: usize,
    most_unidentified: usize,
    /// 0 for no limit.
    most_per_address: usize,
    book: Mutex<Book>,
    budgets: RequestBudgets,
    max_head_bytes: usize,
    backlogs: Arc<Backlogs>,
    addresses: Arc<Addresses>,
    open: Gauge,
    refused: Counter,
}

#[derive(Default)]
struct Book {
    arrivals: u64,
    anonymous: usize,
    identified: usize,
    /// By the order of their arrival.
    unidentified: BTreeMap<u64, Unidentified>,
    of_address: HashMap<(IpAddr, Standing), usize>,
    of_key: HashMap<Arc<str>, usize>,
}

struct Unidentified {
    from: IpAddr,
    evicted: CancellationToken,
}

impl Connections {
    pub fn new(settings: &Settings, metrics: &Metrics) -> Arc<Self> {
        let http = &settings.http;
        Arc::new(Self {
            most: http.max_connections.max(1),
            most_unidentified: http.max_unidentified_connections.max(1),
            most_per_address: http.max_connections_per_address,
            book: Mutex::default(),
            budgets: RequestBudgets::default(),
            max_head_bytes: http.max_head_bytes,
            backlogs: Arc::default(),
            addresses: Addresses::new(settings, metrics),
            open: metrics.connections.clone(),
            refused: metrics.connections_refused.clone(),
        })
    }

    /// Enters a new connection. `proxies` if the peer is one of them.
    pub fn enter(
        self: &Arc<Self>,
        peer: IpAddr,
        needs_key: bool,
        proxies: Option<Arc<Proxies>>,
    ) -> OpenConnection {
        let (from, evicted) = (network(peer), CancellationToken::new());
        let mut book = self.book();
        book.arrivals += 1;
        let number = book.arrivals;
        let (is_proxy, anonymous) = (proxies.is_some(), Standing::Anonymous);
        let standing = if is_proxy && !self.is_full(&book) {
            book.settle(from, Standing::Proxy);
            Standing::Proxy
        } else if !needs_key && self.room(&book, Some(from), anonymous).is_ok() {
            book.settle(from, anonymous);
            anonymous
        } else {
            if book.unidentified.len() >= self.most_unidentified {
                book.evict_one();
                self.refused.inc();
            }
            let evicted = evicted.clone();
            let entry = Unidentified { from, evicted };
            book.unidentified.insert(number, entry);
            Standing::Unidentified
        };
        drop(book);
        self.open.inc();
        OpenConnection {
            connections: Arc::clone(self),
            number,
            from,
            standing: Mutex::new(standing),
            key: OnceLock::new(),
            request: PendingRequest::new(self.budgets.clone(), self.max_head_bytes),
            backlog: self
                .backlogs
                .of(BacklogOwner::Address(from), evicted.clone()),
            evicted,
            peer,
            visit: Arc::new(self.addresses.visit(peer)),
            is_shared: AtomicBool::new(is_proxy),
            proxies,
            sender_has_key: AtomicBool::new(false),
        }
    }

    fn is_full(&self, book: &Book) -> bool {
        book.anonymous + book.identified >= self.most
    }

    /// Whether one more connection may have this standing. `from` is `None` behind a
    /// proxy, which counts the connections of an address itself.
    fn room(&self, book: &Book, from: Option<IpAddr>, standing: Standing) -> Result<(), Full> {
        let of_address = from.and_then(|from| book.of_address.get(&(from, standing)).copied());
        if self.most_per_address != 0 && of_address.unwrap_or_default() >= self.most_per_address {
            return Err(Full::Address);
        }
        let is_anonymous = standing != Standing::Identified;
        if self.is_full(book) || (is_anonymous && book.anonymous >= self.share()) {
            return Err(Full::Desk);
        }
        Ok(())
    }

    fn share(&self) -> usize {
        self.most.div_ceil(SHARE)
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn count(&mut self, standing: Standing) -> &mut usize {
        match standing {
            Standing::Identified | Standing::Proxy => &mut self.identified,
            _ => &mut self.anonymous,
        }
    }

    fn settle(&mut self, from: IpAddr, standing: Standing) {
        *self.count(standing) += 1;
        *self.of_address.entry((from, standing)).or_default() += 1;
    }

    fn leave(&mut self, from: IpAddr, standing: Standing) {
        let count = self.count(standing);
        *count = count.saturating_sub(1);
        if let Some(open) = self.of_address.get_mut(&(from, standing)) {
            *open = open.saturating_sub(1);
            if *open == 0 {
                self.of_address.remove(&(from, standing));
            }
        }
    }

    fn leave_key(&mut self, key: &Arc<str>) {
        if let Some(open) = self.of_key.get_mut(key) {
            *open -= 1;
            if *open == 0 {
                self.of_key.remove(key);
            }
        }
    }

    /// Closes the oldest unidentified connection of the address with the most.
    fn evict_one(&mut self) {
        let mut of_address: HashMap<IpAddr, usize> = HashMap::new();
        for entry in self.unidentified.values() {
            *of_address.entry(entry.from).or_default() += 1;
        }
        let most = of_address.values().copied().max().unwrap_or_default();
        let has_most = |entry: &Unidentified| of_address.get(&entry.from) == Some(&most);
        let oldest = self.unidentified.iter().find(|(_, entry)| has_most(entry));
        if let Some(entry) = oldest
            .map(|(number, _)| *number)
            .and_then(|number| self.unidentified.remove(&number))
        {
            entry.evicted.cancel();
        }
    }
}

/// Counts a connection for as long as somebody holds it: the HTTP server, and
/// after an upgrade the socket.
pub struct OpenConnection {
    connections: Arc<Connections>,
    number: u64,
    from: IpAddr,
    standing: Mutex<Standing>,
    /// The first key that was shown on it.
    key: OnceLock<Arc<str>>,
    evicted: CancellationToken,
    /// The one that is being read.
    pub request: PendingRequest,
    pub backlog: Arc<Backlog>,
    peer: IpAddr,
    /// Of the peer itself.
    visit: Arc<Visit>,
    /// `None` if the peer is not a trusted proxy.
    proxies: Option<Arc<Proxies>>,
    /// Whether clients take turns on it, behind a proxy.
    is_shared: AtomicBool,
    /// On a shared connection: whether the sender of the request has a key.
    sender_has_key: AtomicBool,
}

impl OpenConnection {
    /// Where the request with this head comes from.
    pub fn visit(&self, head: &HeaderMap) -> Arc<Visit> {
        let Some(proxies) = &self.proxies else {
            return Arc::clone(&self.visit);
        };
        let client = proxies.client(self.peer, head);
        self.sender_has_key.store(false, Ordering::Relaxed);
        if self.is_shared() {
            self.backlog.read_by(BacklogOwner::Address(network(client)));
        }
        Arc::new(self.connections.addresses.visit(client))
    }

    pub fn is_shared(&self) -> bool {
        self.is_shared.load(Ordering::Relaxed)
    }

    /// A proxy gives it to one client until it ends: a WebSocket.
    pub fn dedicate(&self) {
        self.is_shared.store(false, Ordering::Relaxed);
    }

    /// Whether the sender of the request that is being read has a key.
    pub fn has_key(&self) -> bool {
        self.is(Standing::Identified) || self.sender_has_key.load(Ordering::Relaxed)
    }

    /// Sets who sends, once that is known.
    pub fn identify(&self, who: &Identified) -> Result<(), Full> {
        if self.is_shared() {
            let has_key = who.key.is_some();
            self.sender_has_key.store(has_key, Ordering::Relaxed);
            if has_key {
                let caller = Arc::clone(&who.caller.id);
                self.backlog.read_by(BacklogOwner::Key(caller));
            }
            return Ok(());
        }
        if who.key.is_some() {
            self.count_for(&who.caller.id)?;
            let caller = Arc::clone(&who.caller.id);
            self.backlog.read_by(BacklogOwner::Key(caller));
        }
        self.settle(Standing::of(who))
    }

    fn count_for(&self, key: &Arc<str>) -> Result<(), Full> {
        let connections = &self.connections;
        let mut book = connections.book();
        if self.key.get().is_some() {
            return Ok(());
        }
        let open = book.of_key.entry(Arc::clone(key)).or_default();
        if *open >= connections.share() {
            connections.refused.inc();
            return Err(Full::Key);
        }
        *open += 1;
        let _ = self.key.set(Arc::clone(key));
        Ok(())
    }

    /// Gives the connection another standing; a connection never loses one.
    pub fn settle(&self, wanted: Standing) -> Result<(), Full> {
        let mut standing = self.standing();
        if self.is_shared()
            || wanted == Standing::Unidentified
            || *standing == wanted
            || *standing == Standing::Identified
        {
            return Ok(());
        }
        let connections = &self.connections;
        let from = self.proxies.is_none().then_some(self.from);
        let mut book = connections.book();
        let settled = match *standing {
            // Evicted to make room for another.
            Standing::Unidentified if !book.unidentified.contains_key(&self.number) => {
                Err(Full::Desk)
            }
            Standing::Unidentified => connections.room(&book, from, wanted).inspect(|()| {
                book.unidentified.remove(&self.number);
            }),
            before => {
                book.leave(self.from, before);
                let room = connections.room(&book, from, wanted);
                room.inspect_err(|_| book.settle(self.from, before))
            }
        };
        if settled.is_err() {
            connections.refused.inc();
            return settled;
        }
        book.settle(self.from, wanted);
        *standing = wanted;
        Ok(())
    }

    pub fn is(&self, standing: Standing) -> bool {
        *self.standing() == standing
    }

    /// Waits until the connection is evicted to make room for another.
    pub async fn evicted(&self) {
        self.evicted.cancelled().await;
    }

    /// Waits until the connection has to end: it was evicted, or it is still
    /// unidentified after `limit`.
    pub async fn overdue(&self, limit: Duration) {
        tokio::select! {
            () = self.evicted() => {}
            () = tokio::time::sleep(limit) => {
                if !self.is(Standing::Unidentified) {
                    std::future::pending().await
                }
            }
        }
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let standing = *self.standing();
        let mut book = self.connections.book();
        if let Some(key) = self.key.get() {
            book.leave_key(key);
        }
        match standing {
            Standing::Unidentified => drop(book.unidentified.remove(&self.number)),
            standing => book.leave(self.from, standing),
        }
        self.connections.open.dec();
    }
}

#[cfg(test)]
mod tests;
