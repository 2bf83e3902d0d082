//! One message over Streamable HTTP, of any protocol revision, for one counter.

use std::{collections::HashMap, sync::Arc};

use axum::{
    body::Body,
    extract::Request,
    http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts},
    response::Response,
};
use bytes::Bytes;
use desk::{
    Desk, ServedCounter,
    methods::SUBSCRIPTIONS_LISTEN,
    pipeline::{Admitted, Refusal},
    stations::identify::{Credentials, Identified},
};
use futures::StreamExt;
use http_body_util::Full;

use super::{answer, guard::Guard, json_only};
use crate::address_limits::Visit;
use crate::wire::{
    STATELESS,
    accept_header::AcceptedTypes,
    definitions::PublishedCounter,
    direct::{self, DirectRequest},
    errors::Fault,
    headers::{PROTOCOL_VERSION, SESSION_ID},
    http_service::{HttpService, Mode},
    inbound::{self, Envelope},
    sessions::{SessionBook, SessionOwner},
    subscriptions, trace,
};

/// One counter over Streamable HTTP, on whichever listeners.
pub struct Endpoint {
    pub desk: Arc<Desk>,
    pub published: Arc<PublishedCounter>,
    service: HttpService,
}

/// One for each counter, by name; shared by all listeners.
pub type Endpoints = HashMap<&'static str, Arc<Endpoint>>;

/// `publish` is [`PublishedCounter::new`], except in tests.
pub fn endpoints(
    desk: &Arc<Desk>,
    publish: fn(&Arc<ServedCounter>) -> Arc<PublishedCounter>,
) -> Endpoints {
    let sessions = SessionBook::new(&desk.settings.http);
    let endpoint = |served| {
        let published = publish(served);
        Arc::new(Endpoint {
            desk: Arc::clone(desk),
            service: HttpService::new(desk, &published, &sessions),
            published,
        })
    };
    desk.counters
        .iter()
        .map(|served| (served.counter.about.name, endpoint(served)))
        .collect()
}

impl Endpoint {
    /// One message: on the direct path if it fits, else through the protocol crate.
    pub async fn message(&self, guard: &Guard, parts: Parts, body: &Bytes) -> Response {
        let credentials = guard.credentials(&parts.headers);
        if self.published.direct_path
            && direct::headers_fit(&parts.headers)
            && !inbound::too_complex(body)
            && let Some(plain) = DirectRequest::read(&self.published, &parts.headers, body)
        {
            let admitted = self
                .desk
                .admit(&self.published, &credentials, plain.method());
            return match admitted.await {
                Ok(admitted) => {
                    let admitted = arrived(admitted, &parts);
                    let (desk, published) = (&self.desk, &self.published);
                    let (status, text) =
                        plain.serve(desk, published, admitted, &parts.headers).await;
                    answer::json(status, text)
                }
                Err(refusal) => answer::refusal(plain.id().as_ref(), &refusal),
            };
        }
        // Boxed: it is many times as large, and plain calls would carry it along.
        Box::pin(self.through_the_protocol_crate(&credentials, parts, body)).await
    }

