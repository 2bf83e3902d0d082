//! In which language to answer.

use http::{HeaderMap, header::ACCEPT_LANGUAGE};
use kit::context::Language;

/// By the first language of `Accept-Language`.
pub fn of_headers(headers: &HeaderMap) -> Language {
    let first = headers
        .get(ACCEPT_LANGUAGE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    of_tag(first)
}

/// By the locale of the user who started the process.
pub fn of_environment() -> Language {
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    of_tag(&locale.unwrap_or_default())
}

fn of_tag(tag: &str) -> Language {
    if tag.trim_start().to_ascii_lowercase().starts_with("ja") {
        Language::Japanese
    } else {
        Language::English
    }
}
