//! Answers over HTTP that are not a tool's.

use std::time::Duration;

use axum::{
    body::{Body, HttpBody},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use desk::pipeline::Refusal;
use http_body_util::BodyExt;
use serde_json::Value;

use crate::{
    address_limits::OverLimit,
    wire::{
        definitions::PublishedCounter,
        errors::{Fault, error_message, explain_value, quoted, shorten_texts},
    },
};

/// For people and probes: one line of text.
pub fn refuse(status: StatusCode, text: &'static str) -> Response {
    (status, format!("{text}\n")).into_response()
}

/// How much of an unwanted body is read, and for how long: a client that is still
/// sending would not read the answer.
const UNWANTED: usize = 64 * 1024;
const UNWANTED_TIME: Duration = Duration::from_secs(5);

/// Lets a client finish sending before it is refused.
pub async fn drain<B>(mut body: B)
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    let drained = async {
        let mut length = 0;
        while let Some(Ok(frame)) = body.frame().await {
            length += frame.data_ref().map_or(0, Bytes::len);
            if length > UNWANTED {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(UNWANTED_TIME, drained).await;
}

pub fn json(status: u16, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    response
}

/// A JSON-RPC error.
pub fn fault(status: StatusCode, id: Option<&Value>, fault: &Fault) -> Response {
    json(status.as_u16(), error_message(id, fault).to_string())
}

/// A refusal as a JSON-RPC error.
pub fn refusal(id: Option<&Value>, refusal: &Refusal) -> Response {
    let text = error_message(id, &Fault::from(refusal)).to_string();
    let status = match refusal {
        // A JSON-RPC error is enough.
        Refusal::UnknownTool { .. } | Refusal::UnknownMethod(_) => StatusCode::OK,
        _ => status(refusal),
    };
    with_headers(refusal, json(status.as_u16(), text))
}

/// For an address over its limit. Nothing of the request was read, so the answer
/// has no id.
pub fn over_limit(over: OverLimit) -> Response {
    let response = fault(StatusCode::TOO_MANY_REQUESTS, None, &Fault::from(over));
    let retry_after_ms = over.retry_after_ms();
    with_headers(&Refusal::RateLimited { retry_after_ms }, response)
}

/// The HTTP status of a refusal.
pub fn status(refusal: &Refusal) -> StatusCode {
    match refusal {
        Refusal::InvalidKey => StatusCode::UNAUTHORIZED,
        Refusal::OutOfScope { .. } => StatusCode::FORBIDDEN,
        Refusal::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
        Refusal::Unavailable { .. } => StatusCode::SERVICE_UNAVAILABLE,
        Refusal::UnknownTool { .. } | Refusal::UnknownMethod(_) => StatusCode::NOT_FOUND,
    }
}

/// Adds what HTTP wants to know besides the status.
pub fn with_headers(refusal: &Refusal, mut response: Response) -> Response {
    let headers = response.headers_mut();
    match refusal {
        Refusal::InvalidKey => {
            let realm = HeaderValue::from_static("Bearer realm=\"madoguchi\"");
            headers.insert(header::WWW_AUTHENTICATE, realm);
        }
        Refusal::OutOfScope { .. } => {
            let scope = "Bearer realm=\"madoguchi\", error=\"insufficient_scope\"";
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(scope));
        }
        Refusal::RateLimited { retry_after_ms } | Refusal::Unavailable { retry_after_ms } => {
            let seconds = HeaderValue::from(retry_after_ms.div_ceil(1000));
            headers.insert(header::RETRY_AFTER, seconds);
        }
        Refusal::UnknownTool { .. } | Refusal::UnknownMethod(_) => {}
    }
    response
}

/// Revises an error of the protocol crate: shortens what it quotes, and explains
/// a method of another revision.
pub async fn revised(response: Response, published: &PublishedCounter) -> Response {
    const LONG: u64 = 1000;
    let length = response.body().size_hint().exact();
    let is_short = length.is_none_or(|length| length <= LONG);
    if is_short && response.status() != StatusCode::NOT_FOUND {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let body = body.collect().await.unwrap_or_default().to_bytes();
    let text = match serde_json::from_slice::<Value>(&body) {
        Ok(mut message) => {
            shorten_texts(&mut message);
            if let Some(error) = message.get_mut("error") {
                explain_value(error, published);
            }
            message.to_string()
        }
        Err(_) => quoted(&String::from_utf8_lossy(&body)).into_owned(),
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(text))
}
