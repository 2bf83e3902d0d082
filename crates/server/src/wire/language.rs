//! The language that an HTTP client asks for.

use http::{HeaderMap, header::ACCEPT_LANGUAGE};
use kit::context::Language;

/// By `Accept-Language` and its weights; `None` when any will do.
pub fn of_headers(headers: &HeaderMap) -> Option<Language> {
    let value = headers.get(ACCEPT_LANGUAGE)?;
    desk::language::of_accepted(value.to_str().ok()?)
}
