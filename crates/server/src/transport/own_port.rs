//! The port of one counter: Streamable HTTP at `/` and `/mcp`, tools without
//! any protocol at `/mcp/tools/…`, and files under `/assets`; or WebSocket at
//! `/`, in the words of the counter's document.

use std::{path::PathBuf, sync::Arc};

use axum::{
    Extension, Router,
    extract::{Path, Request, State},
    http::{HeaderMap, Method, StatusCode, header},
    middleware,
    response::{IntoResponse, Response},
    routing::{any, get, post},
};
use bytes::Bytes;
use desk::{
    methods::{TOOLS_CALL, TOOLS_LIST},
    pipeline::{Admitted, Refusal},
    settings::Listener,
};

use super::{
    answer, assets,
    body::{Unread, read_body},
    connections::OpenConnection,
    cross_origin,
    endpoint::{Endpoint, arrived},
    guard::{self, Guard},
    json_only,
    request_budget::BudgetPermit,
    streamable_http,
    websocket::{self, Upgrade},
};
use crate::{
    address_limits::Visit,
    wire::{errors::Fault, headers::SESSION_ID, plain_json},
};

/// Which counter, and what its port offers besides the protocol.
pub struct OwnPort {
    pub endpoint: Arc<Endpoint>,
    pub guard: Arc<Guard>,
    /// The directory behind `/assets`.
    pub assets: Option<PathBuf>,
    /// WebSocket, and nothing else.
    pub socket: bool,
}

impl OwnPort {
    pub fn new(endpoint: &Arc<Endpoint>, section: &'static str, listener: &Listener) -> Self {
        let desk = &endpoint.desk;
        let mut guard = Guard::new(section, listener, desk.settings.tls.is_set(), &desk.keyring);
        let name = endpoint.published.counter.about.name;
        guard.key_required |= desk.keyring.always_needs(name);
        Self {
            endpoint: Arc::clone(endpoint),
            guard: Arc::new(guard),
            assets: None,
            socket: false,
        }
    }
}

pub fn router(port: OwnPort) -> Router {
    let port = Arc::new(port);
    let guard = Arc::clone(&port.guard);
    if port.socket {
        return Router::new()
            .route("/", get(socket).fallback(not_get))
            .fallback(not_a_socket)
            .layer(middleware::from_fn_with_state(guard, guard::check))
            .route("/livez", get(|| async { "ok\n" }))
            .with_state(port);
    }
    let routes = Router::new()
        .route("/", any(root))
        .route("/mcp", any(mcp))
        .route("/mcp/", any(mcp))
        .route("/mcp/tools/list", post(list))
        .route("/mcp/tools/call", post(call))
        .route("/assets/{*path}", get(asset));
    cross_origin::open(routes, &guard.origins)
        .fallback(not_found)
        .layer(middleware::from_fn_with_state(guard, guard::check))
        .route("/livez", get(|| async { "ok\n" }))
        .with_state(port)
}

async fn socket(
    State(port): State<Arc<OwnPort>>,
    headers: HeaderMap,
    from: Extension<Arc<Visit>>,
    Extension(open): Extension<Arc<OpenConnection>>,
    upgrade: Result<Upgrade, Response>,
) -> Response {
    let Ok(upgrade) = upgrade else {
        return not_a_socket().await;
    };
    let to = websocket::SocketTarget {
        desk: &port.endpoint.desk,
        guard: &port.guard,
        published: &port.endpoint.published,
        is_own_port: true,
    };
    websocket::accept(&to, &headers, from.0, open, upgrade).await
}

/// Somebody who expects Streamable HTTP here.
async fn not_get(State(port): State<Arc<OwnPort>>, request: Request) -> Response {
    answer::drain(request.into_body()).await;
    let name = port.endpoint.published.counter.about.name;
    let text = format!(
        "This port speaks MCP over WebSocket only. Open a WebSocket at /, or send the request to /mcp/{name} on the main port.\n"
    );
    (StatusCode::METHOD_NOT_ALLOWED, text).into_response()
}

async fn not_a_socket() -> Response {
    answer::refuse(
        StatusCode::UPGRADE_REQUIRED,
        "This port speaks MCP over WebSocket only. Open a WebSocket at /.",
    )
}

