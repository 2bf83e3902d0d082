//! The direct path for the plain case: a `tools/call` that is right in every
//! respect and wants nothing but its answer, stateless over HTTP ([`Plain`],
//! also `tools/list`), stateless or bare on a connection ([`DirectCall`]).
//!
//! Anything unusual, a wrong header, missing metadata, a progress token, an
//! older revision, yields `None`, and the same bytes go to the protocol crate,
//! which knows what to say. So there is one source of protocol errors, and this
//! file needs only to recognise what it can serve.

use std::{borrow::Cow, sync::Arc};

use desk::{
    Desk,
    pipeline::{Admitted, ToolCall},
    stations::identify::Identified,
    trace::TraceContext,
};
use http::{HeaderMap, HeaderName, header};
use kit::{
    context::Language,
    page::{self, Page},
};
use rmcp::model as mcp;
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};
use tokio_util::sync::CancellationToken;

use super::{
    STATELESS,
    accept_header::AcceptedTypes,
    apps,
    client::PlainClient,
    definitions::{LIST_TTL_MS, PAGE, PublishedCounter},
    errors::{self, Fault},
    headers::{METHOD, NAME, PROTOCOL_VERSION, SESSION_ID},
    inbound::too_complex,
    language,
    tool_result::{self, Recipient},
    trace,
};

#[derive(Deserialize)]
struct Request<'a> {
    jsonrpc: &'a str,
    #[serde(borrow)]
    id: &'a RawValue,
    method: &'a str,
    #[serde(borrow)]
    params: Params<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(default)]
    arguments: Option<Map<String, Value>>,
    #[serde(borrow, default)]
    cursor: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "_meta", default)]
    meta: Option<Meta<'a>>,
    #[serde(borrow, default)]
    input_responses: Option<&'a RawValue>,
    #[serde(borrow, default)]
    request_state: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    protocol_version: &'a str,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    client_capabilities: Map<String, Value>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientInfo", default)]
    client_info: Option<&'a RawValue>,
    #[serde(borrow, rename = "progressToken", default)]
    progress_token: Option<&'a RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/logLevel", default)]
    log_level: Option<&'a RawValue>,
    #[serde(borrow, default)]
    traceparent: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tracestate: Option<&'a RawValue>,
}

impl Request<'_> {
    /// Of the stateless era, or of none: bare.
    fn is_plain(&self) -> bool {
        let params = &self.params;
        self.jsonrpc == "2.0"
            && is_id(self.id.get())
            && params.input_responses.is_none()
            && params.request_state.is_none()
            && params.meta.as_ref().is_none_or(Meta::is_plain)
    }
}

impl Meta<'_> {
    fn is_plain(&self) -> bool {
        self.protocol_version == STATELESS
            && self.progress_token.is_none()
            && self.log_level.is_none()
            && are_capabilities(&self.client_capabilities)
    }

    fn trace(&self) -> Option<TraceContext> {
        trace::of_meta(self.traceparent, self.tracestate)
    }
}

/// Most clients send none.
fn are_capabilities(declared: &Map<String, Value>) -> bool {
    declared.is_empty() || mcp::ClientCapabilities::deserialize(declared).is_ok()
}

/// A number or a string; anything else is for the protocol crate to refuse.
fn is_id(id: &str) -> bool {
    id.starts_with('"') || id.parse::<i64>().is_ok()
}

/// Whether the headers are those of a plain stateless request; cheap, and asked
/// before the body is looked at.
pub fn headers_fit(headers: &HeaderMap) -> bool {
    AcceptedTypes::of(headers) != AcceptedTypes::Neither
        && single(headers, &PROTOCOL_VERSION) == Some(STATELESS)
        && matches!(single(headers, &METHOD), Some("tools/call" | "tools/list"))
        && single(headers, &header::CONTENT_TYPE)
            .is_some_and(|kind| kind.starts_with("application/json"))
        && !headers.contains_key(&SESSION_ID)
}

/// The value of a header that is there exactly once.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// A request that is plain in every respect.
pub struct DirectRequest<'a>(Request<'a>);

impl<'a> DirectRequest<'a> {
    /// `None` if it needs the protocol crate.
    pub fn read(published: &PublishedCounter, headers: &HeaderMap, body: &'a [u8]) -> Option<Self> {
        let request: Request<'_> = serde_json::from_slice(body).ok()?;
        let params = &request.params;
        let plain = request.is_plain()
            && params.meta.is_some()
            && single(headers, &METHOD) == Some(request.method);
        let fits = match request.method {
            "tools/list" => params.cursor.is_none() && params.name.is_none(),
            "tools/call" => params.name.as_deref().is_some_and(|name| {
                single(headers, &NAME) == Some(name)
                    && !published.definitions.has_header_arguments(name)
            }),
            _ => false,
        };
        (plain && fits).then_some(Self(request))
    }

