//! The addresses of the console, and what is at each.

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header},
    middleware::{self, Next},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use desk::Desk;
use kit::Result;

use super::{
    act,
    inbox::{Inbox, View},
    language::{LANGUAGE_COOKIE, language_of},
    links, live, page,
    response::{accepts, html, trouble},
    session::{self, Session},
    visitor::Visitor,
    words::Words,
};
use crate::transport::{
    answer,
    connections::{OpenConnection, Standing},
};

/// With it a script says that it is one of the console's.
const FORM_TOKEN: &str = "x-console-form";

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

pub fn router(desk: &Arc<Desk>) -> Router {
    Router::new()
        .route("/console/open", get(door).post(act::open))
        .route("/console/sign-out", post(act::sign_out))
        .route("/console/language", get(choose_language))
        .route("/console/events", get(events))
        .route("/console/approvals/{id}", post(act::decide))
        .route("/console/grants/{id}/revoke", post(act::revoke))
        .route(
            "/console/console.css",
            get(|| file("text/css", page::STYLE)),
        )
        .route(
            "/console/console.js",
            get(|| file("text/javascript", page::SCRIPT)),
        )
        .route(
            "/console/enter.js",
            get(|| file("text/javascript", page::ENTER_SCRIPT)),
        )
        .route("/console", get(|| async { Redirect::to("/") }))
        .layer(middleware::from_fn(for_people))
        .route("/", get(index))
        .with_state(Arc::clone(desk))
}

/// The page for people, or a list of the addresses for programs.
async fn index(State(desk): State<Arc<Desk>>, headers: HeaderMap, uri: Uri) -> Response {
    if is_browser(&headers) {
        return home(&desk, &headers, &uri).await;
    }
    let mut text = String::from("Madoguchi\n\n");
    for window in &desk.windows {
        let about = &window.counter.about;
        text.push_str(&format!(
            "/mcp/{name}  /ws/{name}  {summary}\n",
            name = about.name,
            summary = about.summary
        ));
    }
    text.push_str("\n/livez  /readyz  /metrics\n");
    text.into_response()
}

/// Whether the page at `/` is for this client, rather than the plain text.
fn is_browser(headers: &HeaderMap) -> bool {
    accepts(headers, "text/html")
}

/// The page at `/`.
async fn home(desk: &Desk, headers: &HeaderMap, uri: &Uri) -> Response {
    let response = if headers.contains_key(header::AUTHORIZATION) {
        keys_open_nothing()
    } else {
        let visitor = Visitor::of(desk, headers).await;
        match visitor {
            Ok(visitor) => inbox(&visitor, desk, uri).await,
            Err(error) => Err(error),
        }
        .unwrap_or_else(|error| trouble(headers, &error))
    };
    with_headers(response)
}

/// The inbox, or the page for those who have no session.
async fn inbox(visitor: &Visitor, desk: &Desk, uri: &Uri) -> Result<Response> {
    let words = visitor.words();
    let Some(session) = &visitor.session else {
        return Ok(html(StatusCode::UNAUTHORIZED, page::closed(words)));
    };
    if !session.plain {
        return Ok(html(StatusCode::OK, page::inbox(words)));
    }
    let inbox = Inbox::read(desk).await?;
    let view = View {
        desk,
        words,
        form_token: &session.form_token(&desk.state.get().await?.secret),
    };
    let notice = parameter(uri, "done").and_then(|word| act::Outcome::parse(&word));
    let notice = notice.map(|outcome| outcome.message(words));
    Ok(html(
        StatusCode::OK,
        page::plain_inbox(&view, &inbox, notice),
    ))
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
    let token = parameter(&uri, "token").unwrap_or_default();
    let now = desk.clock.now().as_millisecond();
    let looked = async { links::is_good(desk.state.get().await?, &token, now).await };
    match looked.await {
        Ok(true) => html(StatusCode::OK, page::enter(words, &token)),
        Ok(false) => html(StatusCode::GONE, page::invalid_link(words)),
        Err(error) => trouble(&headers, &error),
    }
}

async fn choose_language(headers: HeaderMap, uri: Uri) -> Response {
    let chosen = match parameter(&uri, "to").as_deref() {
        Some("ja") => "ja",
        _ => "en",
    };
    let cookie = session::cookie(LANGUAGE_COOKIE, chosen, YEAR_SECONDS, "", false);
    // Whoever came with a link has not used it yet.
    let from = headers
        .get(header::REFERER)
        .and_then(|from| from.to_str().ok());
    let from = from.and_then(|from| from.parse::<Uri>().ok());
    let back = from.as_ref().and_then(|from| from.path_and_query());
    let back = back.filter(|back| back.path() == "/console/open");
    let back = back.map_or("/", |back| back.as_str());
    ([(header::SET_COOKIE, cookie)], Redirect::to(back)).into_response()
}

async fn events(
    State(desk): State<Arc<Desk>>,
    headers: HeaderMap,
    Extension(open): Extension<Arc<OpenConnection>>,
) -> Response {
    let visitor = match Visitor::of(&desk, &headers).await {
        Ok(visitor) => visitor,
        Err(error) => return trouble(&headers, &error),
    };
    let (words, language) = (visitor.words(), visitor.language);
    let token = headers
        .get(FORM_TOKEN)
        .and_then(|token| token.to_str().ok());
    let known = |session: &Session| {
        let secret = desk.state.opened().map(|state| &state.secret);
        secret.is_some_and(|secret| session.knows(secret, token.unwrap_or_default()))
    };
    match visitor.session.filter(known) {
        Some(session) => match open.settle(Standing::Identified) {
            Ok(()) => live::stream(desk, session, language),
            Err(full) => full.answer(),
        },
        None => html(StatusCode::UNAUTHORIZED, page::closed(words)),
    }
}

fn parameter(uri: &Uri, name: &str) -> Option<String> {
    form_urlencoded::parse(uri.query()?.as_bytes())
        .find(|(given, _)| given == name)
        .map(|(_, value)| value.into_owned())
}
