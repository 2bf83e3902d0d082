//! The protocol crate's HTTP service for one counter.

use std::{convert::Infallible, sync::Arc};

use bytes::Bytes;
use desk::Desk;
use http::{Method, Request, Response};
use http_body_util::combinators::BoxBody;
use hyper::body::Body;
use rmcp::transport::{
    StreamableHttpServerConfig, StreamableHttpService,
    streamable_http_server::session::SessionManager,
};

use super::{
    definitions::PublishedCounter,
    first_answer,
    handler::Handler,
    sessions::{SessionBook, SessionOwner, Sessions},
};

type Service = StreamableHttpService<Handler, Sessions>;

/// Twice the same: clients of the handshake era that ask for a session get one,
/// those that send no session id are served without.
pub struct HttpService {
    with_session: Service,
    without_session: Service,
    sessions: Arc<Sessions>,
}

/// How a request is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Session,
    Stateless,
}

impl HttpService {
    pub fn new(
        desk: &Arc<Desk>,
        published: &Arc<PublishedCounter>,
        book: &Arc<SessionBook>,
    ) -> Self {
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
            let (desk, published) = (Arc::clone(desk), Arc::clone(published));
            StreamableHttpService::new(
                move || {
                    Ok(Handler::over_http(
                        Arc::clone(&desk),
                        Arc::clone(&published),
                    ))
                },
                Arc::clone(&sessions),
                config,
            )
        };
        Self {
            with_session: service(config()),
            without_session: service(
                config()
                    .with_legacy_session_mode(false)
                    .with_json_response(true),
            ),
            sessions,
        }
    }

    /// Answers a request of `owner`, who is admitted already.
    pub async fn handle<B>(
        &self,
        owner: SessionOwner,
        mode: Mode,
        request: Request<B>,
    ) -> Response<BoxBody<Bytes, Infallible>>
    where
        B: Body + Send + 'static,
        B::Error: std::fmt::Display,
    {
        let service = match mode {
            Mode::Session => &self.with_session,
            Mode::Stateless => &self.without_session,
        };
        let has_body = request.method() == Method::POST;
        let response = owner.scope(service.handle(request)).await;
        match has_body {
            true => first_answer::wait(response).await,
            false => response,
        }
    }

    pub async fn has_session(&self, owner: &SessionOwner, id: &str) -> bool {
        let id = id.into();
        let found = owner.clone().scope(self.sessions.has_session(&id)).await;
        found.unwrap_or(false)
    }
}
