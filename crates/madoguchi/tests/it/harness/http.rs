//! Plain HTTP, and a session of the handshake era over it.

use std::{error::Error, net::SocketAddr};

use http_body_util::{BodyExt, Full};
use hyper::{HeaderMap, Request, body::Bytes};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpSocket, TcpStream},
};

use super::{Desk, initialize, initialized, plain};

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Every JSON-RPC message in it, whether it came as JSON or as events.
    pub fn messages(&self) -> Vec<Value> {
        let text = self.text();
        let is_events = self
            .header("content-type")
            .is_some_and(|kind| kind.starts_with("text/event-stream"));
        if !is_events {
            return serde_json::from_str(&text).into_iter().collect();
        }
        text.lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .filter_map(|data| serde_json::from_str(data).ok())
            .collect()
    }

    /// The answer to the request: the last message.
    #[track_caller]
    pub fn message(&self) -> Value {
        let last = self.messages().pop();
        last.unwrap_or_else(|| panic!("{} {}", self.status, self.text()))
    }
}

/// An answer, or why there is none.
pub type TryAnswer = Result<Answer, Box<dyn Error + Send + Sync>>;

/// One request on a connection of its own, read to the end of its answer. A
/// header without a value is not sent, not even where there is a default.
pub async fn request(
    port: u16,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Answer {
    let answer = try_request(port, method, path, headers, body).await;
    answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
}

pub async fn try_request(
    port: u16,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> TryAnswer {
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    request_over(stream, port, method, path, headers, body).await
}

/// The same, on a connection that somebody else opened.
pub async fn request_over(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    port: u16,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> TryAnswer {
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let mut request = Request::builder().method(method).uri(path);
    let given = |name: &str| headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name));
    for (name, value) in [
        ("host", format!("127.0.0.1:{port}").as_str()),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ] {
        if !given(name) {
            request = request.header(name, value);
        }
    }
    for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
        request = request.header(*name, *value);
    }
    let response = sender
        .send_request(request.body(Full::new(body.into()))?)
        .await?;
    let (parts, body) = response.into_parts();
    let body = body.collect().await?.to_bytes();
    connection.abort();
    Ok(Answer {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body,
    })
}

/// A connection from another address of this machine.
pub async fn connect_from(address: &str, port: u16) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket
        .bind(format!("{address}:0").parse().unwrap())
        .unwrap();
    let to = SocketAddr::from(([127, 0, 0, 1], port));
    socket.connect(to).await.unwrap()
}

/// What opens a WebSocket, byte for byte; `more` are whole lines.
pub fn upgrade_head(path: &str, more: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\n\
         upgrade: websocket\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n{more}\r\n"
    )
}

/// A client of the handshake era, after its handshake.
pub struct Session {
    port: u16,
    path: String,
    pub id: String,
    pub version: String,
    /// What the server said about itself.
    pub server: Value,
    requests: u64,
}

impl Session {
    pub async fn open(desk: &Desk, counter: &str, version: &str) -> Self {
        Self::open_at(desk.port, counter, version).await
    }

    pub async fn open_at(port: u16, counter: &str, version: &str) -> Self {
        let path = format!("/mcp/{counter}");
        let hello = initialize(0, version).to_string();
        let answer = request(port, "POST", &path, &[], hello).await;
        let server = answer.message()["result"].clone();
        let mut session = Self {
            port,
            path,
            id: answer.header("mcp-session-id").unwrap().to_owned(),
            version: server["protocolVersion"].as_str().unwrap().to_owned(),
            server,
            requests: 0,
        };
        let answer = session.send(&initialized()).await;
        assert_eq!(answer.status, 202, "{}", answer.text());
        session
    }

    pub async fn send(&mut self, message: &Value) -> Answer {
        let headers = [
            ("mcp-session-id", self.id.as_str()),
            ("mcp-protocol-version", self.version.as_str()),
        ];
        request(self.port, "POST", &self.path, &headers, message.to_string()).await
    }

    /// Answers the whole message.
    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let message = plain(self.requests, method, params);
        self.send(&message).await.message()
    }
}
