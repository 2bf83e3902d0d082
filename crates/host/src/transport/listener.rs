//! Accepts connections: a limited number, with time-outs, and lets those in
//! flight finish when the program stops.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{
    Router,
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use hyper::{Request, body::Incoming, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use kit::{Error, Result};
use prometheus_client::metrics::gauge::Gauge;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::task::TaskTracker;
use tower_service::Service;

use super::{
    abuse::{Addresses, Visit},
    answer,
    tls::Tls,
};
use crate::{Desk, settings};

/// How long connections have to close once all their streams have ended.
const CLOSING: Duration = Duration::from_secs(2);

/// Connections beyond the limit that are still listened to: a probe that finds a
/// busy desk must not take it for a dead one.
const SPARE: usize = 16;

/// They have this long to ask.
const SPARE_TIMEOUT: Duration = Duration::from_secs(5);

/// A bound port. Binding is apart from serving so that a port that is taken is
/// reported before anything else starts.
pub struct Listener {
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    pub address: SocketAddr,
}

/// Counts a connection for as long as somebody holds it: the HTTP server, and
/// after an upgrade the socket.
pub struct OpenConnection {
    _slot: OwnedSemaphorePermit,
    open: Gauge,
    pub peer: IpAddr,
    pub visit: Arc<Visit>,
}

impl OpenConnection {
    fn new(slot: OwnedSemaphorePermit, open: Gauge, peer: IpAddr, visit: Visit) -> Self {
        open.inc();
        Self {
            _slot: slot,
            open,
            peer,
            visit: Arc::new(visit),
        }
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.open.dec();
    }
}

impl Listener {
    /// `section` configures this listener, `flag` moves or switches it off.
    pub async fn bind(
        listener: &settings::Listener,
        section: &'static str,
        flag: &str,
        tls: Option<&Arc<Tls>>,
    ) -> Result<Self> {
        let address = checked_address(listener, section, tls.is_some())?;
        let listener = TcpListener::bind((address, listener.port))
            .await
            .map_err(|error| {
                Error::new(
                    "PORT_TAKEN",
                    format!(
                        "Port {} on {address} can't be opened: {error}.",
                        listener.port
                    ),
                )
                .next(format!(
                    "Choose another with {flag} PORT, or switch it off with {flag} 0."
                ))
            })?;
        let address = listener.local_addr().map_err(Error::internal)?;
        Ok(Self {
            listener,
            tls: tls.cloned(),
            address,
        })
    }

    /// `http` or `ws`, with an `s` where there is TLS.
    pub fn scheme(&self, plain: &str) -> String {
        let encrypted = if self.tls.is_some() { "s" } else { "" };
        format!("{plain}{encrypted}")
    }

    async fn accept(self, router: Router, hall: Hall) {
        let desk = &hall.desk;
        let limit = header_timeout(desk);
        loop {
            let (stream, peer) = tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, peer)) => (stream, peer.ip()),
                    Err(error) => {
                        // Out of file handles, most likely: give others time to close.
                        tracing::warn!(%error, "a connection could not be accepted");
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        continue;
                    }
                },
                () = desk.stopping.cancelled() => return,
            };
            // Without it an answer in two parts waits for the client's
            // acknowledgement, 40 ms each.
            let _ = stream.set_nodelay(true);
            let (tls, router, hall) = (self.tls.clone(), router.clone(), hall.clone());
            match hall.admit(peer) {
                Ok(open) => hall.connections.clone().spawn(async move {
                    if let Some(stream) = encrypted(tls, stream, limit).await {
                        attend(stream, router, &hall.desk, open).await;
                    }
                }),
                Err(full) => match hall.spare(full) {
                    Some(slot) => hall.connections.clone().spawn(async move {
                        if let Some(stream) = encrypted(tls, stream, limit).await {
                            turn_away(stream, router, &hall.desk, full).await;
                        }
                        drop(slot);
                    }),
                    None => {
                        desk.metrics.connections_refused.inc();
                        continue;
                    }
                },
            };
        }
    }
}

/// A connection, encrypted or not.
trait Bytes: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Bytes for T {}

async fn encrypted(
    tls: Option<Arc<Tls>>,
    stream: TcpStream,
    limit: Duration,
) -> Option<Box<dyn Bytes>> {
    match tls {
        None => Some(Box::new(stream)),
        Some(tls) => Some(Box::new(tls.accept(stream, limit).await?)),
    }
}

fn header_timeout(desk: &Desk) -> Duration {
    Duration::from_secs(desk.settings.http.header_timeout_seconds.max(1))
}

/// Every request of a connection, until either side ends it.
async fn attend(stream: Box<dyn Bytes>, router: Router, desk: &Desk, open: OpenConnection) {
    let open = Arc::new(open);
    let held = Arc::clone(&open);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&held));
        router.clone().call(request)
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(header_timeout(desk))
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    // A broken connection is the client's affair: no error is kept.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = desk.stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
    drop(open);
}

