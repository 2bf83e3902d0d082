//! What a key may do, it may do on every transport and in both eras; what it may
//! not, it may nowhere.

mod bounds;
mod listing;
mod model;
mod reads;

use serde_json::{Value, json};

use crate::harness::{
    Desk, LEGACY, Pipe, Socket, initialize, initialized, modern, modern_headers, plain, request,
};

/// One transport in one era.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    HttpModern,
    HttpLegacy,
    SocketModern,
    SocketLegacy,
    StdioModern,
    StdioLegacy,
}

impl Way {
    const ALL: [Self; 6] = [
        Self::HttpModern,
        Self::HttpLegacy,
        Self::SocketModern,
        Self::SocketLegacy,
        Self::StdioModern,
        Self::StdioLegacy,
    ];

    fn is_modern(self) -> bool {
        matches!(
            self,
            Self::HttpModern | Self::SocketModern | Self::StdioModern
        )
    }
}

/// A client of one counter with a key.
enum Client {
    Http {
        port: u16,
        path: String,
        bearer: String,
        /// Of the handshake era; empty where the key opens none.
        session: Option<String>,
    },
    Socket(Box<Socket>, bool),
    Stdio(Pipe, bool),
}

impl Client {
    async fn open(desk: &Desk, counter: &str, key: &str, way: Way) -> Self {
        match way {
            Way::HttpModern | Way::HttpLegacy => {
                let (path, bearer) = (format!("/mcp/{counter}"), format!("Bearer {key}"));
                let mut session = None;
                if way == Way::HttpLegacy {
                    let headers = [("authorization", bearer.as_str())];
                    let hello = initialize(0, LEGACY).to_string();
                    let answer = request(desk.port, "POST", &path, &headers, hello).await;
                    let id = answer.header("mcp-session-id").unwrap_or_default();
                    session = Some(id.to_owned());
                }
                Self::Http {
                    port: desk.port,
                    path,
                    bearer,
                    session,
                }
            }
            Way::SocketModern | Way::SocketLegacy => {
                let mut socket = Socket::with_bearer(desk, counter, key).await;
                if way == Way::SocketLegacy {
                    socket.request(&initialize(0, LEGACY)).await;
                    socket.send(&initialized()).await;
                }
                Self::Socket(Box::new(socket), way.is_modern())
            }
            Way::StdioModern | Way::StdioLegacy => {
                let mut pipe = desk.stdio(counter, Some(key));
                if way == Way::StdioLegacy {
                    pipe.request(&initialize(0, LEGACY));
                    pipe.send(&initialized());
                }
                Self::Stdio(pipe, way.is_modern())
            }
        }
    }

    /// Answers the whole message.
    async fn ask(&mut self, method: &str, params: &Value) -> Value {
        let message = |is_modern: bool| match is_modern {
            true => modern(7, method, params.clone()),
            false => plain(7, method, params.clone()),
        };
        match self {
            Self::Http {
                port,
                path,
                bearer,
                session,
            } => {
                let mut headers = vec![("authorization", bearer.clone())];
                match session {
                    None => headers.extend(modern_headers(method, params)),
                    Some(id) => headers.extend([
                        ("mcp-session-id", id.clone()),
                        ("mcp-protocol-version", LEGACY.to_owned()),
                    ]),
                }
                let headers: Vec<_> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
                let body = message(session.is_none()).to_string();
                let answer = request(*port, "POST", path, &headers, body).await;
                answer.message()
            }
            Self::Socket(socket, is_modern) => socket.request(&message(*is_modern)).await,
            Self::Stdio(pipe, is_modern) => pipe.request(&message(*is_modern)),
        }
    }

    /// A process that ends in order writes down all it recorded.
    fn close(self) {
        if let Self::Stdio(pipe, _) = self {
            pipe.finish();
        }
    }

    /// What a list holds, under the name the protocol gives it.
    async fn list(&mut self, method: &str, what: &str) -> Vec<Value> {
        let answer = self.ask(method, &json!({})).await;
        match &answer["result"][what] {
            Value::Array(items) => items.clone(),
            // A counter without resources knows no such method.
            _ => {
                assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
                Vec::new()
            }
        }
    }
}