    async fn through_the_protocol_crate(
        &self,
        credentials: &Credentials,
        mut parts: Parts,
        body: &Bytes,
    ) -> Response {
        let envelope = match inbound::envelope(body) {
            Ok(envelope) => envelope,
            Err((id, fault)) => {
                return answer::fault(StatusCode::BAD_REQUEST, id.as_ref(), &fault);
            }
        };
        let completed = completed_handshake(&envelope, body);
        if completed.is_some() {
            // It says how long the body was that the client sent.
            parts.headers.remove(header::CONTENT_LENGTH);
        }
        let body = completed.as_ref().unwrap_or(body);
        let name = self.published.counter.about.name;
        let who = if envelope.is_request() {
            let method = envelope.method.as_deref().unwrap_or_default();
            match self.desk.admit(&self.published, credentials, method).await {
                Ok(admitted) => {
                    let admitted = arrived(admitted, &parts);
                    if let Some(refused) = self.refuse_listen(&envelope, &admitted, body).await {
                        return refused;
                    }
                    let who = admitted.who.clone();
                    parts.extensions.insert(admitted);
                    who
                }
                Err(refusal @ Refusal::UnknownMethod(_)) if is_stateless(&parts.headers) => {
                    let fault = Fault::from(&refusal);
                    return answer::fault(StatusCode::NOT_FOUND, envelope.id().as_ref(), &fault);
                }
                Err(refusal) => return answer::refusal(envelope.id().as_ref(), &refusal),
            }
        } else {
            match self.desk.keyring.identify(credentials, name).await {
                Ok(who) => who,
                Err(why) => return answer::refusal(None, &Refusal::of(&why, name)),
            }
        };
        let reads = AcceptedTypes::of(&parts.headers);
        // A stream that never ends has no one message to give instead.
        let listens = envelope.method.as_deref() == Some(SUBSCRIPTIONS_LISTEN.name);
        if reads.stream() || (reads == AcceptedTypes::JsonOnly && !listens) {
            json_only::name_both(&mut parts.headers);
        }
        let has_session = parts.headers.contains_key(&SESSION_ID);
        let mode = if has_session || asks_for_session(&envelope, reads, body) {
            Mode::Session
        } else {
            Mode::Stateless
        };
        let is_json = json_only::is_json(&parts.headers);
        let owner = owner(&who, &parts.extensions);
        let request = http::Request::from_parts(parts, Full::new(body.clone()));
        let response = self.service.handle(owner, mode, request).await;
        let response = response.map(Body::new);
        if is_json && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            // JSON it was: the protocol crate found no message in it.
            let (id, fault) = inbound::no_message(&envelope);
            return answer::fault(StatusCode::BAD_REQUEST, id.as_ref(), &fault);
        }
        if response.status().is_client_error() {
            return answer::revised(response, &self.published).await;
        }
        if reads.json_first() && !listens {
            return json_only::as_json(response).await;
        }
        while_valid(response, &who)
    }

    /// A subscription that its caller may not have.
    async fn refuse_listen(
        &self,
        envelope: &Envelope<'_>,
        admitted: &Admitted,
        body: &[u8],
    ) -> Option<Response> {
        if envelope.method.as_deref() != Some(SUBSCRIPTIONS_LISTEN.name) {
            return None;
        }
        let filter = inbound::listen_filter(body)?;
        let admitted =
            subscriptions::admit_listen(&self.desk, &self.published, admitted, &filter).await;
        let fault = Fault::from(admitted.err()?);
        let status = if fault.code == 403 {
            StatusCode::FORBIDDEN
        } else {
            StatusCode::BAD_REQUEST
        };
        Some(answer::fault(status, envelope.id().as_ref(), &fault))
    }

    /// GET and DELETE belong to sessions of the handshake era.
    pub async fn not_a_call(&self, guard: &Guard, request: Request) -> Response {
        let credentials = guard.credentials(request.headers());
        let name = self.published.counter.about.name;
        let who = match self.desk.keyring.identify(&credentials, name).await {
            Ok(who) => who,
            Err(why) => return answer::refusal(None, &Refusal::of(&why, name)),
        };
        let owner = owner(&who, request.extensions());
        if request.method() == Method::DELETE {
            return self.end_session(owner, request).await;
        }
        let response = self.service.handle(owner, Mode::Session, request).await;
        while_valid(response.map(Body::new), &who)
    }

    async fn end_session(&self, owner: SessionOwner, request: Request) -> Response {
        let session = request.headers().get(&SESSION_ID);
        if let Some(Ok(id)) = session.map(HeaderValue::to_str)
            && !self.service.has_session(&owner, id).await
        {
            // The words of the protocol crate, which does not ask here itself.
            return Response::builder()
                .status(StatusCode::NOT_FOUND)
                .body("Not Found: Session not found".into())
                .unwrap_or_default();
        }
        let response = self.service.handle(owner, Mode::Session, request).await;
        let mut response = response.map(Body::new);
        if response.status() == StatusCode::ACCEPTED {
            // It is done, and some clients take 202 for a failure.
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        response
    }
}

/// Adds what the request says about where it comes from.
pub fn arrived(mut admitted: Admitted, parts: &Parts) -> Admitted {
    let visit = parts.extensions.get::<Arc<Visit>>();
    admitted.address = visit.map(|visit| visit.address);
    admitted.with_parent(|| trace::of_headers(&parts.headers))
}

/// A stream ends when the key it was opened with does.
fn while_valid(response: Response, who: &Identified) -> Response {
    if who.key.is_none() {
        return response;
    }
    let revoked = who.revoked().cancelled_owned();
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(revoked)))
}

fn is_stateless(headers: &HeaderMap) -> bool {
    names_revision(headers, STATELESS)
}

fn names_revision(headers: &HeaderMap, revision: &str) -> bool {
    headers
        .get(&PROTOCOL_VERSION)
        .is_some_and(|version| version == revision)
}

fn owner(who: &Identified, extensions: &Extensions) -> SessionOwner {
    let visit = extensions.get::<Arc<Visit>>();
    SessionOwner::new(who, visit.map(|visit| visit.address))
}

fn completed_handshake(envelope: &Envelope<'_>, body: &[u8]) -> Option<Bytes> {
    let is_handshake = envelope.method.as_deref() == Some("initialize");
    let completed = is_handshake.then(|| inbound::completed_handshake(body))??;
    Some(completed.into())
}

/// A session's answers are streams, so it is for those who asked for them.
fn asks_for_session(envelope: &Envelope<'_>, reads: AcceptedTypes, body: &[u8]) -> bool {
    envelope.method.as_deref() == Some("initialize")
        && reads == AcceptedTypes::Both
        && inbound::is_handshake(body)
}
