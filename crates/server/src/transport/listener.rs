//! Accepts connections, with time-outs, and lets calls in flight finish when the
//! program stops. How many may be open is in `connections.rs`.

use std::{
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{
    Router,
    body::{Body, HttpBody},
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use desk::{Desk, settings};
use http_body_util::BodyExt;
use hyper::{Request, body::Incoming, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use kit::{Error, Result};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
};
use tokio_util::task::TaskTracker;
use tower_service::Service;

use super::{
    budgeted_reader::BudgetedReader,
    connections::{Connections, OpenConnection},
    layered::Layered,
    proxies::Proxies,
    tls::Tls,
    write_timeout::WriteTimeout,
};
use crate::wire::backlog::Backlog;

/// How long connections have to close once all their streams have ended.
const CLOSING: Duration = Duration::from_secs(2);

/// The code of a port that can't be opened.
pub const PORT_TAKEN: &str = "PORT_TAKEN";

/// The HTTP library takes no smaller buffer.
const MIN_BUFFER: usize = 8 * 1024;

/// A bound port. Binding is apart from serving so that a port that is taken is
/// reported before anything else starts.
pub struct Listener {
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    proxies: Arc<Proxies>,
    pub address: SocketAddr,
}

/// A bound port and what is served there.
pub struct Site {
    pub listener: Listener,
    pub router: Router,
    /// Whether every request there needs a key.
    pub needs_key: bool,
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
        let proxies = Proxies::new(listener, section)?;
        let listener = TcpListener::bind((address, listener.port))
            .await
            .map_err(|error| {
                Error::new(
                    PORT_TAKEN,
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
            proxies: Arc::new(proxies),
            address,
        })
    }

    /// The trusted proxies, if `peer` is one of them.
    fn proxies_of(&self, peer: IpAddr) -> Option<Arc<Proxies>> {
        self.proxies.trust(peer).then(|| Arc::clone(&self.proxies))
    }

    /// `http` or `ws`, with an `s` where there is TLS.
    pub fn scheme(&self, plain: &str) -> String {
        let encrypted = if self.tls.is_some() { "s" } else { "" };
        format!("{plain}{encrypted}")
    }
}

impl Site {
    async fn serve(self, hall: Hall) {
        let desk = &hall.desk;
        let mut is_failing = false;
        loop {
            let (stream, peer) = tokio::select! {
                accepted = self.listener.listener.accept() => match accepted {
                    Ok((stream, peer)) => (stream, peer.ip()),
                    Err(error) => {
                        // Out of file handles, most likely: give others time to close. It
                        // is tried ten times a second, and logged once.
                        if !std::mem::replace(&mut is_failing, true) {
                            tracing::warn!(%error, "connections can't be accepted");
                        }
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        continue;
                    }
                },
                () = desk.stopping.cancelled() => return,
            };
            if std::mem::replace(&mut is_failing, false) {
                tracing::info!("connections are accepted again");
            }
            // Without it the second part of an answer waits 40 ms for the
            // client's acknowledgement.
            let _ = stream.set_nodelay(true);
            let proxies = self.listener.proxies_of(peer);
            let open = Arc::new(hall.connections.enter(peer, self.needs_key, proxies));
            let (tls, router) = (self.listener.tls.clone(), self.router.clone());
            let desk = Arc::clone(desk);
            hall.tasks.spawn(async move {
                let limit = Duration::from_secs(desk.settings.http.identify_timeout_seconds);
                let held = Arc::clone(&open);
                let served = async {
                    let limit = header_timeout(&desk);
                    if let Some(stream) = encrypted(tls, stream, limit).await {
                        attend(stream, router, &desk, held).await;
                    }
                };
                tokio::select! {
                    () = served => {}
                    () = open.overdue(limit) => {}
                }
            });
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
async fn attend(stream: Box<dyn Bytes>, router: Router, desk: &Desk, open: Arc<OpenConnection>) {
    let http = &desk.settings.http;
    let most = http.max_body_bytes;
    let within = Duration::from_secs(http.body_timeout_seconds);
    let draining = desk.draining.clone();
    let stream = Layered::new(stream, BudgetedReader::new(Arc::clone(&open), within));
    let service = service_fn(move |mut request: Request<Incoming>| {
        drop(open.request.end(most));
        let visit = open.visit(request.headers());
        request.extensions_mut().insert(visit);
        request.extensions_mut().insert(Arc::clone(&open));
        let answer = router.clone().call(request);
        let (backlog, draining) = (Arc::clone(&open.backlog), draining.clone());
        async move {
            let mut answer = counted(answer.await?, backlog);
            if draining.is_cancelled() && answer.status() != StatusCode::SWITCHING_PROTOCOLS {
                // The next request belongs on another desk.
                let close = HeaderValue::from_static("close");
                answer.headers_mut().insert(header::CONNECTION, close);
            }
            Ok::<_, Infallible>(answer)
        }
    });
    let write_timeout = Duration::from_secs(http.write_timeout_seconds);
    let stream = Layered::new(stream, WriteTimeout::new(write_timeout));
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(header_timeout(desk))
        .max_header_size(http.max_head_bytes)
        // A head that has not ended yet is found to be too large by this.
        .max_buf_size(http.max_head_bytes.saturating_mul(2).max(MIN_BUFFER))
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = std::pin::pin!(connection);
    // Errors of a broken connection concern only its client.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = desk.stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// The answer, whose parts count as unread until they are written.
fn counted(answer: Response, backlog: Arc<Backlog>) -> Response {
    let length = answer.body().size_hint().exact();
    if length.is_some_and(Backlog::is_free) {
        return answer;
    }
    answer.map(|body| {
        Body::new(body.map_frame(move |frame| frame.map_data(|data| backlog.counted(data))))
    })
}

/// What the sites of one desk share.
#[derive(Clone)]
struct Hall {
    desk: Arc<Desk>,
    connections: Arc<Connections>,
    tasks: TaskTracker,
}

/// Serves until the desk stops; then waits for what is in flight.
pub async fn serve(desk: Arc<Desk>, sites: Vec<Site>) {
    let hall = Hall {
        connections: Connections::new(&desk.settings, &desk.metrics),
        tasks: TaskTracker::new(),
        desk,
    };
    let serving = sites.into_iter().map(|site| site.serve(hall.clone()));
    futures::future::join_all(serving).await;
    hall.tasks.close();
    hall.desk.finish().await;
    // Connections that are idle or whose streams have ended close at once.
    let _ = tokio::time::timeout(CLOSING, hall.tasks.wait()).await;
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
            "it requires no key",
            format!("set require_key = true in [{section}]"),
        ),
        (false, false) => (
            "it has no TLS and requires no key",
            format!("name cert and key in [tls] and set require_key = true in [{section}]"),
        ),
    };
    Err(Error::new(
        "UNSAFE_LISTENER",
        format!("{address} in [{section}] can be reached from other machines, and {what}."),
    )
    .next(format!("Listen on 127.0.0.1, or {missing}; if a proxy or a closed network protects it, set trusted_network = true in [{section}].")))
}
