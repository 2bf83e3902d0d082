//! Accepts connections: a limited number, with time-outs, and lets those in
//! flight finish when the program stops.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::Router;
use hyper::{Request, body::Incoming, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use kit::{Error, Result};
use prometheus_client::metrics::gauge::Gauge;
use tokio::{
    net::TcpListener,
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::task::TaskTracker;
use tower_service::Service;

use crate::{Desk, settings::Http};

/// How long connections have to close once all their streams have ended.
const CLOSING: Duration = Duration::from_secs(2);

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
}

impl OpenConnection {
    fn new(slot: OwnedSemaphorePermit, open: Gauge) -> Self {
        open.inc();
        Self { _slot: slot, open }
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.open.dec();
    }
}

impl Listener {
    /// `flag` moves or switches off this listener on the command line.
    pub async fn bind(http: &Http, flag: &str) -> Result<Self> {
        let host = http.address.trim_start_matches('[').trim_end_matches(']');
        let address: std::net::IpAddr = host.parse().map_err(|_| {
            Error::new(
                "INVALID_CONFIG",
                format!("`{}` in [http] address is not an IP address.", http.address),
            )
            .next("Use 127.0.0.1, ::1, or the address of a network interface.")
        })?;
        if !address.is_loopback() && !http.trusted_network {
            return Err(Error::new(
                "UNSAFE_LISTENER",
                format!("{address} can be reached from other machines, and there is no TLS on it."),
            )
            .next("Listen on 127.0.0.1, or set trusted_network = true in [http] if a proxy or a closed network protects it."));
        }
        let listener = TcpListener::bind((address, http.port))
            .await
            .map_err(|error| {
                Error::new(
                    "PORT_TAKEN",
                    format!("Port {} on {address} can't be opened: {error}.", http.port),
                )
                .next(format!(
                    "Choose another with {flag} PORT, or switch it off with {flag} 0."
                ))
            })?;
        let address = listener.local_addr().map_err(Error::internal)?;
        Ok(Self { listener, address })
    }

    /// Serves until the desk stops; then waits for what is in flight.
    pub async fn serve(self, desk: Arc<Desk>, router: Router) {
        let http = &desk.settings.http;
        let slots = Arc::new(Semaphore::new(http.max_connections.max(1)));
        let connections = TaskTracker::new();
        let mut builder = hyper::server::conn::http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(Duration::from_secs(http.header_timeout_seconds.max(1)));
        loop {
            let stream = tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        // Out of file handles, most likely: give others time to close.
                        tracing::warn!(%error, "a connection could not be accepted");
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        continue;
                    }
                },
                () = desk.stopping.cancelled() => break,
            };
            let Ok(slot) = Arc::clone(&slots).try_acquire_owned() else {
                desk.metrics.connections_refused.inc();
                continue;
            };
            // Without it an answer in two parts waits for the client's
            // acknowledgement, 40 ms each.
            let _ = stream.set_nodelay(true);
            let open = Arc::new(OpenConnection::new(slot, desk.metrics.connections.clone()));
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
        drop(self.listener);
        connections.close();
        desk.finish().await;
        // Connections that are idle or whose streams have ended close at once.
        let _ = tokio::time::timeout(CLOSING, connections.wait()).await;
    }
}
