//! The language of the console's pages.

use axum::http::HeaderMap;
use kit::context::Language;

use super::session;
use crate::wire::language;

pub const LANGUAGE_COOKIE: &str = "madoguchi_language";

/// The language that was chosen, else the browser's.
pub fn language_of(headers: &HeaderMap) -> Language {
    match session::cookies(headers, LANGUAGE_COOKIE).next() {
        Some("ja") => Language::Japanese,
        Some("en") => Language::English,
        _ => language::of_headers(headers).unwrap_or(Language::English),
    }
}
