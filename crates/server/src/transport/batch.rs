//! Several messages in one body: revision 2025-03-26 had that, and no other.
//! Each is treated as if it had come alone.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts},
    response::Response,
};
use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::value::RawValue;

use super::{
    answer::{self, refuse},
    endpoint::Endpoint,
    guard::Guard,
};
use crate::wire::accept_header::AcceptedTypes;
use crate::wire::{
    errors::{Fault, error_message},
    headers::PROTOCOL_VERSION,
    inbound,
};

/// Messages in one body.
const MOST: usize = 100;

/// Once the answers are this long, no further message is processed.
const MOST_ANSWERED: usize = 512 * 1024;

/// Whether a body is a batch of a revision that has batches. Clients of that
/// revision send no version header; clients of later ones must.
pub fn is_one(headers: &HeaderMap, body: &[u8]) -> bool {
    let revision = headers.get(&PROTOCOL_VERSION);
    revision.is_none_or(|revision| revision == "2025-03-26")
        && body.trim_ascii_start().first() == Some(&b'[')
        && !inbound::too_complex(body)
}

pub async fn answer(endpoint: &Endpoint, guard: &Guard, parts: &Parts, body: &Bytes) -> Response {
    if AcceptedTypes::of(&parts.headers) == AcceptedTypes::Neither {
        return refuse(StatusCode::NOT_ACCEPTABLE, "Accept application/json.");
    }
    let messages: Vec<&RawValue> = match serde_json::from_slice(body) {
        Ok(messages) => messages,
        Err(error) => return refused(-32700, format!("Parse error: {error}.")),
    };
    if messages.is_empty() || messages.len() > MOST {
        let text = format!("Invalid Request: a batch holds 1 to {MOST} messages.");
        return refused(-32600, text);
    }
    let mut all: Vec<String> = Vec::new();
    let mut length = 0;
    for message in messages {
        if length > MOST_ANSWERED {
            all.extend(not_processed(message.get()));
            continue;
        }
        let response = one(endpoint, guard, parts, message).await;
        // The key, the session or a header is wrong, for all messages alike.
        if response.status() == StatusCode::UNAUTHORIZED || !is_json_or_empty(&response) {
            return response;
        }
        let body = response.into_body().collect().await.unwrap_or_default();
        let body = body.to_bytes();
        if !body.is_empty() {
            length += body.len();
            all.push(String::from_utf8_lossy(&body).into_owned());
        }
    }
    if all.is_empty() {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::ACCEPTED;
        return response;
    }
    answer::json(200, format!("[{}]", all.join(",")))
}

async fn one(endpoint: &Endpoint, guard: &Guard, parts: &Parts, message: &RawValue) -> Response {
    let alone = Bytes::copy_from_slice(message.get().as_bytes());
    if inbound::envelope(&alone).is_ok_and(|e| e.method.as_deref() == Some("initialize")) {
        let text = "Invalid Request: initialize comes alone.".to_owned();
        return refused(-32600, text);
    }
    let mut parts = parts.clone();
    let json = HeaderValue::from_static("application/json");
    parts.headers.insert(header::ACCEPT, json);
    endpoint.message(guard, parts, &alone).await
}

/// The answer to a request for which there was no room.
fn not_processed(message: &str) -> Option<String> {
    let envelope = inbound::envelope(message.as_bytes()).ok()?;
    if !envelope.is_request() {
        return None;
    }
    let fault = Fault {
        code: -32000,
        message: "The answers to the messages before this one fill the batch. Nothing was done; send it again in another batch.".into(),
        data: None,
    };
    Some(error_message(envelope.id().as_ref(), &fault).to_string())
}

fn is_json_or_empty(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    response.status() == StatusCode::ACCEPTED
        || kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"))
}

fn refused(code: i32, message: String) -> Response {
    let fault = Fault {
        code,
        message,
        data: None,
    };
    answer::fault(StatusCode::BAD_REQUEST, None, &fault)
}
