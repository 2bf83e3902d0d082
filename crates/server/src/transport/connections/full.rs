//! The answer when there is no room for a connection.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::Response,
};

use crate::transport::answer;

/// Why there is no room for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    Desk,
    /// Its own address has too many.
    Address,
    /// Its own key has too many.
    Key,
}

impl Full {
    pub fn answer(self) -> Response {
        let (status, text) = match self {
            Self::Desk => (
                StatusCode::SERVICE_UNAVAILABLE,
                "Too many connections are open. Try again in a moment.",
            ),
            Self::Address => (
                StatusCode::TOO_MANY_REQUESTS,
                "Too many connections from your address are open. Close some of them.",
            ),
            Self::Key => (
                StatusCode::TOO_MANY_REQUESTS,
                "Too many connections with your key are open. Close some of them.",
            ),
        };
        let mut response = answer::refuse(status, text);
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        response
    }
}
