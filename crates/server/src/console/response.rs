//! Answers that are pages.

use axum::{
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use maud::Markup;

use super::{language::language_of, page, words::Words};

pub fn html(status: StatusCode, page: Markup) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    (status, kind, page.into_string()).into_response()
}

/// An internal error, as a page. The log says more.
pub fn trouble(headers: &HeaderMap, error: &kit::Error) -> Response {
    tracing::warn!(%error, cause = ?error.cause, "the console could not answer");
    let words = Words::of(language_of(headers));
    let page = page::message(words, words.trouble);
    html(StatusCode::SERVICE_UNAVAILABLE, page)
}

/// Whether the client names a media type among those that it accepts.
pub fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|range| range.split(';').next())
        .any(|given| given.trim().eq_ignore_ascii_case(kind))
}
