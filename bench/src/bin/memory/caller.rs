//! A caller that means harm: where it comes from, how fast it may send, and what
//! it was told.

use std::{
    collections::BTreeMap,
    net::Ipv4Addr,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use bench::{http::Connection, wire::Target};
use tokio::{
    net::{TcpSocket, TcpStream},
    time::timeout,
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{client::IntoClientRequest as _, http::Request},
};

use crate::desk::Ports;

pub type Socket = WebSocketStream<TcpStream>;

/// How long an answer may take. Longer than any tool may, but for those that wait.
const PATIENCE: Duration = Duration::from_secs(60);

/// A caller has as many addresses, all of them loopback.
const ADDRESSES: u64 = 16;

/// This many bytes are paced like one request.
const BYTES_PER_REQUEST: usize = 64 * 1024;

/// Different outcomes that are counted apart.
const MOST_OUTCOMES: usize = 32;

pub struct Caller {
    pub ports: Ports,
    pub key: Option<String>,
    pub tally: Tally,
    pace: Pace,
    numbers: AtomicU64,
}

impl Caller {
    pub fn new(ports: Ports, key: Option<String>, requests_per_second: f64) -> Self {
        Self {
            ports,
            key,
            tally: Tally::default(),
            pace: Pace::new(requests_per_second),
            numbers: AtomicU64::new(1),
        }
    }

    /// Another one every time.
    pub fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Waits until so many bytes may be sent, as one request.
    pub async fn pace(&self, bytes: usize) {
        self.pace.wait(1 + bytes / BYTES_PER_REQUEST).await;
        self.tally.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// Lets so many requests' turns pass, before one that costs the desk more than
    /// others: the other behaviours need some of its time too.
    pub async fn leave_time(&self, turns: usize) {
        self.pace.wait(turns).await;
    }

    /// Connects from one of the caller's addresses.
    pub async fn connect(&self, port: u16) -> Result<TcpStream> {
        let host = u8::try_from(self.number() % ADDRESSES).unwrap_or_default();
        self.connect_from(Ipv4Addr::new(127, 0, 0, 2 + host), port)
            .await
    }

    pub async fn connect_from(&self, source: Ipv4Addr, port: u16) -> Result<TcpStream> {
        self.pace(0).await;
        let socket = TcpSocket::new_v4()?;
        socket.bind((source, 0).into())?;
        let desk = (Ipv4Addr::LOCALHOST, port).into();
        Ok(timeout(PATIENCE, socket.connect(desk)).await??)
    }

    pub async fn socket(&self, port: u16, path: &str) -> Result<Socket> {
        let stream = self.connect(port).await?;
        let request = upgrade(port, path, self.key.as_deref())?;
        Ok(timeout(PATIENCE, client_async(request, stream)).await??.0)
    }

    pub async fn line(&self, port: u16) -> Result<Line<'_>> {
        let connection = Connection::over(self.connect(port).await?)?;
        Ok(Line {
            caller: self,
            connection,
            _held: self.tally.hold(),
        })
    }

    /// A whole stateless `tools/call` over HTTP.
    pub fn call(&self, counter: &str, tool: &'static str, arguments: &str) -> String {
        let target = Target::new(self.ports.main, &format!("/mcp/{counter}"), tool);
        let target = match &self.key {
            Some(key) => target.with_key(key),
            None => target,
        };
        target.request(self.number(), arguments)
    }

    /// A whole POST with headers of its own.
    pub fn post(&self, port: u16, path: &str, headers: &str, body: &str) -> String {
        let head = self.head(port, path, headers);
        format!("{head}Content-Length: {}\r\n\r\n{body}", body.len())
    }

    /// The beginning of a POST, up to what says how long it is.
    pub fn head(&self, port: u16, path: &str, headers: &str) -> String {
        let key = match &self.key {
            Some(key) => format!("Authorization: Bearer {key}\r\n"),
            None => String::new(),
        };
        format!(
            "POST {path} HTTP/1.1\r\n\
             Host: 127.0.0.1:{port}\r\n\
             Content-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n\
             {key}{headers}"
        )
    }
}

/// The request that asks for a WebSocket.
pub fn upgrade(port: u16, path: &str, key: Option<&str>) -> Result<Request<()>> {
    let mut request = format!("ws://127.0.0.1:{port}{path}").into_client_request()?;
    if let Some(key) = key {
        let bearer = format!("Bearer {key}").parse()?;
        request.headers_mut().insert("authorization", bearer);
    }
    Ok(request)
}

/// One connection that asks, and reads what it is told.
pub struct Line<'a> {
    caller: &'a Caller,
    connection: Connection,
    _held: Held<'a>,
}

