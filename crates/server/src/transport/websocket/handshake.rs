//! The HTTP side of a WebSocket: from the request to the connection.

use axum::{
    body::Body,
    extract::FromRequestParts,
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        handshake::derive_accept_key,
        protocol::{Role, WebSocketConfig},
    },
};

use super::frames::{SmallFrames, Socket};
use crate::transport::{answer, layered::Layered};

/// The protocol that a client may ask for by name.
const MCP: &str = "mcp";

/// A request that asks for a WebSocket.
pub struct Upgrade {
    connection: OnUpgrade,
    key: HeaderValue,
    names_mcp: bool,
}

impl<S: Sync> FromRequestParts<S> for Upgrade {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Response> {
        let headers = &parts.headers;
        let asks = parts.method == Method::GET
            && names(headers, &header::CONNECTION, "upgrade")
            && names(headers, &header::UPGRADE, "websocket");
        if !asks {
            let text = "A WebSocket is here. Ask for it with Upgrade: websocket.";
            return Err(upgrade_required(text));
        }
        if !names(headers, &header::SEC_WEBSOCKET_VERSION, "13") {
            let mut refused = upgrade_required("This desk speaks version 13 of WebSocket.");
            let version = HeaderValue::from_static("13");
            let headers = refused.headers_mut();
            headers.insert(header::SEC_WEBSOCKET_VERSION, version);
            return Err(refused);
        }
        let names_mcp = names(headers, &header::SEC_WEBSOCKET_PROTOCOL, MCP);
        let Some(key) = headers.get(header::SEC_WEBSOCKET_KEY).cloned() else {
            let text = "The request has no Sec-WebSocket-Key.";
            return Err(answer::refuse(StatusCode::BAD_REQUEST, text));
        };
        match parts.extensions.remove::<OnUpgrade>() {
            Some(connection) => Ok(Self {
                connection,
                key,
                names_mcp,
            }),
            None => Err(upgrade_required(
                "A WebSocket needs a connection of its own.",
            )),
        }
    }
}

impl Upgrade {
    /// Accepts the request. `serve` begins once the answer has gone out.
    pub fn accept<F>(
        self,
        config: WebSocketConfig,
        serve: impl FnOnce(Socket) -> F + Send + 'static,
    ) -> Response
    where
        F: Future<Output = ()> + Send,
    {
        tokio::spawn(async move {
            // The client may be gone before it has the answer.
            if let Ok(connection) = self.connection.await {
                let frames = SmallFrames::new(config.max_frame_size);
                let stream = Layered::new(TokioIo::new(connection), frames);
                let role = Role::Server;
                let socket = WebSocketStream::from_raw_socket(stream, role, Some(config)).await;
                serve(socket).await;
            }
        });
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        if let Ok(accept) = derive_accept_key(self.key.as_bytes()).parse() {
            headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
        }
        if self.names_mcp {
            let mcp = HeaderValue::from_static(MCP);
            headers.insert(header::SEC_WEBSOCKET_PROTOCOL, mcp);
        }
        response
    }
}

/// Whether a header that holds a list names this.
fn names(headers: &HeaderMap, name: &HeaderName, wanted: &str) -> bool {
    let values = headers.get_all(name).iter();
    let mut items = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    items.any(|item| item.trim().eq_ignore_ascii_case(wanted))
}

fn upgrade_required(text: &'static str) -> Response {
    let headers = [
        (header::UPGRADE, "websocket"),
        (header::CONNECTION, "upgrade"),
    ];
    (StatusCode::UPGRADE_REQUIRED, headers, format!("{text}\n")).into_response()
}
