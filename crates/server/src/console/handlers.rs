//! How a page is shown and a form answered, the same for all pages.
//!
//! A cookie alone shows nothing (`session.rs` says why). A browser with scripts first
//! gets the frame, and its script asks for the content with the form token. A browser
//! without scripts gets both at once.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
    response::Response,
    routing::{MethodRouter, get, post},
};
use desk::Desk;
use kit::Result;

use super::{
    fields::{Acting, Fields},
    navigation::navigation,
    page,
    reader_zone::zone_of,
    response::{html, trouble},
    view::{Address, Page, View},
    visitor::{FORM_TOKEN, Visitor},
    words::Words,
};

/// What a form leads to.
pub enum Reaction {
    /// A page that is shown once, such as one with a new key.
    Page(Page),
    /// A file, or anything else.
    Other(Response),
}

/// A page at an address.
pub fn page<R, W>(render: R) -> MethodRouter<Arc<Desk>>
where
    R: Fn(View) -> W + Clone + Send + Sync + 'static,
    W: Future<Output = Result<Page>> + Send + 'static,
{
    get(
        move |State(desk): State<Arc<Desk>>, headers: HeaderMap, uri: Uri| async move {
            show(&desk, &headers, &uri, render).await
        },
    )
}

pub async fn show<R, W>(desk: &Arc<Desk>, headers: &HeaderMap, uri: &Uri, render: R) -> Response
where
    R: FnOnce(View) -> W,
    W: Future<Output = Result<Page>>,
{
    match shown(desk, headers, uri, render).await {
        Ok(response) => response,
        Err(error) => trouble(headers, &error),
    }
}

async fn shown<R, W>(
    desk: &Arc<Desk>,
    headers: &HeaderMap,
    uri: &Uri,
    render: R,
) -> Result<Response>
where
    R: FnOnce(View) -> W,
    W: Future<Output = Result<Page>>,
{
    let visitor = Visitor::of(desk, headers).await?;
    let words = visitor.words();
    let closed = || Ok(html(StatusCode::UNAUTHORIZED, page::closed(words)));
    let Some(session) = visitor.session else {
        return closed();
    };
    let secret = &desk.state.get().await?.secret;
    if !session.plain {
        let Some(token) = headers.get(FORM_TOKEN) else {
            let pages = navigation(desk, words, uri.path(), None);
            return Ok(html(StatusCode::OK, page::unfilled(words, pages)));
        };
        if !session.knows(secret, token.to_str().unwrap_or_default()) {
            return closed();
        }
    }
    let form_token = session.form_token(secret);
    let page = render(view(desk, words, &form_token, (headers, uri))).await?;
    let waiting = desk.approvals.count_waiting().await.ok();
    let pages = navigation(desk, words, uri.path(), waiting);
    Ok(html(
        page.status,
        page::whole(words, pages, &form_token, page),
    ))
}

/// What happens when the form at an address is sent.
pub fn form<R, W>(act: R) -> MethodRouter<Arc<Desk>>
where
    R: Fn(View, Fields) -> W + Clone + Send + Sync + 'static,
    W: Future<Output = Result<Reaction>> + Send + 'static,
{
    post(
        move |State(desk): State<Arc<Desk>>, headers: HeaderMap, uri: Uri, body: Body| async move {
            let acting = match Acting::of(&desk, &headers, body).await {
                Ok(acting) => acting,
                Err(response) => return response,
            };
            match answered(&desk, acting, (&headers, &uri), act).await {
                Ok(response) => response,
                Err(error) => trouble(&headers, &error),
            }
        },
    )
}

async fn answered<R, W>(
    desk: &Arc<Desk>,
    acting: Acting,
    (headers, uri): (&HeaderMap, &Uri),
    act: R,
) -> Result<Response>
where
    R: FnOnce(View, Fields) -> W,
    W: Future<Output = Result<Reaction>>,
{
    let words = acting.words;
    let form_token = acting.session.form_token(&desk.state.get().await?.secret);
    let view = view(desk, words, &form_token, (headers, uri));
    Ok(match act(view, acting.fields).await? {
        Reaction::Page(page) => {
            let waiting = desk.approvals.count_waiting().await.ok();
            let pages = navigation(desk, words, uri.path(), waiting);
            html(page.status, page::whole(words, pages, &form_token, page))
        }
        Reaction::Other(response) => response,
    })
}

fn view(
    desk: &Arc<Desk>,
    words: &'static Words,
    form_token: &str,
    (headers, uri): (&HeaderMap, &Uri),
) -> View {
    View {
        desk: Arc::clone(desk),
        words,
        form_token: form_token.to_owned(),
        address: Address::of(uri),
        zone: zone_of(headers),
    }
}
