//! Why an address can't be used. No message repeats it: it may hold a password.

use kit::{Error, text::nearest};

/// The code of an address that can't be used.
pub(super) const INVALID: &str = "INVALID_DATABASE_URL";

pub(super) fn invalid(message: impl Into<String>, next: impl Into<String>) -> Error {
    Error::new(INVALID, message).next(next)
}

pub(super) fn not_understood() -> Error {
    invalid(
        "The PostgreSQL address can't be understood.",
        "Write `postgresql://user:password@host:5432/name`, with `%40` for `@`, `%2F` for `/` \
         and `%3F` for `?` in the password.",
    )
}

pub(super) fn unknown_scheme() -> Error {
    invalid(
        "The database address names neither SQLite nor PostgreSQL.",
        "Write `sqlite:////absolute/path.db` or `postgresql://user:password@host:5432/name`.",
    )
}

/// A password with a bare `?` ends up here too, so only what looks like the
/// name of a setting is repeated.
pub(super) fn unknown_parameter(key: &str, known: &[&str]) -> Error {
    let is_name = key.len() <= 40 && key.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    if !is_name {
        return invalid(
            "The database address has an unknown parameter.",
            "Remove it; a `?` in a password is written `%3F`.",
        );
    }
    let message = format!("The database address has the unknown parameter `{key}`.");
    match nearest(key, known.iter().copied()) {
        Some(near) => invalid(message, format!("Did you mean `{near}`?")),
        None => invalid(message, "Remove it; a `?` in a password is written `%3F`."),
    }
}

/// The value of `key` is none of `allowed`, which is a list in words.
pub(super) fn wrong_value(key: &str, allowed: &str) -> Error {
    invalid(
        format!("The database address has a wrong value for `{key}`."),
        format!("Use {allowed}."),
    )
}