    pub fn method(&self) -> &'a str {
        self.0.method
    }

    pub fn id(&self) -> Option<Value> {
        serde_json::from_str(self.0.id.get()).ok()
    }

    /// Status and body of the answer.
    pub async fn serve(
        self,
        desk: &Arc<Desk>,
        published: &PublishedCounter,
        admitted: Admitted,
        headers: &HeaderMap,
    ) -> (u16, String) {
        let options = CallOptions {
            admitted,
            language: language::of_headers(headers),
            cancel: CancellationToken::new(),
            flat: false,
        };
        let id = self.0.id;
        let meta = self.0.params.meta.as_ref();
        let shows_views = meta.is_some_and(|it| apps::are_shown_with(&it.client_capabilities));
        match DirectCall::of(self.0) {
            Some(call) => call.serve(desk, published, options).await,
            None => {
                let who = &options.admitted.who;
                (200, list(published, who, id.get(), shows_views))
            }
        }
    }
}

/// A call on a connection that carries one message after another.
pub struct DirectCall {
    /// As JSON text.
    pub id: String,
    tool: String,
    arguments: Map<String, Value>,
    /// Of a stateless client; a bare call has none.
    capabilities: Option<Map<String, Value>>,
    /// What the client says about itself, in JSON.
    client_info: Option<String>,
    /// The trace that it is part of.
    parent: Option<TraceContext>,
}

/// The caller of a plain call, and how it is answered.
pub struct CallOptions {
    pub admitted: Admitted,
    pub language: Option<Language>,
    pub cancel: CancellationToken,
    /// Whether the fields of the answer stand at the top of the result too.
    pub flat: bool,
}

impl DirectCall {
    /// `None` if it needs the protocol crate. `bare` is whether a request without metadata
    /// belongs to no era.
    pub fn read(bytes: &[u8], bare: bool) -> Option<Self> {
        if too_complex(bytes) {
            return None;
        }
        let request: Request<'_> = serde_json::from_slice(bytes).ok()?;
        let era_fits = bare || request.params.meta.is_some();
        let fits = request.method == "tools/call" && era_fits && request.is_plain();
        Self::of(request).filter(|_| fits)
    }

    fn of(request: Request<'_>) -> Option<Self> {
        let meta = request.params.meta;
        let parent = meta.as_ref().and_then(Meta::trace);
        let client_info = meta.as_ref().and_then(|meta| meta.client_info);
        Some(Self {
            id: request.id.get().to_owned(),
            tool: request.params.name?.into_owned(),
            arguments: request.params.arguments.unwrap_or_default(),
            client_info: client_info.map(|info| info.get().to_owned()),
            capabilities: meta.map(|meta| meta.client_capabilities),
            parent,
        })
    }

    /// HTTP status and text of the answer.
    pub async fn serve(
        self,
        desk: &Arc<Desk>,
        published: &PublishedCounter,
        options: CallOptions,
    ) -> (u16, String) {
        let caller = Arc::clone(&options.admitted.who.caller.id);
        let stateless = self.capabilities.is_some();
        if let Some(info) = &self.client_info {
            desk.clients.note_info(info);
        }
        let call = ToolCall {
            admitted: options.admitted.with_parent(|| self.parent),
            name: self.tool.clone(),
            arguments: self.arguments,
            client: Arc::new(PlainClient {
                capabilities: Value::Object(self.capabilities.unwrap_or_default()),
                stateless,
            }),
            cancel: options.cancel,
            language: options.language,
        };
        match desk.call(published, call).await {
            Ok(answer) => {
                let to = Recipient {
                    counter: published,
                    caller: &caller,
                    tool: &self.tool,
                    stateless,
                };
                tool_result::direct_response(&self.id, answer, &to, options.flat)
            }
            Err(refusal) => {
                let id = serde_json::from_str(&self.id).ok();
                let message = errors::error_message(id.as_ref(), &Fault::from(&refusal));
                (200, message.to_string())
            }
        }
    }
}

/// The first page; the protocol crate answers requests for others.
fn list(published: &PublishedCounter, who: &Identified, id: &str, shows_views: bool) -> String {
    let definitions = &published.definitions;
    let listed = published.listed_for(who, &definitions.tools_for(shows_views).json);
    let scope = if listed.is_for_all && !shows_views {
        "public"
    } else {
        "private"
    };
    // Without a cursor every list has a first page.
    let page = page::slice(&listed.items, None, PAGE);
    let page = page.unwrap_or_else(|_| Page::whole(Vec::new()));
    let next = page.next_cursor;
    let next = next.map_or(String::new(), |next| format!(r#""nextCursor":"{next}","#));
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{}}},{next}"ttlMs":{LIST_TTL_MS},"cacheScope":"{scope}","tools":{}}}}}"#,
        definitions.server_info,
        Value::Array(page.items)
    )
}