/// People who look and clients that listen both come with GET.
async fn root(State(port): State<Arc<OwnPort>>, request: Request) -> Response {
    let headers = request.headers();
    let listens = headers.contains_key(&SESSION_ID)
        || matches!(accepts(headers), Some(accept) if accept.contains("text/event-stream"));
    if matches!(*request.method(), Method::GET | Method::HEAD) && !listens {
        let about = &port.endpoint.published.counter.about;
        return Response::new(
            format!(
                "{}\n\n{}\n\n/  /mcp  POST /mcp/tools/list  POST /mcp/tools/call\n",
                about.title, about.summary
            )
            .into(),
        );
    }
    mcp(State(port), request).await
}

fn accepts(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::ACCEPT)?.to_str().ok()
}

async fn mcp(State(port): State<Arc<OwnPort>>, request: Request) -> Response {
    streamable_http::handle(&port.endpoint, &port.guard, request).await
}

async fn list(State(port): State<Arc<OwnPort>>, request: Request) -> Response {
    let (_, body, admitted, _permit) = match port.admit(request, TOOLS_LIST.name).await {
        Ok(admitted) => admitted,
        Err(response) => return response,
    };
    match plain_json::check_list_request(&body) {
        Ok(()) => answer::json(
            200,
            plain_json::tool_list(&port.endpoint.published, &admitted.who),
        ),
        Err(fault) => unread(&fault),
    }
}

async fn call(State(port): State<Arc<OwnPort>>, request: Request) -> Response {
    let (headers, body, admitted, _permit) = match port.admit(request, TOOLS_CALL.name).await {
        Ok(admitted) => admitted,
        Err(response) => return response,
    };
    let call = match plain_json::PlainCall::read(&body) {
        Ok(call) => call,
        Err(fault) => return unread(&fault),
    };
    let (desk, published) = (&port.endpoint.desk, &port.endpoint.published);
    match call.serve(desk, published, admitted, &headers).await {
        Ok(text) => answer::json(200, text),
        Err(refusal) => refused(&refusal),
    }
}

impl OwnPort {
    /// The first stations, for a request that no protocol surrounds.
    async fn admit(
        &self,
        request: Request,
        method: &str,
    ) -> Result<(HeaderMap, Bytes, Admitted, Option<BudgetPermit>), Response> {
        let (parts, body) = request.into_parts();
        // Pages of other origins can send a body of any other type, or of none,
        // without asking first.
        if !json_only::is_json(&parts.headers) {
            let fault = Fault {
                code: 415,
                message: "The request has no Content-Type: application/json. Send JSON, and that header with it.".into(),
                data: None,
            };
            answer::drain(body).await;
            return Err(answer::json(415, plain_json::error_body(&fault)));
        }
        let endpoint = &self.endpoint;
        let name = endpoint.published.counter.about.name;
        let settled = self.guard.settle(name, &parts.headers, &parts.extensions);
        let sender = settled.await?;
        let open = parts.extensions.get::<Arc<OpenConnection>>();
        let body = read_body(&endpoint.desk, body, sender, open).await;
        // The caller holds it until the request is answered.
        let (body, permit) = body.map_err(|unread| match unread {
            Unread::FromStranger(why) => refused(&Refusal::of(&why, name)),
            unread => unread.into_response(),
        })?;
        let credentials = self.guard.credentials(&parts.headers);
        let admitted = endpoint
            .desk
            .admit(&endpoint.published, &credentials, method)
            .await
            .map_err(|refusal| refused(&refusal))?;
        let admitted = arrived(admitted, &parts);
        Ok((parts.headers, body, admitted, permit))
    }
}

fn refused(refusal: &Refusal) -> Response {
    let text = plain_json::error_body(&Fault::from(refusal));
    let response = answer::json(answer::status(refusal).as_u16(), text);
    answer::with_headers(refusal, response)
}

fn unread(fault: &Fault) -> Response {
    answer::json(400, plain_json::error_body(fault))
}

async fn asset(
    State(port): State<Arc<OwnPort>>,
    Path(path): Path<String>,
    headers: HeaderMap,
    Extension(open): Extension<Arc<OpenConnection>>,
) -> Response {
    let endpoint = &port.endpoint;
    let credentials = port.guard.credentials(&headers);
    let name = endpoint.published.counter.about.name;
    let who = match endpoint.desk.keyring.identify(&credentials, name).await {
        Ok(who) => who,
        Err(why) => return refused(&Refusal::of(&why, name)),
    };
    if let Err(full) = open.identify(&who) {
        return full.answer();
    }
    match &port.assets {
        Some(directory) => assets::serve(directory.clone(), path, &headers).await,
        None => not_found().await,
    }
}

async fn not_found() -> Response {
    answer::refuse(
        StatusCode::NOT_FOUND,
        "Nothing is here. The counter is at / and /mcp.",
    )
}
