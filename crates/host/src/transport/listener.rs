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
};
use hyper::{Request, body::Incoming, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use kit::{Error, Result};
use prometheus_client::metrics::gauge::Gauge;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::task::TaskTracker;
use tower_service::Service;

use super::answer;
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
    pub address: SocketAddr,
}

/// Counts a connection for as long as somebody holds it: the HTTP server, and
/// after an upgrade the socket.
pub struct OpenConnection {
    _slot: OwnedSemaphorePermit,
    open: Gauge,
    pub peer: IpAddr,
}

impl OpenConnection {
    fn new(slot: OwnedSemaphorePermit, open: Gauge, peer: IpAddr) -> Self {
        open.inc();
        Self {
            _slot: slot,
            open,
            peer,
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
    ) -> Result<Self> {
        let address = checked_address(listener, section)?;
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
        Ok(Self { listener, address })
    }

    async fn accept(self, router: Router, hall: Hall) {
        let Hall {
            desk,
            slots,
            spare,
            connections,
        } = hall;
        let mut builder = hyper::server::conn::http1::Builder::new();
        let header_timeout = desk.settings.http.header_timeout_seconds.max(1);
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(Duration::from_secs(header_timeout));
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
            let Ok(slot) = Arc::clone(&slots).try_acquire_owned() else {
                match Arc::clone(&spare).try_acquire_owned() {
                    Ok(slot) => drop(connections.spawn(turn_away(
                        stream,
                        router.clone(),
                        Arc::clone(&desk),
                        slot,
                    ))),
                    Err(_) => drop(desk.metrics.connections_refused.inc()),
                }
                continue;
            };
            // Without it an answer in two parts waits for the client's
            // acknowledgement, 40 ms each.
            let _ = stream.set_nodelay(true);
            let open = Arc::new(OpenConnection::new(
                slot,
                desk.metrics.connections.clone(),
                peer,
            ));
            let (router, held) = (router.clone(), Arc::clone(&open));
            let service = service_fn(move |mut request: Request<Incoming>| {
                request.extensions_mut().insert(Arc::clone(&held));
                router.clone().call(request)
            });
            let connection = builder
                .serve_connection(TokioIo::new(stream), service)
                .with_upgrades();
            let stopping = desk.stopping.clone();
            connections.spawn(async move {
                let mut connection = std::pin::pin!(connection);
                // A broken connection is the client's affair: no error is kept.
                tokio::select! {
                    _ = connection.as_mut() => {}
                    () = stopping.cancelled() => {
                        connection.as_mut().graceful_shutdown();
                        let _ = connection.await;
                    }
                }
                drop(open);
            });
        }
    }
}

/// One request of a connection for which there is no room: answered when it is a
/// probe, refused otherwise.
async fn turn_away(stream: TcpStream, router: Router, desk: Arc<Desk>, slot: OwnedSemaphorePermit) {
    let refused = desk.metrics.connections_refused.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let is_probe = matches!(request.uri().path(), "/livez" | "/readyz" | "/metrics");
        let (mut router, refused) = (router.clone(), refused.clone());
        async move {
            if is_probe {
                return router.call(request).await;
            }
            refused.inc();
            let status = StatusCode::SERVICE_UNAVAILABLE;
            let text = "Too many connections are open. Try again in a moment.";
            let mut response = answer::refuse(status, text);
            let second = HeaderValue::from_static("1");
            response.headers_mut().insert(header::RETRY_AFTER, second);
            Ok(response)
        }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(SPARE_TIMEOUT)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    let _ = tokio::time::timeout(SPARE_TIMEOUT * 2, connection).await;
    drop(slot);
}

/// What the listeners of one desk share.
#[derive(Clone)]
struct Hall {
    desk: Arc<Desk>,
    slots: Arc<Semaphore>,
    spare: Arc<Semaphore>,
    connections: TaskTracker,
}

/// Serves until the desk stops; then waits for what is in flight.
pub async fn serve(desk: Arc<Desk>, listeners: Vec<(Listener, Router)>) {
    let hall = Hall {
        slots: Arc::new(Semaphore::new(desk.settings.http.max_connections.max(1))),
        spare: Arc::new(Semaphore::new(SPARE)),
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
pub fn checked_address(listener: &settings::Listener, section: &str) -> Result<IpAddr> {
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
    Err(Error::new(
        "UNSAFE_LISTENER",
        format!("{address} can be reached from other machines, and there is no TLS on it."),
    )
    .next(format!("Listen on 127.0.0.1, or set trusted_network = true in [{section}] if a proxy or a closed network protects it.")))
}
