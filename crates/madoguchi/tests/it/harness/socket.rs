//! A WebSocket that says exactly what it is told to.

use std::time::Duration;

use futures::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{Message, client::IntoClientRequest, http::HeaderValue, protocol::CloseFrame},
};

use super::Desk;

const PATIENCE: Duration = Duration::from_secs(60);

pub struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// The subprotocol the server chose.
    pub protocol: Option<String>,
}

impl Socket {
    pub async fn open(desk: &Desk, counter: &str) -> Self {
        Self::with_protocols(desk, counter, "mcp").await
    }

    /// `None` when the desk has no room for it.
    pub async fn try_open(desk: &Desk, counter: &str) -> Option<Self> {
        let url = format!("ws://127.0.0.1:{}/ws/{counter}", desk.port);
        let (stream, _) = connect_async(url).await.ok()?;
        Some(Self {
            stream,
            protocol: None,
        })
    }

    /// Offers subprotocols, separated by commas; none when empty.
    pub async fn with_protocols(desk: &Desk, counter: &str, protocols: &str) -> Self {
        let protocols = [("sec-websocket-protocol", protocols)];
        let offered = protocols.iter().filter(|(_, value)| !value.is_empty());
        let offered: Vec<_> = offered.copied().collect();
        Self::behind(desk.port, &format!("/ws/{counter}"), &offered).await
    }

    /// With a key, as clients send it that can set headers.
    pub async fn with_bearer(desk: &Desk, counter: &str, key: &str) -> Self {
        let url = format!("ws://127.0.0.1:{}/ws/{counter}", desk.port);
        Self::at(url, key).await
    }

    /// To a counter's own port.
    pub async fn own_port(desk: &Desk, key: &str) -> Self {
        Self::at(format!("ws://127.0.0.1:{}", desk.own_port), key).await
    }

    async fn at(url: String, key: &str) -> Self {
        let bearer = format!("Bearer {key}");
        Self::with_headers(url, &[("authorization", &bearer)]).await
    }

    /// To any port and path, with these headers.
    pub async fn behind(port: u16, path: &str, headers: &[(&'static str, &str)]) -> Self {
        Self::with_headers(format!("ws://127.0.0.1:{port}{path}"), headers).await
    }

    async fn with_headers(url: String, headers: &[(&'static str, &str)]) -> Self {
        let mut request = url.into_client_request().unwrap();
        for (name, value) in headers {
            let value = HeaderValue::from_str(value).unwrap();
            request.headers_mut().insert(*name, value);
        }
        let (stream, response) = connect_async(request).await.unwrap();
        let protocol = response.headers().get("sec-websocket-protocol");
        Self {
            stream,
            protocol: protocol.map(|value| value.to_str().unwrap().to_owned()),
        }
    }

    /// To any port and path, without a key.
    pub async fn keyless(port: u16, path: &str) -> Self {
        let (stream, _) = connect_async(format!("ws://127.0.0.1:{port}{path}"))
            .await
            .unwrap();
        Self {
            stream,
            protocol: None,
        }
    }

    pub async fn send(&mut self, message: &Value) {
        self.send_frame(Message::text(message.to_string())).await;
    }

    pub async fn send_frame(&mut self, frame: Message) {
        self.stream.send(frame).await.unwrap();
    }

    /// The next message, pings aside.
    pub async fn receive(&mut self) -> Value {
        match self.next().await {
            Some(Ok(Message::Text(text))) => serde_json::from_str(&text).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    /// Sends a request and returns the message that answers it.
    pub async fn request(&mut self, message: &Value) -> Value {
        self.send(message).await;
        loop {
            let received = self.receive().await;
            if received["id"] == message["id"] {
                return received;
            }
        }
    }

    /// Waits for the server to close; `None` when it just hangs up.
    pub async fn closed(&mut self) -> Option<CloseFrame> {
        loop {
            match self.next().await {
                Some(Ok(Message::Close(frame))) => return frame,
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return None,
            }
        }
    }

    async fn next(&mut self) -> Option<Result<Message, tokio_tungstenite::tungstenite::Error>> {
        loop {
            let next = tokio::time::timeout(PATIENCE, self.stream.next());
            match next.await.expect("the desk says nothing") {
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                other => return other,
            }
        }
    }
}
