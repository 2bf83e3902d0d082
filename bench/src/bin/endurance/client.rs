//! Clients of the desk: calls over HTTP in both eras, and sockets.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use bench::{
    http::Connection,
    wire::{META, REVISION},
};
use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, client::IntoClientRequest as _},
};

use crate::{desk::Desk, tally::Tally};

/// Longer than anything may take that the desk has to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// What all callers share.
pub struct World {
    pub desk: Arc<Desk>,
    pub tally: Tally,
    pub key: String,
    pub stock_key: String,
    numbers: AtomicU64,
}

/// What a tool answered.
pub enum Answer {
    Done(Value),
    /// The code of the error.
    Refused(String),
}

impl Answer {
    pub fn done(self) -> Value {
        match self {
            Self::Done(value) => value,
            Self::Refused(_) => Value::Null,
        }
    }
}

impl World {
    pub fn new(desk: Arc<Desk>, key: String, stock_key: String) -> Self {
        Self {
            desk,
            key,
            stock_key,
            tally: Tally::default(),
            numbers: AtomicU64::new(1),
        }
    }

    pub fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    pub fn made(&self, what: &'static str) {
        self.tally.made(what, self.desk.clock.now_ms());
    }

    /// Counts what a call made. Without an answer it may have been made.
    fn made_unless_refused(&self, what: &'static str, answer: &Result<Answer>) {
        if !matches!(answer, Ok(Answer::Refused(_))) {
            self.made(what);
        }
    }

    pub async fn line(&self, counter: &'static str) -> Result<Line<'_>> {
        self.line_with(counter, &self.key).await
    }

    /// A connection to a counter with this key.
    pub async fn line_with<'a>(&'a self, counter: &'static str, key: &str) -> Result<Line<'a>> {
        let stream = timeout(PATIENCE, self.desk.connect(self.desk.main)).await??;
        Ok(Line {
            world: self,
            counter,
            key: key.to_owned(),
            session: None,
            connection: Connection::on(stream),
        })
    }

    pub async fn socket(&self, port: u16, path: &str) -> Result<Socket<'_>> {
        let mut request = format!("wss://127.0.0.1:{port}{path}").into_client_request()?;
        let bearer = format!("Bearer {}", self.key).parse()?;
        request.headers_mut().insert("authorization", bearer);
        let stream = timeout(PATIENCE, self.desk.connect(port)).await??;
        let (socket, _) = timeout(PATIENCE, client_async(request, stream)).await??;
        Ok(Socket {
            world: self,
            socket,
        })
    }
}

/// One connection over HTTP.
pub struct Line<'a> {
    world: &'a World,
    counter: &'static str,
    key: String,
    session: Option<String>,
    connection: Connection<TlsStream<TcpStream>>,
}

impl Line<'_> {
    /// Calls a tool: stateless, or in the session if there is one.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Result<Answer> {
        let asked = self
            .ask(
                "tools/call",
                tool,
                json!({ "name": tool, "arguments": arguments }),
            )
            .await;
        let (status, body) = match asked {
            Ok(answer) => answer,
            Err(error) => {
                self.world.tally.told(tool, "no answer");
                return Err(error);
            }
        };
        let answer = read(&body).unwrap_or_else(|| Answer::Refused(status.to_string()));
        match &answer {
            Answer::Done(_) => self.world.tally.told(tool, "ok"),
            Answer::Refused(code) => self.world.tally.told(tool, code),
        }
        Ok(answer)
    }

    /// The same, for a call that leaves something behind.
    pub async fn make(
        &mut self,
        what: &'static str,
        tool: &str,
        arguments: Value,
    ) -> Result<Answer> {
        let answer = self.call(tool, arguments).await;
        self.world.made_unless_refused(what, &answer);
        answer
    }

    /// Any request.
    pub async fn ask(&mut self, method: &str, name: &str, params: Value) -> Result<(u16, Vec<u8>)> {
        let request = self.request(method, name, &params, true);
        let answer = timeout(PATIENCE, self.connection.ask(request.as_bytes())).await;
        let (status, body) = answer.context("no answer")??;
        Ok((status, body.to_vec()))
    }

    /// Sends a request and reads nothing.
    pub async fn send(&mut self, method: &str, name: &str, params: Value) -> Result<()> {
        let request = self.request(method, name, &params, true);
        timeout(PATIENCE, self.connection.send_only(request.as_bytes())).await?
    }

    fn request(&self, method: &str, name: &str, params: &Value, has_id: bool) -> String {
        let (port, path, key) = (self.world.desk.main, self.counter, &self.key);
        let id = match has_id {
            true => format!(r#""id":{},"#, self.world.number()),
            false => String::new(),
        };
        let mut params = params.to_string();
        let era = match &self.session {
            Some(session) if session.is_empty() => String::new(),
            Some(session) => format!("Mcp-Session-Id: {session}\r\n"),
            None => {
                let comma = if params == "{}" { "" } else { "," };
                params.truncate(params.len() - 1);
                params.push_str(&format!("{comma}{META}}}"));
                let named = match name {
                    "" => String::new(),
                    name => format!("Mcp-Name: {name}\r\n"),
                };
                format!("MCP-Protocol-Version: {REVISION}\r\nMcp-Method: {method}\r\n{named}")
            }
        };
        let body = format!(r#"{{"jsonrpc":"2.0",{id}"method":"{method}","params":{params}}}"#);
        format!(
            "POST /mcp/{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
             Authorization: Bearer {key}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{era}\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
    }

    /// Begins a session of the handshake era.
    pub async fn open_session(&mut self) -> Result<()> {
        self.session = Some(String::new());
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "bench", "version": "0.1.0" },
        });
        self.ask("initialize", "", hello).await?;
        let session = self.connection.header("mcp-session-id");
        self.session = Some(session.context("no session")?);
        let done = self.request("notifications/initialized", "", &json!({}), false);
        let answer = self.connection.ask(done.as_bytes());
        timeout(PATIENCE, answer).await.context("no answer")??;
        Ok(())
    }

    /// The stream of a session, or the request that ends it.
    pub async fn of_session(&mut self, method: &str) -> Result<()> {
        let session = self.session.as_deref().context("no session")?;
        let (port, path, key) = (self.world.desk.main, self.counter, &self.key);
        let request = format!(
            "{method} /mcp/{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
             Authorization: Bearer {key}\r\nAccept: text/event-stream\r\n\
             Mcp-Session-Id: {session}\r\n\r\n"
        );
        timeout(PATIENCE, self.connection.send_only(request.as_bytes())).await?
    }
}

