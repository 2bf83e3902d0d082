//! Event streams for clients that read JSON alone: the one message that answers
//! the request. What clients can read is in `wire/accept_header.rs`.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use http_body_util::BodyExt;
use serde_json::Value;

use super::answer;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Whether a request says that its body is JSON.
pub fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case(JSON)
}

/// Names both kinds, for the protocol crate.
pub fn name_both(headers: &mut HeaderMap) {
    let both = HeaderValue::from_static("application/json, text/event-stream");
    headers.insert(header::ACCEPT, both);
}

/// The one message of a stream that answers the request, as JSON. What came
/// before it, progress and the like, is left out.
pub async fn as_json(response: Response) -> Response {
    let is_stream = response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.starts_with(EVENTS));
    if !is_stream {
        return response;
    }
    let (mut parts, mut body) = response.into_parts();
    let mut unread = Vec::new();
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(data) = frame.into_data() else {
            continue;
        };
        unread.extend_from_slice(&data);
        while let Some(end) = unread.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = unread.drain(..=end).collect();
            if let Some(message) = answering(&line) {
                parts.headers.remove(header::CACHE_CONTROL);
                parts
                    .headers
                    .insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
                return Response::from_parts(parts, Body::from(message));
            }
        }
    }
    answer::refuse(
        StatusCode::SERVICE_UNAVAILABLE,
        "The desk is stopping. Try again.",
    )
}

/// The message on a line of an event stream, when it is a response.
fn answering(line: &[u8]) -> Option<String> {
    let data = line.strip_prefix(b"data:")?.trim_ascii();
    let message: Value = serde_json::from_slice(data).ok()?;
    let is_response = message.get("result").is_some() || message.get("error").is_some();
    is_response.then(|| String::from_utf8_lossy(data).into_owned())
}
