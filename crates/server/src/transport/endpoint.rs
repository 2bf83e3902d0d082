//! Streamable HTTP for one counter: every protocol revision on one path.

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::{
    body::{Body, HttpBody},
    extract::Request,
    http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use bytes::{Bytes, BytesMut};
use desk::{
    Desk, Window,
    methods::SUBSCRIPTIONS_LISTEN,
    pipeline::{Admitted, Refusal},
    stations::identify::{Credentials, Identified},
};
use futures::StreamExt;
use http_body_util::{BodyExt, Full};
use rmcp::transport::{
    StreamableHttpServerConfig, StreamableHttpService,
    streamable_http_server::session::SessionManager,
};

use super::{
    accept, answer, batch,
    connections::OpenConnection,
    guard::{Guard, Sender},
    sessions::{Book, OWNER, Owner, Sessions},
    unfinished::Leave,
};
use crate::wire::{
    STATELESS,
    definitions::PublishedCounter,
    direct::{self, Plain},
    handler::Handler,
    inbound::{self, Envelope},
    outbound::Fault,
    reads::Reads,
    subscriptions,
};

/// As much is read of a request without a valid key where one is needed: enough
/// for the answer to name the request, and too little to fill the memory.
pub const MOST_OF_STRANGERS: usize = 64 * 1024;

type Service = StreamableHttpService<Handler, Sessions>;

/// The protocol crate's service, twice: clients of the handshake era that ask
/// for a session get one, those that send no session id are served without.
pub struct Endpoint {
    pub desk: Arc<Desk>,
    pub window: Arc<PublishedCounter>,
    with_session: Service,
    without_session: Service,
    sessions: Arc<Sessions>,
}

/// One for each counter, by name; shared by all listeners.
pub type Endpoints = HashMap<&'static str, Arc<Endpoint>>;

/// `publish` is [`PublishedCounter::new`], except in tests.
pub fn endpoints(
    desk: &Arc<Desk>,
    publish: fn(&Arc<Window>) -> Arc<PublishedCounter>,
) -> Endpoints {
    let book = Book::new(&desk.settings.http);
    let endpoint = |window| Arc::new(Endpoint::new(desk, &publish(window), &book));
    desk.windows
        .iter()
        .map(|window| (window.counter.about.name, endpoint(window)))
        .collect()
}

impl Endpoint {
    fn new(desk: &Arc<Desk>, window: &Arc<PublishedCounter>, book: &Arc<Book>) -> Self {
        let http = &desk.settings.http;
        let sessions = Arc::new(Sessions::new(http, book));
        // Host, Origin and size are checked before a request gets here.
        let config = || {
            StreamableHttpServerConfig::default()
                .disable_allowed_hosts()
                .disable_allowed_origins()
                .with_max_request_body_bytes(http.max_body_bytes)
                .with_cancellation_token(desk.ending.child_token())
        };
        let service = |config| {
            let (desk, window) = (Arc::clone(desk), Arc::clone(window));
            StreamableHttpService::new(
                move || Ok(Handler::over_http(Arc::clone(&desk), Arc::clone(&window))),
                Arc::clone(&sessions),
                config,
            )
        };
        Self {
            desk: Arc::clone(desk),
            window: Arc::clone(window),
            with_session: service(config()),
            without_session: service(
                config()
                    .with_legacy_session_mode(false)
                    .with_json_response(true),
            ),
            sessions,
        }
    }

    pub async fn handle(&self, guard: &Guard, request: Request) -> Response {
        let name = self.window.counter.about.name;
        let settled = guard.settle(name, request.headers(), request.extensions());
        let sender = match settled.await {
            Ok(sender) => sender,
            Err(full) => {
                answer::hear_out(request.into_body()).await;
                return full;
            }
        };
        if is_of_the_oldest(request.headers()) {
            return answer::refuse(
                StatusCode::BAD_REQUEST,
                "Revision 2024-11-05 is not spoken over HTTP. Use 2025-03-26 or a newer one.",
            );
        }
        if request.method() != Method::POST {
            return self.not_a_call(guard, request).await;
        }
        let (parts, body) = request.into_parts();
        let open = parts.extensions.get::<Arc<OpenConnection>>();
        // Held until the request is answered: what is made of a body is larger still.
        let (body, _leave) = match read_body(&self.desk, body, sender, open).await {
            Ok(read) => read,
            Err(Unread::FromStranger) => return answer::refusal(None, &Refusal::InvalidKey),
            Err(unread) => return unread.into_response(),
        };
        if batch::is_one(&parts.headers, &body) {
            return batch::answer(self, guard, &parts, &body).await;
        }
        self.message(guard, parts, &body).await
    }

    /// One message: the short way where it leads, else the long one.
    pub async fn message(&self, guard: &Guard, parts: Parts, body: &Bytes) -> Response {
        let credentials = guard.credentials(&parts.headers);
        if self.window.direct_path
            && direct::headers_fit(&parts.headers)
            && !inbound::too_complex(body)
            && let Some(plain) = Plain::read(&self.window, &parts.headers, body)
        {
            let admitted = self.desk.admit(&self.window, &credentials, plain.method());
            return match admitted.await {
                Ok(admitted) => {
                    let (desk, window) = (&self.desk, &self.window);
                    let (status, text) = plain.serve(desk, window, admitted, &parts.headers).await;
                    answer::json(status, text)
                }
                Err(refusal) => answer::refusal(plain.id().as_ref(), &refusal),
            };
        }
        self.through_the_protocol_crate(&credentials, parts, body)
            .await
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
        let name = self.window.counter.about.name;
        let who = if envelope.is_request() {
            let method = envelope.method.as_deref().unwrap_or_default();
            match self.desk.admit(&self.window, credentials, method).await {
                Ok(admitted) => {
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
                Some(who) => who,
                None => return answer::refusal(None, &Refusal::InvalidKey),
            }
        };
        let reads = Reads::of(&parts.headers);
        // A stream that never ends has no one message to give instead.
        let listens = envelope.method.as_deref() == Some(SUBSCRIPTIONS_LISTEN.name);
        if reads.stream() || (reads == Reads::JsonOnly && !listens) {
            accept::name_both(&mut parts.headers);
        }
        let has_session = parts.headers.contains_key("mcp-session-id");
        let service = if has_session || asks_for_session(&envelope, reads, body) {
            &self.with_session
        } else {
            &self.without_session
        };
        let is_json = accept::is_json(&parts.headers);
        let owner = owner(&who, &parts.extensions);
        let request = http::Request::from_parts(parts, Full::new(body.clone()));
        let response = OWNER.scope(owner, service.handle(request)).await;
        let response = response.map(Body::new);
        if is_json && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            // JSON it was: the protocol crate found no message in it.
            let (id, fault) = inbound::no_message(&envelope);
            return answer::fault(StatusCode::BAD_REQUEST, id.as_ref(), &fault);
        }
        if response.status().is_client_error() {
            return answer::revised(response, &self.window).await;
        }
        if reads.json_first() && !listens {
            return accept::as_json(response).await;
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
            subscriptions::admit_listen(&self.desk, &self.window, admitted, &filter).await;
        let fault = Fault::from(admitted.err()?);
        let status = if fault.code == 403 {
            StatusCode::FORBIDDEN
        } else {
            StatusCode::BAD_REQUEST
        };
        Some(answer::fault(status, envelope.id().as_ref(), &fault))
    }

    /// GET and DELETE belong to sessions of the handshake era.
    async fn not_a_call(&self, guard: &Guard, request: Request) -> Response {
        let credentials = guard.credentials(request.headers());
        let name = self.window.counter.about.name;
        let Some(who) = self.desk.keyring.identify(&credentials, name).await else {
            return answer::refusal(None, &Refusal::InvalidKey);
        };
        let owner = owner(&who, request.extensions());
        if request.method() == Method::DELETE {
            return OWNER.scope(owner, self.end_session(request)).await;
        }
        let response = OWNER.scope(owner, self.with_session.handle(request)).await;
        while_valid(response.map(Body::new), &who)
    }

    async fn end_session(&self, request: Request) -> Response {
        let session = request.headers().get("mcp-session-id");
        if let Some(Ok(id)) = session.map(HeaderValue::to_str)
            && !matches!(self.sessions.has_session(&id.into()).await, Ok(true))
        {
            // The words of the protocol crate, which does not ask here itself.
            return Response::builder()
                .status(StatusCode::NOT_FOUND)
                .body("Not Found: Session not found".into())
                .unwrap_or_default();
        }
        let mut response = self.with_session.handle(request).await.map(Body::new);
        if response.status() == StatusCode::ACCEPTED {
            // It is done, and some clients take 202 for a failure.
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        response
    }
}

/// A stream ends when the key it was opened with does.
fn while_valid(response: Response, who: &Identified) -> Response {
    if who.key.is_none() {
        return response;
    }
    let revoked = who.revoked().cancelled_owned();
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(revoked)))
}

fn is_of_the_oldest(headers: &HeaderMap) -> bool {
    names_revision(headers, "2024-11-05")
}

fn is_stateless(headers: &HeaderMap) -> bool {
    names_revision(headers, STATELESS)
}

fn names_revision(headers: &HeaderMap, revision: &str) -> bool {
    headers
        .get("mcp-protocol-version")
        .is_some_and(|version| version == revision)
}

fn owner(who: &Identified, extensions: &Extensions) -> Owner {
    let connection = extensions.get::<Arc<OpenConnection>>();
    Owner::new(who, connection.map(|connection| connection.peer))
}

fn completed_handshake(envelope: &Envelope<'_>, body: &[u8]) -> Option<Bytes> {
    let is_handshake = envelope.method.as_deref() == Some("initialize");
    let completed = is_handshake.then(|| inbound::completed_handshake(body))??;
    Some(completed.into())
}

/// A session's answers are streams, so it is for those who asked for them.
fn asks_for_session(envelope: &Envelope<'_>, reads: Reads, body: &[u8]) -> bool {
    envelope.method.as_deref() == Some("initialize")
        && reads == Reads::Both
        && inbound::is_handshake(body)
}

/// The body, within its limits. A large one comes with leave to hold it.
pub async fn read_body(
    desk: &Desk,
    mut body: Body,
    sender: Sender,
    open: Option<&Arc<OpenConnection>>,
) -> Result<(Bytes, Option<Leave>), Unread> {
    let http = &desk.settings.http;
    let most = match sender {
        Sender::Known => http.max_body_bytes,
        Sender::Stranger => http.max_body_bytes.min(MOST_OF_STRANGERS),
    };
    let within = Duration::from_secs(http.body_timeout_seconds);
    let read = tokio::time::timeout(within, collect(&mut body, most, open)).await;
    match read {
        Ok(Err(Unread::TooLarge)) => {
            answer::hear_out(body).await;
            Err(match sender {
                Sender::Known => Unread::TooLarge,
                Sender::Stranger => Unread::FromStranger,
            })
        }
        Ok(Ok(read)) => {
            let leave = open.and_then(|open| open.unfinished.end(http.max_head_bytes));
            Ok((read, leave))
        }
        Ok(Err(unread)) => Err(unread),
        Err(_) => Err(Unread::Late),
    }
}

async fn collect(
    body: &mut Body,
    most: usize,
    open: Option<&Arc<OpenConnection>>,
) -> Result<Bytes, Unread> {
    let announced = body.size_hint().exact();
    let announced = announced.map_or(most, |size| usize::try_from(size).unwrap_or(usize::MAX));
    if announced > most {
        return Err(Unread::TooLarge);
    }
    if let Some(open) = open {
        drop(open.unfinished.end(announced));
    }
    let mut read = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Unread::BrokenOff)?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if read.len() + data.len() > most {
            return Err(Unread::TooLarge);
        }
        read.extend_from_slice(&data);
    }
    Ok(read.freeze())
}

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    TooLarge,
    /// More than is read of somebody who has shown no valid key.
    FromStranger,
    BrokenOff,
    Late,
}

impl IntoResponse for Unread {
    fn into_response(self) -> Response {
        let (status, text) = match self {
            Self::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "The body is larger than max_body_bytes in [http].",
            ),
            Self::FromStranger => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "The body is larger than what is read without a key.",
            ),
            Self::BrokenOff => (StatusCode::BAD_REQUEST, "The body broke off."),
            Self::Late => (
                StatusCode::REQUEST_TIMEOUT,
                "The body did not arrive in time.",
            ),
        };
        answer::refuse(status, text)
    }
}