/// One WebSocket, with bare requests.
pub struct Socket<'a> {
    world: &'a World,
    socket: WebSocketStream<TlsStream<TcpStream>>,
}

impl Socket<'_> {
    pub async fn send(&mut self, tool: &str, arguments: Value) -> Result<u64> {
        let id = self.world.number();
        let params = json!({ "name": tool, "arguments": arguments });
        let request =
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        let sent = self.socket.send(Message::text(request.to_string()));
        timeout(PATIENCE, sent).await??;
        Ok(id)
    }

    pub async fn call(&mut self, tool: &str, arguments: Value) -> Result<Answer> {
        let id = self.send(tool, arguments).await?;
        let answer = match timeout(PATIENCE, self.answer(id)).await? {
            Ok(answer) => answer,
            Err(error) => {
                self.world.tally.told(tool, "no answer");
                return Err(error);
            }
        };
        match &answer {
            Answer::Done(_) => self.world.tally.told(tool, "ok"),
            Answer::Refused(code) => self.world.tally.told(tool, code),
        }
        Ok(answer)
    }

    async fn answer(&mut self, id: u64) -> Result<Answer> {
        loop {
            match self.socket.next().await.context("the socket closed")?? {
                Message::Text(text) => {
                    let message: Value = serde_json::from_str(&text)?;
                    if message["id"] == id {
                        let answer = answer_of(&message);
                        return answer.context("not an answer");
                    }
                }
                Message::Close(_) => bail!("the socket closed"),
                _ => {}
            }
        }
    }

    pub async fn make(
        &mut self,
        what: &'static str,
        tool: &str,
        arguments: Value,
    ) -> Result<Answer> {
        let answer = self.call(tool, arguments).await;
        self.world.made_unless_refused(what, &answer);
        answer
    }

    pub async fn close(mut self) -> Result<()> {
        Ok(timeout(PATIENCE, self.socket.close(None)).await??)
    }
}

/// The answer in a body, which may be a stream of events.
fn read(body: &[u8]) -> Option<Answer> {
    let text = String::from_utf8_lossy(body);
    if text.starts_with('{') {
        return answer_of(&serde_json::from_str(&text).ok()?);
    }
    let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let mut messages = events.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    messages.find_map(|message| answer_of(&message))
}

fn answer_of(message: &Value) -> Option<Answer> {
    if let Some(error) = message.get("error") {
        return Some(Answer::Refused(error["code"].to_string()));
    }
    let result = message.get("result")?;
    let structured = &result["structuredContent"];
    let failed = result["isError"] == true || structured["status"] == "error";
    if !failed {
        return Some(Answer::Done(structured.clone()));
    }
    let code = match &structured["error"]["code"] {
        Value::String(code) => code,
        _ => structured["code"].as_str().unwrap_or("an error"),
    };
    Some(Answer::Refused(code.to_owned()))
}
