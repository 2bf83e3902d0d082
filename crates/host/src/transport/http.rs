//! The main listener: Streamable HTTP for every protocol revision on one path
//! per counter, WebSocket beside it, and the probes.

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::{
    Extension, Router,
    body::Body,
    extract::{Path, Request, State, WebSocketUpgrade},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{any, get},
};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use rmcp::transport::{
    StreamableHttpServerConfig, StreamableHttpService,
    streamable_http_server::session::local::LocalSessionManager,
};
use serde_json::Value;
use tokio::sync::Mutex;

use super::{
    guard::{Barred, Guard},
    listener::OpenConnection,
    websocket,
};
use crate::{
    desk::{Desk, Window},
    pipeline::Refusal,
    wire::{
        direct::{self, Plain},
        handler::Handler,
        inbound,
        outbound::{Fault, error_message},
    },
};

type Service = StreamableHttpService<Handler, LocalSessionManager>;

/// What every request on the listener needs. Shared, built once.
pub struct Shared {
    pub desk: Arc<Desk>,
    pub guard: Guard,
    services: HashMap<&'static str, Services>,
    health: Mutex<Health>,
}

/// The protocol crate's service, twice: clients of the handshake era that ask
/// for a session get one, those that send no session id are served without.
struct Services {
    window: Arc<Window>,
    with_session: Service,
    without_session: Service,
}

#[derive(Default)]
struct Health {
    checked: Option<(std::time::Instant, Result<(), String>)>,
}

impl Shared {
    pub fn new(desk: Arc<Desk>) -> Self {
        let services = desk
            .windows
            .iter()
            .map(|window| (window.counter.about.name, services(&desk, window)))
            .collect();
        Self {
            guard: Guard::new(&desk.settings.http),
            services,
            health: Mutex::default(),
            desk,
        }
    }
}

fn services(desk: &Arc<Desk>, window: &Arc<Window>) -> Services {
    let http = &desk.settings.http;
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(Duration::from_secs(http.session_seconds));
    let sessions = Arc::new(sessions);
    // Host, Origin and size are checked before a request gets here.
    let config = || {
        StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(http.max_body_bytes)
            .with_cancellation_token(desk.ending.child_token())
    };
    let service = |config| {
        let (desk, window) = (Arc::clone(desk), Arc::clone(window));
        StreamableHttpService::new(
            move || Ok(Handler::new(Arc::clone(&desk), Arc::clone(&window))),
            Arc::clone(&sessions),
            config,
        )
    };
    Services {
        window: Arc::clone(window),
        with_session: service(config()),
        without_session: service(
            config()
                .with_legacy_session_mode(false)
                .with_json_response(true),
        ),
    }
}

pub fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/mcp/{counter}", any(mcp))
        .route("/ws/{counter}", get(ws))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .route("/", get(index))
        .fallback(not_found)
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), check))
        // Liveness answers whoever asks: probes often come without a proper Host.
        .route("/livez", get(|| async { "ok\n" }))
        .with_state(shared)
}

async fn check(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    match shared.guard.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(Barred::Host) => refuse(
            StatusCode::FORBIDDEN,
            "This desk is not known by that name. Add it to allowed_hosts in [http].",
        ),
        Err(Barred::Origin) => refuse(
            StatusCode::FORBIDDEN,
            "Pages of that origin may not call this desk. Add it to allowed_origins in [http].",
        ),
    }
}

fn refuse(status: StatusCode, text: &'static str) -> Response {
    (status, format!("{text}\n")).into_response()
}

async fn mcp(
    State(shared): State<Arc<Shared>>,
    Path(counter): Path<String>,
    request: Request,
) -> Response {
    let Some(services) = shared.services.get(counter.as_str()) else {
        return no_such_counter(&shared, &counter);
    };
    if request.method() != Method::POST {
        return not_a_call(&shared, services, request).await;
    }
    let (mut parts, body) = request.into_parts();
    let body = match read_body(&shared, body).await {
        Ok(body) => body,
        Err(response) => return response,
    };
    let credentials = shared.guard.credentials(&parts.headers);
    if shared.desk.settings.http.direct_path
        && direct::headers_fit(&parts.headers)
        && !inbound::too_deep(&body)
        && let Some(plain) = Plain::read(&services.window, &parts.headers, &body)
    {
        return match shared.desk.admit(&services.window, &credentials) {
            Ok(admitted) => {
                let (desk, window) = (&shared.desk, &services.window);
                let (status, text) = plain.serve(desk, window, admitted, &parts.headers).await;
                json_response(status, text)
            }
            Err(refusal) => refusal_response(plain.id().as_ref(), &refusal),
        };
    }
    let envelope = match inbound::envelope(&body) {
        Ok(envelope) => envelope,
        Err((id, fault)) => return fault_response(StatusCode::BAD_REQUEST, id.as_ref(), &fault),
    };
    if envelope.is_request() {
        match shared.desk.admit(&services.window, &credentials) {
            Ok(admitted) => drop(parts.extensions.insert(admitted)),
            Err(refusal) => return refusal_response(envelope.id().as_ref(), &refusal),
        }
    } else if shared
        .desk
        .keyring
        .identify(&credentials, services.window.counter.about.name)
        .is_none()
    {
        return refusal_response(None, &Refusal::InvalidKey);
    }
    // The protocol crate would answer with plain text and without the id.
    if let Err((id, fault)) = inbound::message(&body) {
        return fault_response(StatusCode::BAD_REQUEST, id.as_ref(), &fault);
    }
    let asks_for_session = envelope.method.as_deref() == Some("initialize");
    let has_session = parts.headers.contains_key("mcp-session-id");
    let service = if asks_for_session || has_session {
        &services.with_session
    } else {
        &services.without_session
    };
    let request = http::Request::from_parts(parts, Full::new(body.clone()));
    service.handle(request).await.map(Body::new)
}