impl Line<'_> {
    pub async fn ask(&mut self, request: &str) -> Result<Vec<u8>> {
        self.caller.pace(request.len()).await;
        let answer = timeout(PATIENCE, self.connection.ask(request.as_bytes()));
        let (status, body) = answer.await.context("no answer")??;
        self.caller.tally.told(status, body);
        Ok(body.to_vec())
    }

    /// Calls a tool over HTTP.
    pub async fn call(
        &mut self,
        counter: &str,
        tool: &'static str,
        arguments: &str,
    ) -> Result<Vec<u8>> {
        let request = self.caller.call(counter, tool, arguments);
        self.ask(&request).await
    }

    pub fn header(&self, name: &str) -> Option<String> {
        self.connection.header(name)
    }
}

/// Lets so many through in a second, in the order in which they came.
struct Pace {
    interval: Duration,
    next: Mutex<Instant>,
}

impl Pace {
    fn new(per_second: f64) -> Self {
        Self {
            interval: Duration::from_secs_f64(1.0 / per_second),
            next: Mutex::new(Instant::now()),
        }
    }

    async fn wait(&self, turns: usize) {
        let mine = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let mine = (*next).max(Instant::now());
            *next = mine + self.interval * u32::try_from(turns).unwrap_or(u32::MAX);
            mine
        };
        tokio::time::sleep_until(mine.into()).await;
    }
}

/// What one behaviour did, and what became of it.
#[derive(Default)]
pub struct Tally {
    sent: AtomicU64,
    broken: AtomicU64,
    held: AtomicUsize,
    most_held: AtomicUsize,
    outcomes: Mutex<BTreeMap<String, u64>>,
}

/// A connection that is held.
pub struct Held<'a>(&'a Tally);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.held.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Tally {
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    pub fn broken(&self) -> u64 {
        self.broken.load(Ordering::Relaxed)
    }

    pub fn most_held(&self) -> usize {
        self.most_held.load(Ordering::Relaxed)
    }

    /// Counts a connection for as long as the result lives.
    pub fn hold(&self) -> Held<'_> {
        let held = self.held.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_held.fetch_max(held, Ordering::Relaxed);
        Held(self)
    }

    /// A connection was refused, or ended before its time.
    pub fn broke(&self) {
        self.broken.fetch_add(1, Ordering::Relaxed);
    }

    pub fn told(&self, status: u16, body: &[u8]) {
        let outcome = error_code(body).unwrap_or_else(|| status.to_string());
        let mut outcomes = self.outcomes();
        if outcomes.len() < MOST_OUTCOMES || outcomes.contains_key(&outcome) {
            *outcomes.entry(outcome).or_default() += 1;
        }
    }

    /// The outcomes that came most often.
    pub fn most_told(&self) -> String {
        let outcomes = self.outcomes();
        let mut sorted: Vec<_> = outcomes.iter().collect();
        sorted.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let texts = sorted.iter().take(4);
        let texts: Vec<_> = texts
            .map(|(what, count)| format!("{what}: {count}"))
            .collect();
        texts.join(", ")
    }

    fn outcomes(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, u64>> {
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The code of an error, of a tool or of the protocol. Looks at the beginning
/// only, since large answers are no errors.
fn error_code(body: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(body.get(..4096).unwrap_or(body));
    let text = text.replace("\\\"", "\"");
    let error = text.find("\"error\"").map(|at| text.get(at..))??;
    let (_, code) = error.split_once("\"code\":")?;
    let code = code.split([',', '}']).next()?;
    Some(code.trim_matches('"').to_owned())
}
