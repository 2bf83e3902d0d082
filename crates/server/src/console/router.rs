//! The addresses of the console, and what is at each.

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::{Path, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header},
    middleware::{self, Next},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use desk::Desk;
use kit::context::Language;

use super::{
    act,
    facts::Facts,
    handlers::{form, page, show},
    language::{LANGUAGE_COOKIE, language_of},
    links, live,
    open_pages::OpenPages,
    page::{self as frame, FILES},
    pages::{
        agents, approval, approvals, audit, connect, counter, health, keys, overview, policies,
        record, settings, tools,
    },
    response::{accepts, html, trouble},
    session::{self, Session},
    view::Address,
    visitor::{FORM_TOKEN, Visitor},
    words::Words,
};
use crate::transport::{
    answer,
    connections::{OpenConnection, Standing},
};

const YEAR_SECONDS: i64 = 365 * 24 * 60 * 60;

const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
         img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // Not `no-referrer`: browsers would then send forms without their origin.
    (header::REFERRER_POLICY, "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

pub fn router(desk: &Arc<Desk>, facts: Facts) -> Router {
    let facts = Arc::new(facts);
    let known = Arc::clone(&facts);
    let connect = move |view| connect::page(view, Arc::clone(&known));
    let known = Arc::clone(&facts);
    let health = move |view| health::page(view, Arc::clone(&known));
    let settings = move |view| settings::page(view, Arc::clone(&facts));
    let open_pages = Arc::new(OpenPages::default());
    let drawn = Arc::clone(&open_pages);
    let counter_page = move |view| counter::page(view, Arc::clone(&drawn));
    let mut router = Router::new()
        .route("/console/open", get(door).post(act::open))
        .route("/console/sign-out", post(act::sign_out))
        .route("/console/language", get(choose_language))
        .route("/console/events", get(events))
        .route("/console/waiting", get(waiting))
        .route("/console/approvals", get(approvals::inbox))
        .route("/console/approvals/{id}", post(act::decide))
        .route("/console/grants/{id}/revoke", post(act::revoke))
        .route("/console/approvals/one", page(approval::page))
        .route("/console/agents", page(agents::page))
        .route("/console/audit", page(audit::page))
        .route("/console/audit/export", form(audit::export))
        .route("/console/audit/record", page(record::page))
        .route("/console/connect", page(connect))
        .route(connect::EVENTS, get(client_events))
        .route("/console/health", page(health))
        .route("/console/keys", page(keys::page).merge(form(keys::create)))
        .route("/console/keys/rotate", form(keys::rotate).get(to_keys))
        .route("/console/keys/revoke", form(keys::revoke).get(to_keys))
        .route(
            "/console/policies",
            page(policies::page).merge(form(policies::set)),
        )
        .route("/console/settings", page(settings))
        .route("/console/tools", page(tools::list))
        .route(
            "/console/tools/{counter}/{tool}",
            page(tools::tool).merge(form(tools::call)),
        )
        .route(
            "/console/{counter}",
            page(counter_page).merge(form(counter::act)),
        )
        .route(
            "/console/{counter}/events",
            get(counter_events).layer(Extension(open_pages)),
        )
        .route("/console/", page(overview::page))
        .route("/console", get(|| async { Redirect::to("/console/") }));
    for (name, kind, text) in FILES {
        router = router.route(&format!("/console/{name}"), get(move || file(kind, text)));
    }
    router
        .layer(middleware::from_fn(for_people))
        .route("/", get(index))
        .with_state(Arc::clone(desk))
}

/// Whoever loads the page anew after a form was answered.
async fn to_keys() -> Redirect {
    Redirect::to("/console/keys")
}

/// The page for people, or a list of the addresses for programs.
async fn index(State(desk): State<Arc<Desk>>, headers: HeaderMap, uri: Uri) -> Response {
    // Whether the page is for this client, rather than the plain text.
    if accepts(&headers, "text/html") {
        return with_headers(match headers.contains_key(header::AUTHORIZATION) {
            true => keys_open_nothing(),
            false => show(&desk, &headers, &uri, overview::page).await,
        });
    }
    let mut text = String::from("Madoguchi\n\n");
    for served in &desk.counters {
        let about = &served.counter.about;
        text.push_str(&format!(
            "/mcp/{name}  /ws/{name}  {summary}\n",
            name = about.name,
            summary = about.summary
        ));
    }
    text.push_str("\n/livez  /readyz  /metrics\n");
    text.into_response()
}

/// Keys are for agents. Whoever sends one is not let in, whatever else they have.
async fn for_people(request: Request, next: Next) -> Response {
    let response = if request.headers().contains_key(header::AUTHORIZATION) {
        keys_open_nothing()
    } else {
        next.run(request).await
    };
    with_headers(response)
}

fn keys_open_nothing() -> Response {
    answer::refuse(
        StatusCode::FORBIDDEN,
        "The console is for people; API keys do not open it.",
    )
}

fn with_headers(mut response: Response) -> Response {
    for (name, value) in HEADERS {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}

async fn file(kind: &'static str, text: &'static str) -> Response {
    let kind = format!("{kind}; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// What a one-time link shows. Only the button on it uses the link up.
async fn door(State(desk): State<Arc<Desk>>, headers: HeaderMap, uri: Uri) -> Response {
    let words = Words::of(language_of(&headers));
    let address = Address::of(&uri);
    let token = address.get("token").unwrap_or_default();
    let now = desk.clock.now().as_millisecond();
    let looked = async { links::is_good(desk.state.get().await?, token, now).await };
    match looked.await {
        Ok(true) => html(StatusCode::OK, frame::enter(words, token)),
        Ok(false) => html(StatusCode::GONE, frame::invalid_link(words)),
        Err(error) => trouble(&headers, &error),
    }
}

async fn choose_language(headers: HeaderMap, uri: Uri) -> Response {
    let chosen = match Address::of(&uri).get("to") {
        Some("ja") => "ja",
        _ => "en",
    };
    let cookie = session::cookie(LANGUAGE_COOKIE, chosen, YEAR_SECONDS, "", false);
    // Back to the page; whoever came with a link has not used it yet.
    let from = headers
        .get(header::REFERER)
        .and_then(|from| from.to_str().ok());
    let from = from.and_then(|from| from.parse::<Uri>().ok());
    let back = from.as_ref().and_then(|from| from.path_and_query());
    let back = back.filter(|back| back.path().starts_with("/console/"));
    let back = back.map_or("/", |back| back.as_str());
    ([(header::SET_COOKIE, cookie)], Redirect::to(back)).into_response()
}

/// The inbox, again whenever it changes.
async fn events(
    State(desk): State<Arc<Desk>>,
    headers: HeaderMap,
    Extension(open): Extension<Arc<OpenConnection>>,
) -> Response {
    match listener(&desk, &headers, &open).await {
        Ok((session, language)) => live::stream(desk, session, language),
        Err(response) => response,
    }
}

/// How many questions wait for a decision.
async fn waiting(
    State(desk): State<Arc<Desk>>,
    headers: HeaderMap,
    Extension(open): Extension<Arc<OpenConnection>>,
) -> Response {
    if let Err(response) = listener(&desk, &headers, &open).await {
        return response;
    }
    match desk.approvals.count_waiting().await {
        Ok(count) => count.to_string().into_response(),
        Err(error) => trouble(&headers, &error),
    }
}

/// Changes of one counter.
async fn counter_events(
    State(desk): State<Arc<Desk>>,
    Path(counter): Path<String>,
    headers: HeaderMap,
    Extension(open): Extension<Arc<OpenConnection>>,
    Extension(pages): Extension<Arc<OpenPages>>,
) -> Response {
    let session = match listener(&desk, &headers, &open).await {
        Ok((session, _)) => session,
        Err(response) => return response,
    };
    match desk.counter(&counter).map(Arc::clone) {
        Some(served) => {
            let viewer = pages.watch(served.counter.about.name);
            live::counter_stream(desk, session, &served, viewer)
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Says when a client has called for the first time.
async fn client_events(
    State(desk): State<Arc<Desk>>,
    headers: HeaderMap,
    Extension(open): Extension<Arc<OpenConnection>>,
) -> Response {
    match listener(&desk, &headers, &open).await {
        Ok((session, _)) => live::client_stream(desk, session),
        Err(response) => response,
    }
}

/// Who listens to a stream, or asks again and again. Their connection may stay open.
async fn listener(
    desk: &Desk,
    headers: &HeaderMap,
    open: &OpenConnection,
) -> Result<(Session, Language), Response> {
    let visitor = Visitor::of(desk, headers).await;
    let visitor = visitor.map_err(|error| trouble(headers, &error))?;
    let words = visitor.words();
    let token = headers
        .get(FORM_TOKEN)
        .and_then(|token| token.to_str().ok());
    let known = |session: &Session| {
        let secret = desk.state.opened().map(|state| &state.secret);
        secret.is_some_and(|secret| session.knows(secret, token.unwrap_or_default()))
    };
    let closed = || html(StatusCode::UNAUTHORIZED, frame::closed(words));
    let session = visitor.session.filter(known).ok_or_else(closed)?;
    match open.settle(Standing::Identified) {
        Ok(()) => Ok((session, visitor.language)),
        Err(full) => Err(full.answer()),
    }
}