/// GET and DELETE belong to sessions of the handshake era.
async fn not_a_call(shared: &Shared, services: &Services, request: Request) -> Response {
    let credentials = shared.guard.credentials(request.headers());
    let name = services.window.counter.about.name;
    if shared.desk.keyring.identify(&credentials, name).is_none() {
        return refusal_response(None, &Refusal::InvalidKey);
    }
    services.with_session.handle(request).await.map(Body::new)
}

async fn read_body(shared: &Shared, body: Body) -> Result<Bytes, Response> {
    let http = &shared.desk.settings.http;
    let body = Limited::new(body, http.max_body_bytes).collect();
    match tokio::time::timeout(Duration::from_secs(http.body_timeout_seconds), body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(refuse(
            StatusCode::PAYLOAD_TOO_LARGE,
            "The body is larger than max_body_bytes in [http].",
        )),
        Ok(Err(_)) => Err(refuse(StatusCode::BAD_REQUEST, "The body broke off.")),
        Err(_) => Err(refuse(
            StatusCode::REQUEST_TIMEOUT,
            "The body did not arrive in time.",
        )),
    }
}

fn json_response(status: u16, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    response
}

fn fault_response(status: StatusCode, id: Option<&Value>, fault: &Fault) -> Response {
    json_response(status.as_u16(), error_message(id, fault).to_string())
}

fn refusal_response(id: Option<&Value>, refusal: &Refusal) -> Response {
    let fault = Fault::from(refusal);
    match refusal {
        Refusal::InvalidKey => {
            let mut response = fault_response(StatusCode::UNAUTHORIZED, id, &fault);
            response.headers_mut().insert(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("Bearer realm=\"madoguchi\""),
            );
            response
        }
        Refusal::RateLimited { retry_after_ms } => {
            let mut response = fault_response(StatusCode::TOO_MANY_REQUESTS, id, &fault);
            response.headers_mut().insert(
                header::RETRY_AFTER,
                HeaderValue::from(retry_after_ms.div_ceil(1000)),
            );
            response
        }
        Refusal::UnknownTool { .. } => fault_response(StatusCode::OK, id, &fault),
    }
}

async fn ws(
    State(shared): State<Arc<Shared>>,
    Path(counter): Path<String>,
    headers: HeaderMap,
    Extension(open): Extension<Arc<OpenConnection>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    match shared.services.get(counter.as_str()) {
        Some(services) => websocket::accept(&shared, &services.window, &headers, open, upgrade),
        None => no_such_counter(&shared, &counter),
    }
}

fn no_such_counter(shared: &Shared, name: &str) -> Response {
    let names: Vec<&str> = shared.services.keys().copied().collect();
    let nearest = kit::text::nearest(name, names.iter().copied());
    let hint = match nearest {
        Some(nearest) => format!("Did you mean {nearest}?"),
        None => format!("There are: {}.", names.join(", ")),
    };
    (
        StatusCode::NOT_FOUND,
        format!("There is no counter of that name. {hint}\n"),
    )
        .into_response()
}

async fn not_found() -> Response {
    refuse(
        StatusCode::NOT_FOUND,
        "Nothing is here. Counters are at /mcp/COUNTER and /ws/COUNTER.",
    )
}

async fn index(State(shared): State<Arc<Shared>>) -> String {
    let mut text = String::from("Madoguchi\n\n");
    for window in &shared.desk.windows {
        let about = &window.counter.about;
        text.push_str(&format!(
            "/mcp/{name}  /ws/{name}  {summary}\n",
            name = about.name,
            summary = about.summary
        ));
    }
    text.push_str("\n/livez  /readyz  /metrics\n");
    text
}

/// Ready when every store answers. Asked at most once a second, however often
/// probes come.
async fn readyz(State(shared): State<Arc<Shared>>) -> Response {
    if shared.desk.stopping.is_cancelled() {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, "stopping");
    }
    let mut health = shared.health.lock().await;
    let fresh = health
        .checked
        .as_ref()
        .is_some_and(|(at, _)| at.elapsed() < Duration::from_secs(1));
    if !fresh {
        let result = stores_answer(&shared.desk).await;
        health.checked = Some((std::time::Instant::now(), result));
    }
    match &health.checked {
        Some((_, Err(what))) => {
            (StatusCode::SERVICE_UNAVAILABLE, format!("{what}\n")).into_response()
        }
        _ => "ready\n".into_response(),
    }
}

async fn stores_answer(desk: &Desk) -> Result<(), String> {
    for window in &desk.windows {
        if let Some(store) = &window.counter.store {
            let budget = kit::sql::Budget {
                deadline: Some(std::time::Instant::now() + Duration::from_secs(2)),
                ..Default::default()
            };
            store
                .query(budget, |sql| sql.query("SELECT 1", &[]).map(drop))
                .await
                .map_err(|error| {
                    let counter = window.counter.about.name;
                    tracing::warn!(counter, cause = ?error.cause, "not ready");
                    format!("{counter}: the store does not answer")
                })?;
        }
    }
    Ok(())
}

async fn metrics(State(shared): State<Arc<Shared>>) -> Response {
    match shared.desk.metrics.text() {
        Ok(text) => (
            [(
                header::CONTENT_TYPE,
                "application/openmetrics-text; version=1.0.0; charset=utf-8",
            )],
            text,
        )
            .into_response(),
        Err(_) => refuse(StatusCode::INTERNAL_SERVER_ERROR, "no metrics"),
    }
}