/// One request of a connection for which there is no room: answered when it is a
/// probe, refused otherwise.
async fn turn_away(stream: Box<dyn Bytes>, router: Router, desk: &Desk, full: Full) {
    let refused = desk.metrics.connections_refused.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let is_probe = matches!(request.uri().path(), "/livez" | "/readyz" | "/metrics");
        let (mut router, refused) = (router.clone(), refused.clone());
        async move {
            if is_probe {
                return router.call(request).await;
            }
            refused.inc();
            answer::hear_out(request.into_body()).await;
            Ok(full.answer())
        }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(SPARE_TIMEOUT)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    let _ = tokio::time::timeout(SPARE_TIMEOUT * 2, connection).await;
}

/// Why there is no room for a connection.
#[derive(Clone, Copy)]
enum Full {
    Desk,
    /// Its own address has too many.
    Address,
}

impl Full {
    fn answer(self) -> Response {
        let (status, text) = match self {
            Self::Desk => (
                StatusCode::SERVICE_UNAVAILABLE,
                "Too many connections are open. Try again in a moment.",
            ),
            Self::Address => (
                StatusCode::TOO_MANY_REQUESTS,
                "Too many connections from your address are open. Close some of them.",
            ),
        };
        let mut response = answer::refuse(status, text);
        let second = HeaderValue::from_static("1");
        response.headers_mut().insert(header::RETRY_AFTER, second);
        response
    }
}

/// What the listeners of one desk share.
#[derive(Clone)]
struct Hall {
    desk: Arc<Desk>,
    slots: Arc<Semaphore>,
    spare: Arc<Semaphore>,
    addresses: Arc<Addresses>,
    connections: TaskTracker,
}

impl Hall {
    fn admit(&self, peer: IpAddr) -> Result<OpenConnection, Full> {
        let visit = self.addresses.enter(peer).ok_or(Full::Address)?;
        let slot = Arc::clone(&self.slots).try_acquire_owned();
        let slot = slot.map_err(|_| Full::Desk)?;
        let open = self.desk.metrics.connections.clone();
        Ok(OpenConnection::new(slot, open, peer, visit))
    }

    /// Room to be turned away in. One address can't take all of it.
    fn spare(&self, full: Full) -> Option<OwnedSemaphorePermit> {
        let kept = match full {
            Full::Desk => 0,
            Full::Address => SPARE / 2,
        };
        if self.spare.available_permits() <= kept {
            return None;
        }
        Arc::clone(&self.spare).try_acquire_owned().ok()
    }
}

/// Serves until the desk stops; then waits for what is in flight.
pub async fn serve(desk: Arc<Desk>, listeners: Vec<(Listener, Router)>) {
    let hall = Hall {
        slots: Arc::new(Semaphore::new(desk.settings.http.max_connections.max(1))),
        spare: Arc::new(Semaphore::new(SPARE)),
        addresses: Addresses::new(&desk.settings, &desk.metrics),
        connections: TaskTracker::new(),
        desk,
    };
    let listening = listeners
        .into_iter()
        .map(|(listener, router)| listener.accept(router, hall.clone()));
    futures::future::join_all(listening).await;
    hall.connections.close();
    hall.desk.finish().await;
    // Connections that are idle or whose streams have ended close at once.
    let _ = tokio::time::timeout(CLOSING, hall.connections.wait()).await;
}

/// The address, when it is one and safe to listen on.
pub fn checked_address(
    listener: &settings::Listener,
    section: &str,
    encrypted: bool,
) -> Result<IpAddr> {
    let host = listener
        .address
        .trim_start_matches('[')
        .trim_end_matches(']');
    let address: IpAddr = host.parse().map_err(|_| {
        Error::new(
            "INVALID_CONFIG",
            format!(
                "`{}` in [{section}] address is not an IP address.",
                listener.address
            ),
        )
        .next("Use 127.0.0.1, ::1, or the address of a network interface.")
    })?;
    if address.is_loopback() || listener.trusted_network {
        return Ok(address);
    }
    let (what, missing) = match (encrypted, listener.require_key) {
        (true, true) => return Ok(address),
        (false, true) => ("there is no TLS on it", "name cert and key in [tls]".into()),
        (true, false) => (
            "it asks nobody for a key",
            format!("set require_key = true in [{section}]"),
        ),
        (false, false) => (
            "it has no TLS and asks nobody for a key",
            format!("name cert and key in [tls] and set require_key = true in [{section}]"),
        ),
    };
    Err(Error::new(
        "UNSAFE_LISTENER",
        format!("{address} in [{section}] can be reached from other machines, and {what}."),
    )
    .next(format!("Listen on 127.0.0.1, or {missing}; if a proxy or a closed network protects it, set trusted_network = true in [{section}].")))
}
