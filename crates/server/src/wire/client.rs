//! The way back to the client while a call runs.

use std::{
    collections::BTreeMap,
    sync::Arc,
    sync::atomic::{AtomicU8, Ordering},
};

use kit::{
    BoxFuture, Error, Result,
    context::{Client, ClientRequest},
};
#[expect(deprecated, reason = "clients of the handshake era still read logs")]
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use rmcp::{
    RoleServer,
    model::{CustomRequest, ProgressNotificationParam, ProgressToken, ServerRequest},
    service::{Peer, RequestContext},
};
use serde_json::Value;

use super::STATELESS;

/// A client reached through the protocol crate.
pub struct RemoteClient {
    peer: Peer<RoleServer>,
    progress: Option<ProgressToken>,
    stateless: bool,
    log_level: u8,
    capabilities: Value,
    inputs: BTreeMap<String, Value>,
    state: Option<String>,
}

impl RemoteClient {
    pub fn new(
        context: &RequestContext<RoleServer>,
        session_log_level: &LogLevel,
        inputs: BTreeMap<String, Value>,
        state: Option<String>,
    ) -> Self {
        let stateless = is_stateless(context);
        let log_level = if stateless {
            context.meta.log_level().map_or(u8::MAX, severity)
        } else {
            session_log_level.get()
        };
        Self {
            peer: context.peer.clone(),
            progress: context.meta.get_progress_token(),
            stateless,
            log_level,
            capabilities: serde_json::to_value(context.client_capabilities().unwrap_or_default())
                .unwrap_or_default(),
            inputs,
            state,
        }
    }
}

pub fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= STATELESS)
}

impl Client for RemoteClient {
    fn progress<'a>(
        &'a self,
        done: f64,
        total: Option<f64>,
        message: Option<String>,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let Some(token) = self.progress.clone() else {
                return;
            };
            let mut progress = ProgressNotificationParam::new(token, done);
            progress.total = total;
            progress.message = message;
            // A client that went away is noticed by its transport.
            let _ = self.peer.notify_progress(progress).await;
        })
    }

    #[expect(deprecated, reason = "clients of the handshake era still read logs")]
    fn log<'a>(&'a self, level: &'a str, data: Value) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let level: LoggingLevel =
                serde_json::from_value(level.into()).unwrap_or(LoggingLevel::Info);
            if severity(level) < self.log_level {
                return;
            }
            let message = LoggingMessageNotificationParam::new(level, data);
            let _ = self.peer.notify_logging_message(message).await;
        })
    }

    fn request<'a>(&'a self, request: ClientRequest) -> BoxFuture<'a, Result<Value>> {
        Box::pin(async move {
            let request = CustomRequest::new(request.method, Some(request.params));
            let answer = self
                .peer
                .send_request(ServerRequest::CustomRequest(request))
                .await
                .map_err(|error| {
                    Error::new(
                        "CLIENT_DID_NOT_ANSWER",
                        "The client did not answer the question.",
                    )
                    .next("Use a client that can ask its user.")
                    .cause(error)
                })?;
            serde_json::to_value(answer).map_err(Error::internal)
        })
    }

    fn is_stateless(&self) -> bool {
        self.stateless
    }

    fn capabilities(&self) -> Value {
        self.capabilities.clone()
    }

    fn input(&self, name: &str) -> Option<Value> {
        self.inputs.get(name).cloned()
    }

    fn state(&self) -> Option<String> {
        self.state.clone()
    }
}

/// The level a client of the handshake era asked for, per connection.
#[derive(Clone)]
pub struct LogLevel(Arc<AtomicU8>);

impl Default for LogLevel {
    fn default() -> Self {
        #[expect(deprecated, reason = "see above")]
        Self(Arc::new(AtomicU8::new(severity(LoggingLevel::Info))))
    }
}

impl LogLevel {
    #[expect(deprecated, reason = "see above")]
    pub fn set(&self, level: LoggingLevel) {
        self.0.store(severity(level), Ordering::Relaxed);
    }

    fn get(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }
}

#[expect(deprecated, reason = "see above")]
fn severity(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

/// A client that gets nothing before its answer: one plain request, one plain
/// response.
pub struct PlainClient {
    pub capabilities: Value,
    /// Whether it can be asked between two rounds of its call.
    pub stateless: bool,
}

impl Client for PlainClient {
    fn progress<'a>(&'a self, _: f64, _: Option<f64>, _: Option<String>) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    fn log<'a>(&'a self, _: &'a str, _: Value) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    fn request<'a>(&'a self, _: ClientRequest) -> BoxFuture<'a, Result<Value>> {
        Box::pin(std::future::ready(Err(Error::new(
            "CLIENT_CANNOT_ANSWER",
            "This client can't be asked while a call runs.",
        ))))
    }

    fn is_stateless(&self) -> bool {
        self.stateless
    }

    fn capabilities(&self) -> Value {
        self.capabilities.clone()
    }

    fn input(&self, _: &str) -> Option<Value> {
        None
    }

    fn state(&self) -> Option<String> {
        None
    }
}
