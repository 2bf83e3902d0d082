//! Streamable HTTP: every protocol revision of a counter on one path.

use std::sync::Arc;

use axum::{
    extract::Request,
    http::{Method, StatusCode},
    response::{IntoResponse, Response},
};
use desk::pipeline::Refusal;

use super::{
    answer, batch,
    body::{Unread, read_body},
    connections::OpenConnection,
    endpoint::Endpoint,
    guard::Guard,
};
use crate::wire::headers::PROTOCOL_VERSION;

/// This revision used HTTP in another way, which is not supported.
const OLDEST: &str = "2024-11-05";

pub async fn handle(endpoint: &Endpoint, guard: &Guard, request: Request) -> Response {
    let name = endpoint.published.counter.about.name;
    let settled = guard.settle(name, request.headers(), request.extensions());
    let sender = match settled.await {
        Ok(sender) => sender,
        Err(full) => {
            answer::drain(request.into_body()).await;
            return full;
        }
    };
    let revision = request.headers().get(&PROTOCOL_VERSION);
    if revision.is_some_and(|revision| revision == OLDEST) {
        return answer::refuse(
            StatusCode::BAD_REQUEST,
            "Revision 2024-11-05 is not spoken over HTTP. Use 2025-03-26 or a newer one.",
        );
    }
    if request.method() != Method::POST {
        // Boxed, here and below: most requests are plain calls, and theirs is small.
        return Box::pin(endpoint.not_a_call(guard, request)).await;
    }
    let (parts, body) = request.into_parts();
    let open = parts.extensions.get::<Arc<OpenConnection>>();
    // Held until the request is answered: what is made of a body is larger still.
    let (body, _permit) = match read_body(&endpoint.desk, body, sender, open).await {
        Ok(read) => read,
        Err(Unread::FromStranger(why)) => {
            let name = endpoint.published.counter.about.name;
            return answer::refusal(None, &Refusal::of(&why, name));
        }
        Err(unread) => return unread.into_response(),
    };
    if batch::is_one(&parts.headers, &body) {
        return Box::pin(batch::answer(endpoint, guard, &parts, &body)).await;
    }
    endpoint.message(guard, parts, &body).await
}
