//! The short way for the plain case: a stateless `tools/call` or `tools/list`
//! over HTTP that is right in every respect and wants nothing but its answer.
//!
//! Anything unusual, a wrong header, missing metadata, a progress token, an
//! older revision, yields `None`, and the same bytes go to the protocol crate,
//! which knows what to say. So there is one source of protocol errors, and this
//! file needs only to recognise what it can serve.

use std::{borrow::Cow, sync::Arc};

use http::{HeaderMap, header};
use kit::page;
use rmcp::model as mcp;
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};
use tokio_util::sync::CancellationToken;

use super::{
    STATELESS,
    client::PlainClient,
    definitions::{LIST_TTL_MS, PAGE},
    outbound::{self, Destination, Fault},
};
use crate::{
    desk::{Desk, Window},
    pipeline::{Admitted, ToolCall},
    transport::language,
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
    #[serde(borrow, rename = "_meta")]
    meta: Meta<'a>,
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
    #[serde(borrow, rename = "progressToken", default)]
    progress_token: Option<&'a RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/logLevel", default)]
    log_level: Option<&'a RawValue>,
}

/// Whether the headers are those of a plain stateless request; cheap, and asked
/// before the body is looked at.
pub fn headers_fit(headers: &HeaderMap) -> bool {
    let is = |name: &str, wanted: &str| single(headers, name).is_some_and(|v| v == wanted);
    let accepts = single(headers, header::ACCEPT.as_str()).is_some_and(|accept| {
        accept.contains("application/json") && accept.contains("text/event-stream")
    });
    accepts
        && is("mcp-protocol-version", STATELESS)
        && (is("mcp-method", "tools/call") || is("mcp-method", "tools/list"))
        && single(headers, header::CONTENT_TYPE.as_str())
            .is_some_and(|kind| kind.starts_with("application/json"))
        && !headers.contains_key("mcp-session-id")
}

/// The value of a header that is there exactly once.
fn single<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Status and body of the answer, or `None` to go the long way.
pub async fn serve(
    desk: &Desk,
    window: &Window,
    admitted: &Admitted,
    headers: &HeaderMap,
    body: &[u8],
) -> Option<(u16, String)> {
    let request: Request<'_> = serde_json::from_slice(body).ok()?;
    let meta = &request.params.meta;
    let plain = request.jsonrpc == "2.0"
        && is_id(request.id.get())
        && single(headers, "mcp-method") == Some(request.method)
        && meta.protocol_version == STATELESS
        && meta.progress_token.is_none()
        && meta.log_level.is_none()
        && request.params.input_responses.is_none()
        && request.params.request_state.is_none()
        && are_capabilities(&meta.client_capabilities);
    if !plain {
        return None;
    }
    match request.method {
        "tools/list" => list(window, request.id.get(), request.params.cursor.as_deref()),
        "tools/call" => call(desk, window, admitted, headers, request).await,
        _ => None,
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

async fn call(
    desk: &Desk,
    window: &Window,
    admitted: &Admitted,
    headers: &HeaderMap,
    request: Request<'_>,
) -> Option<(u16, String)> {
    let name = request.params.name?;
    if single(headers, "mcp-name")? != name || has_header_arguments(window, &name) {
        return None;
    }
    let call = ToolCall {
        admitted: admitted.clone(),
        name: name.into_owned(),
        arguments: request.params.arguments.unwrap_or_default(),
        client: Arc::new(PlainClient {
            capabilities: Value::Object(request.params.meta.client_capabilities),
        }),
        cancel: CancellationToken::new(),
        language: language::of_headers(headers),
    };
    let tool = call.name.clone();
    let id = request.id.get();
    Some(match desk.call(window, call).await {
        Ok(answer) => {
            let to = Destination {
                window,
                caller: &admitted.caller.id,
                tool: &tool,
                stateless: true,
            };
            outbound::plain_response(id, answer, &to)
        }
        Err(refusal) => {
            let id = serde_json::from_str(id).ok();
            let message = outbound::error_message(id.as_ref(), &Fault::from(&refusal));
            (200, message.to_string())
        }
    })
}

/// Tools some of whose arguments must be repeated in HTTP headers.
fn has_header_arguments(window: &Window, name: &str) -> bool {
    window.definitions.tool(name).is_some_and(|tool| {
        tool.input_schema
            .get("properties")
            .is_some_and(mentions_header)
    })
}

fn mentions_header(value: &Value) -> bool {
    match value {
        Value::Object(object) => {
            object.contains_key("x-mcp-header") || object.values().any(mentions_header)
        }
        _ => false,
    }
}

fn list(window: &Window, id: &str, cursor: Option<&str>) -> Option<(u16, String)> {
    let definitions = &window.definitions;
    let page = page::slice(&definitions.tools, cursor, PAGE).ok()?;
    let tools = Value::Array(page.items);
    let next = page
        .next_cursor
        .map(|cursor| format!(r#""nextCursor":{},"#, Value::String(cursor)))
        .unwrap_or_default();
    Some((
        200,
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{}}},{next}"ttlMs":{LIST_TTL_MS},"cacheScope":"public","tools":{tools}}}}}"#,
            definitions.server_info
        ),
    ))
}
