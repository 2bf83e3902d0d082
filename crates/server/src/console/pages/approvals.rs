//! The inbox: what waits for a decision, what was decided, what is always allowed.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
    response::Response,
};
use desk::Desk;
use kit::Result;
use maud::html as markup;

use super::super::{
    act::Outcome,
    inbox::Inbox,
    navigation::navigation,
    page,
    parts::{Notice, notice},
    reader_zone::zone_of,
    response::{html, trouble},
    view::{Address, View},
    visitor::Visitor,
};

pub async fn inbox(State(desk): State<Arc<Desk>>, headers: HeaderMap, uri: Uri) -> Response {
    match shown(&desk, &headers, &uri).await {
        Ok(response) => response,
        Err(error) => trouble(&headers, &error),
    }
}

/// Unlike other pages, this one is filled by a stream of changes.
async fn shown(desk: &Arc<Desk>, headers: &HeaderMap, uri: &Uri) -> Result<Response> {
    let visitor = Visitor::of(desk, headers).await?;
    let words = visitor.words();
    let Some(session) = &visitor.session else {
        return Ok(html(StatusCode::UNAUTHORIZED, page::closed(words)));
    };
    if !session.plain {
        let pages = navigation(desk, words, uri.path(), None);
        return Ok(html(StatusCode::OK, page::inbox(words, pages)));
    }
    let view = View {
        desk: Arc::clone(desk),
        words,
        form_token: session.form_token(&desk.state.get().await?.secret),
        address: Address::of(uri),
        zone: zone_of(headers),
    };
    let done = view.address.get("done").and_then(Outcome::parse);
    let done = done.map(|outcome| Notice::Good(outcome.message(words).to_owned()));
    let inbox = Inbox::read(desk).await?;
    let waiting = i64::try_from(inbox.pending().len()).ok();
    let pages = navigation(desk, words, uri.path(), waiting);
    let sections = inbox.sections(&view);
    let sections = markup! {
        @if let Some(done) = &done { (notice(done)) }
        (sections)
    };
    let page = page::plain_inbox(words, pages, &view.form_token, sections);
    Ok(html(StatusCode::OK, page))
}
