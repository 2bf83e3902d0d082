//! The main listener: Streamable HTTP for every protocol revision on one path
//! per counter, WebSocket beside it, the probes, and the console for people.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension, Router,
    extract::{FromRequestParts, Path, Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware,
    response::{IntoResponse, Response},
    routing::{any, get},
};
use desk::{
    Desk,
    pipeline::Refusal,
    stations::identify::{Credentials, Unidentified},
};
use tokio::sync::Mutex;

use super::{
    answer::{self, refuse},
    connections::{OpenConnection, Standing},
    cross_origin,
    endpoint::Endpoints,
    files,
    guard::{self, Guard},
    streamable_http,
    websocket::{self, Upgrade},
};
use crate::address_limits::Visit;

/// What every request on the listener needs. Shared, built once.
pub struct Shared {
    pub desk: Arc<Desk>,
    pub guard: Arc<Guard>,
    endpoints: Endpoints,
    health: Mutex<Health>,
}

#[derive(Default)]
struct Health {
    checked: Option<(std::time::Instant, Result<(), String>)>,
}

/// `pages` are the console's, at `/` and below.
pub fn router(desk: &Arc<Desk>, endpoints: &Endpoints, pages: Router) -> Router {
    let listener = desk.settings.http.listener();
    let guard = Guard::new("http", &listener, desk.settings.tls.is_set(), &desk.keyring);
    let shared = Arc::new(Shared {
        desk: Arc::clone(desk),
        guard: Arc::new(guard),
        endpoints: endpoints.clone(),
        health: Mutex::default(),
    });
    let guard = Arc::clone(&shared.guard);
    let calls = Router::new()
        .route("/mcp/{counter}", any(mcp))
        .route("/files/{counter}/{key}/{file}", get(file));
    cross_origin::open(calls, &guard.origins)
        .route("/ws/{counter}", get(ws))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .with_state(shared)
        .merge(pages)
        .fallback(not_found)
        .layer(middleware::from_fn_with_state(guard, guard::check))
        // Liveness answers whoever asks: probes often come without a proper Host.
        .route("/livez", get(|| async { "ok\n" }))
}

async fn mcp(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    // Nearly always the name stands there as it is. Only else is it decoded.
    let plain = request.uri().path().strip_prefix("/mcp/");
    if let Some(endpoint) = plain.and_then(|name| shared.endpoints.get(name)) {
        return streamable_http::handle(endpoint, &shared.guard, request).await;
    }
    let (mut parts, body) = request.into_parts();
    let counter = match Path::<String>::from_request_parts(&mut parts, &()).await {
        Ok(Path(counter)) => counter,
        Err(refused) => return refused.into_response(),
    };
    let request = Request::from_parts(parts, body);
    match shared.endpoints.get(counter.as_str()) {
        Some(endpoint) => streamable_http::handle(endpoint, &shared.guard, request).await,
        None => no_such_counter(&shared, &counter),
    }
}

async fn ws(
    State(shared): State<Arc<Shared>>,
    Path(counter): Path<String>,
    headers: HeaderMap,
    from: Extension<Arc<Visit>>,
    Extension(open): Extension<Arc<OpenConnection>>,
    upgrade: Upgrade,
) -> Response {
    match shared.endpoints.get(counter.as_str()) {
        Some(endpoint) => {
            let to = websocket::SocketTarget {
                desk: &shared.desk,
                guard: &shared.guard,
                published: &endpoint.published,
                is_own_port: false,
            };
            websocket::accept(&to, &headers, from.0, open, upgrade).await
        }
        None => no_such_counter(&shared, &counter),
    }
}

async fn file(
    State(shared): State<Arc<Shared>>,
    Path((counter, key, file)): Path<(String, String, String)>,
    headers: HeaderMap,
    from: Extension<Arc<Visit>>,
    Extension(open): Extension<Arc<OpenConnection>>,
) -> Response {
    match shared.endpoints.get(counter.as_str()) {
        Some(endpoint) => {
            let (desk, published) = (&shared.desk, &endpoint.published);
            files::serve(desk, published, (&key, &file), &headers, &from, &open).await
        }
        None => no_such_counter(&shared, &counter),
    }
}

fn no_such_counter(shared: &Shared, name: &str) -> Response {
    let names: Vec<&str> = shared.endpoints.keys().copied().collect();
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

/// Ready when every store answers, which is checked at most once a second.
/// Everybody learns whether it is ready; details are only for callers who may
/// use the desk.
async fn readyz(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    from: Extension<Arc<Visit>>,
) -> Response {
    let credentials = shared.guard.credentials(&headers);
    let admitted = shared.desk.keyring.admit(&credentials).await;
    let brings_key = matches!(credentials, Credentials::Key(_));
    if brings_key && admitted == Err(Unidentified::InvalidKey) {
        from.wrong_key();
    }
    let admitted = admitted.is_ok();
    let (status, text) = match is_ready(&shared).await {
        Ok(()) if admitted => (StatusCode::OK, ready(&shared.desk, brings_key)),
        Ok(()) => (StatusCode::OK, "ready\n".to_owned()),
        Err(what) if admitted => (StatusCode::SERVICE_UNAVAILABLE, format!("{what}\n")),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "not ready\n".to_owned()),
    };
    (status, text).into_response()
}

async fn is_ready(shared: &Shared) -> Result<(), String> {
    if shared.desk.draining.is_cancelled() {
        return Err("stopping".to_owned());
    }
    let audit = &shared.desk.audit;
    if let (Some(trouble), true) = (audit.trouble(), audit.is_required()) {
        return Err(trouble.to_string());
    }
    let mut health = shared.health.lock().await;
    match &health.checked {
        Some((at, result)) if at.elapsed() < Duration::from_secs(1) => result.clone(),
        _ => {
            let result = stores_answer(&shared.desk).await;
            health.checked = Some((std::time::Instant::now(), result.clone()));
            result
        }
    }
}

/// "ready", and the health of counters. Counters that always need a key show
/// theirs only to key holders.
fn ready(desk: &Desk, has_key: bool) -> String {
    let mut text = String::from("ready\n");
    if let Some(trouble) = desk.audit.trouble() {
        text.push_str(&format!("{trouble}\n"));
    }
    for served in &desk.counters {
        let name = served.counter.about.name;
        if !has_key && desk.keyring.always_needs(name) {
            continue;
        }
        if let Some(health) = served.health() {
            text.push_str(&format!("{name}: {health}\n"));
        }
    }
    text
}

async fn stores_answer(desk: &Desk) -> Result<(), String> {
    let mut asked: Vec<&Arc<dyn kit::Store>> = Vec::new();
    for served in &desk.counters {
        let Some(store) = &served.counter.store else {
            continue;
        };
        // Most counters share one.
        if asked.iter().any(|other| Arc::ptr_eq(other, store)) {
            continue;
        }
        asked.push(store);
        let ready = store.ready().await;
        ready.map_err(|trouble| format!("database: {trouble}"))?;
    }
    Ok(())
}

async fn metrics(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Extension(open): Extension<Arc<OpenConnection>>,
) -> Response {
    let credentials = shared.guard.credentials(&headers);
    let brings_key = matches!(credentials, Credentials::Key(_));
    let is_public = shared.desk.settings.http.public_metrics && !brings_key;
    if !is_public && let Err(why) = shared.desk.keyring.admit(&credentials).await {
        return answer::refusal(None, &Refusal::of(&why, ""));
    }
    if brings_key && let Err(full) = open.settle(Standing::Identified) {
        return full.answer();
    }
    match shared.desk.metrics.text(shared.desk.pools()) {
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
