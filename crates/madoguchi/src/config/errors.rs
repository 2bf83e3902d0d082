//! What is wrong with a configuration.

use kit::Error;
use serde_json::json;

pub fn unknown<'a>(full: &str, key: &str, names: impl Iterator<Item = &'a str> + Clone) -> Error {
    let hint = match kit::text::nearest(key, names.clone()) {
        Some(nearest) => format!("Did you mean `{nearest}`?"),
        None => format!("There are: {}.", names.collect::<Vec<_>>().join(", ")),
    };
    invalid(format!("There is no key `{full}`."))
        .next(format!("{hint} All keys: madoguchi config default"))
}

pub fn invalid(message: String) -> Error {
    Error::new("INVALID_CONFIG", message)
        .next("Correct it, and check it: madoguchi config check")
        .details(json!({}))
}

/// Whether a key may hold a secret, perhaps as part of an address. Errors end up
/// in logs, so they do not repeat its value.
pub fn holds_secret(key: &str) -> bool {
    [
        "identity", "key", "password", "secret", "sha256", "token", "url",
    ]
    .iter()
    .any(|part| key.contains(part))
}
