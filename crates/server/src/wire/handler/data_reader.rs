//! A caller who reads data without a tool call, and the checks before it is shown.

use std::{collections::BTreeMap, sync::Arc};

use desk::{
    Desk,
    methods::Method,
    pipeline::{Admitted, ReadRequest},
    stations::{authorize::ReadTarget, identify::Identified},
    trace::TraceContext,
};
use kit::{Context, context::Language};
use rmcp::{ErrorData, RoleServer, model as mcp, service::RequestContext};

use crate::wire::{
    client::{LogLevel, RemoteClient, is_stateless},
    definitions::PublishedCounter,
    errors, language,
};

pub struct DataReader<'a> {
    desk: &'a Desk,
    pub published: &'a PublishedCounter,
    admitted: Admitted,
    pub context: Context,
    stateless: bool,
}

impl<'a> DataReader<'a> {
    pub fn new(
        desk: &'a Desk,
        published: &'a PublishedCounter,
        log_level: &LogLevel,
        request: &RequestContext<RoleServer>,
    ) -> Result<Self, ErrorData> {
        let admitted = admitted(request)?;
        let client = Arc::new(RemoteClient::new(request, log_level, BTreeMap::new(), None));
        let caller = admitted.who.caller.clone();
        let mut context = Context::new(caller, desk.clock.clone(), client);
        context.cancel = request.ct.clone();
        context.language = published.last_language.choose(
            published.counter.about.conventions.language,
            language_of(request),
            &serde_json::Map::new(),
        );
        context.zone = published.counter.time_zone.clone();
        Ok(Self {
            desk,
            published,
            admitted,
            context,
            stateless: is_stateless(request),
        })
    }

    pub fn who(&self) -> &Identified {
        &self.admitted.who
    }

    /// `serverInfo` is on every result of the stateless era.
    pub fn stamp(&self) -> Option<mcp::MetaObject> {
        let meta = &self.published.definitions.server_info_meta;
        self.stateless.then(|| meta.clone())
    }

    /// Runs `work` if the stations of the desk let the caller through.
    pub async fn read<T>(
        &self,
        method: Method,
        target: ReadTarget<'_>,
        work: impl Future<Output = kit::Result<T>>,
    ) -> Result<T, ErrorData> {
        let read = ReadRequest {
            from: &self.admitted,
            method,
            target,
            context: &self.context,
        };
        let result = self.desk.read(self.published, &read, work).await;
        result.map_err(|error| errors::read_refused(error, self.context.call, &read.target))
    }
}

/// Transports admit a request before the protocol crate sees it.
pub fn admitted(request: &RequestContext<RoleServer>) -> Result<Admitted, ErrorData> {
    let over_http = request
        .extensions
        .get::<http::request::Parts>()
        .and_then(|parts| parts.extensions.get::<Admitted>());
    let meta = &request.meta;
    request
        .extensions
        .get::<Admitted>()
        .or(over_http)
        .cloned()
        .map(|admitted| {
            let (parent, state) = (meta.get_traceparent(), meta.get_tracestate());
            admitted.with_parent(|| TraceContext::parse(parent, state))
        })
        .ok_or_else(|| ErrorData::internal_error("This request was not admitted.", None))
}

pub fn language_of(request: &RequestContext<RoleServer>) -> Option<Language> {
    let over_http = request.extensions.get::<http::request::Parts>();
    match (request.extensions.get::<Language>(), over_http) {
        (Some(language), _) => Some(*language),
        (None, Some(parts)) => language::of_headers(&parts.headers),
        (None, None) => None,
    }
}

pub fn cursor(request: Option<&mcp::PaginatedRequestParams>) -> Option<&str> {
    request.and_then(|request| request.cursor.as_deref())
}
