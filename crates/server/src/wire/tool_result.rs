//! A tool's answer as clients read it. Every path renders it here: the direct
//! path and plain calls as text, the protocol crate's path as its types.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use desk::pipeline::Answer;
use kit::{
    Error, Reply, context::ClientRequest, counter::ErrorShape, error::MISSING_CAPABILITY,
    ids::CallId, reply::KeptReply,
};
use rmcp::model as mcp;
use serde_json::{Value, json, value::RawValue};

use super::{definitions::PublishedCounter, seal};

/// The key under which a result names its call, as the log does.
pub const CALL_META: &str = "madoguchi/call";

/// Members that a result has itself. A tool's field of the same name is not
/// copied to the top; it stays in `structuredContent`.
const RESERVED: [&str; 5] = [
    "resultType",
    "content",
    "structuredContent",
    "isError",
    "_meta",
];

/// Who gets an answer. A state that the answer carries is sealed for them.
pub struct Recipient<'a> {
    pub counter: &'a PublishedCounter,
    pub caller: &'a str,
    pub tool: &'a str,
    pub stateless: bool,
}

/// The result of a call that was carried out or refused.
pub struct ToolResult {
    content: Content,
    /// Blocks after the text of the structured content.
    more: Vec<Value>,
    structured: Option<Json>,
    is_error: bool,
}

/// JSON text.
enum Json {
    Own(String),
    Kept(Arc<KeptReply>),
}

impl Json {
    fn as_str(&self) -> &str {
        match self {
            Self::Own(text) => text,
            Self::Kept(kept) => &kept.json,
        }
    }

    fn into_string(self) -> String {
        match self {
            Self::Own(text) => text,
            Self::Kept(kept) => kept.json.clone(),
        }
    }

    /// As a JSON string.
    fn quoted(&self) -> Cow<'_, str> {
        match self {
            Self::Own(text) => json_string(text).into(),
            Self::Kept(kept) => Cow::Borrowed(&kept.quoted),
        }
    }
}

enum Content {
    /// One text block: the structured content.
    Structured,
    Text(String),
    Blocks(Vec<Value>),
}

/// Answers that are not results.
pub enum Unfinished {
    InputRequired {
        requests: Vec<(String, ClientRequest)>,
        state: Option<String>,
    },
    MissingCapability(Error),
}

impl ToolResult {
    pub fn new(
        reply: kit::Result<Reply>,
        call: CallId,
        error_shape: ErrorShape,
    ) -> Result<Self, Unfinished> {
        let mut more = Vec::new();
        let (content, structured) = match reply {
            Ok(Reply::Structured(json)) => (Content::Structured, Some(Json::Own(json))),
            Ok(Reply::Kept(kept)) => (Content::Structured, Some(Json::Kept(kept))),
            Ok(Reply::Illustrated { json, blocks }) => {
                more = blocks;
                (Content::Structured, Some(Json::Own(json)))
            }
            Ok(Reply::Content(blocks)) => (Content::Blocks(blocks), None),
            Ok(Reply::InputRequired { requests, state }) => {
                return Err(Unfinished::InputRequired { requests, state });
            }
            Err(error) if error.code == MISSING_CAPABILITY => {
                return Err(Unfinished::MissingCapability(error));
            }
            Err(error) => return Ok(Self::refused(error, call, error_shape)),
        };
        Ok(Self {
            content,
            more,
            structured,
            is_error: false,
        })
    }

    pub fn refused(error: Error, call: CallId, error_shape: ErrorShape) -> Self {
        let (text, structured) = with_reference(error, call).shown(error_shape);
        Self {
            content: Content::Text(text),
            more: Vec::new(),
            structured: Some(Json::Own(structured.to_string())),
            is_error: true,
        }
    }

    /// The result without the protocol, for plain calls.
    pub fn plain(self) -> String {
        let mut text = String::new();
        self.members(false, None, false).write(true, &mut text);
        text
    }

    /// A whole JSON-RPC response. `id` is JSON text.
    fn response(self, id: &str, call: CallId, to: &Recipient<'_>, flat: bool) -> String {
        // Not formatted, here and below: it is written for every call.
        let server_info = to.counter.definitions.server_info.as_str();
        let mut meta = String::with_capacity(server_info.len() + 96);
        meta.push('{');
        if to.stateless {
            meta.push_str(r#""io.modelcontextprotocol/serverInfo":"#);
            meta.push_str(server_info);
            meta.push(',');
        }
        meta.push('"');
        meta.push_str(CALL_META);
        meta.push_str("\":\"");
        meta.push_str(&call.to_string());
        meta.push_str("\"}");
        // A flat result would otherwise hold the same answer three times.
        let short_text = to.counter.short_text() || flat;
        self.members(to.stateless, Some(meta), short_text)
            .in_response(id, flat)
    }

    /// With `short_text`, one line stands in place of the structured content's JSON.
    fn members(self, result_type: bool, meta: Option<String>, short_text: bool) -> Members {
        Members {
            result_type,
            content: match (self.content, &self.structured) {
                (_, Some(json)) if short_text => {
                    text_and(&json_string(&one_line(json.as_str())), &self.more)
                }
                (Content::Structured, Some(json)) => text_and(&json.quoted(), &self.more),
                (Content::Structured, None) => text_block(""),
                (Content::Text(text), _) => text_block(&text),
                (Content::Blocks(blocks), _) => Value::Array(blocks).to_string(),
            },
            structured: self.structured,
            is_error: self.is_error,
            meta,
        }
    }

    fn into_mcp(
        self,
        meta: mcp::MetaObject,
        short_text: bool,
    ) -> serde_json::Result<mcp::CallToolResult> {
        let structured = self.structured.as_ref().map(Json::as_str);
        let structured = structured.map(serde_json::from_str).transpose()?;
        let json = self.structured.map(Json::into_string).unwrap_or_default();
        let text = |text| vec![mcp::ContentBlock::text(text)];
        let mut content: Vec<mcp::ContentBlock> = match self.content {
            Content::Structured if short_text => text(one_line(&json)),
            Content::Structured => text(json),
            Content::Text(own) => text(own),
            Content::Blocks(blocks) => serde_json::from_value(Value::Array(blocks))?,
        };
        for block in self.more {
            content.push(serde_json::from_value(block)?);
        }
        let mut result = mcp::CallToolResult::success(content);
        result.structured_content = structured;
        result.is_error = Some(self.is_error);
        Ok(result.with_meta(Some(meta)))
    }
}

/// The members of a result, each as JSON text.
struct Members {
    result_type: bool,
    content: String,
    structured: Option<Json>,
    is_error: bool,
    meta: Option<String>,
}

impl Members {
    /// A whole JSON-RPC response. `id` is JSON text.
    fn in_response(&self, id: &str, flat: bool) -> String {
        let structured = self.structured.as_ref().map_or(0, |it| it.as_str().len());
        let meta = self.meta.as_ref().map_or(0, String::len);
        let length = id.len() + self.content.len() + structured + meta;
        let mut text = String::with_capacity(length + 160);
        text.push_str(r#"{"jsonrpc":"2.0","id":"#);
        text.push_str(id);
        text.push_str(r#","result":"#);
        self.write(flat, &mut text);
        text.push('}');
        text
    }

    /// With `flat`, the fields of the structured content stand at the top too.
    fn write(&self, flat: bool, text: &mut String) {
        text.push('{');
        if self.result_type {
            text.push_str(r#""resultType":"complete","#);
        }
        text.push_str(r#""content":"#);
        text.push_str(&self.content);
        if let Some(structured) = &self.structured {
            text.push_str(r#","structuredContent":"#);
            text.push_str(structured.as_str());
            if flat {
                push_fields(structured.as_str(), text);
            }
        }
        text.push_str(r#","isError":"#);
        text.push_str(if self.is_error { "true" } else { "false" });
        if let Some(meta) = &self.meta {
            text.push_str(r#","_meta":"#);
            text.push_str(meta);
        }
        text.push('}');
    }
}

/// One line about an answer, for clients that read its structured content.
fn one_line(structured: &str) -> String {
    let fields: BTreeMap<Cow<'_, str>, Value> =
        serde_json::from_str(structured).unwrap_or_default();
    if let Some(Value::String(message)) = fields.get("message") {
        return message.clone();
    }
    if let Some(error) = fields.get("error") {
        let message = error.as_str().or_else(|| error.get("message")?.as_str());
        return message.unwrap_or_default().to_owned();
    }
    let names: Vec<&str> = fields.keys().map(Cow::as_ref).collect();
    format!("See structuredContent: {}.", names.join(", "))
}

/// The fields of an object, each after a comma. None if it is not an object.
fn push_fields(object: &str, into: &mut String) {
    let fields: BTreeMap<Cow<'_, str>, &RawValue> =
        serde_json::from_str(object).unwrap_or_default();
    for (name, value) in fields {
        if !RESERVED.contains(&name.as_ref()) {
            into.push(',');
            into.push_str(&json_string(&name));
            into.push(':');
            into.push_str(value.get());
        }
    }
}

pub fn text_block(text: &str) -> String {
    text_and(&json_string(text), &[])
}

/// Content of a text, which is a JSON string, and further blocks.
fn text_and(text: &str, more: &[Value]) -> String {
    let mut content = String::with_capacity(text.len() + 32);
    content.push_str(r#"[{"type":"text","text":"#);
    content.push_str(text);
    content.push('}');
    for block in more {
        content.push(',');
        content.push_str(&block.to_string());
    }
    content.push(']');
    content
}

fn json_string(text: &str) -> String {
    // A string always serialises.
    serde_json::to_string(text).unwrap_or_default()
}

/// A result that the protocol crate has, with the fields of its structured
/// content at the top too.
pub fn flat_response(
    id: &mcp::RequestId,
    result: &mcp::CallToolResult,
) -> serde_json::Result<String> {
    let structured = result.structured_content.as_ref().map(Value::to_string);
    let members = Members {
        result_type: result.result_type.is_some(),
        content: match &structured {
            Some(json) => {
                let more = result.content.iter().skip(1).map(|it| json!(it));
                let more: Vec<Value> = more.collect();
                text_and(&json_string(&one_line(json)), &more)
            }
            None => serde_json::to_string(&result.content)?,
        },
        structured: structured.map(Json::Own),
        is_error: result.is_error == Some(true),
        meta: result
            .meta
            .as_ref()
            .map(serde_json::to_string)
            .transpose()?,
    };
    Ok(members.in_response(&serde_json::to_string(id)?, true))
}

/// The answer as a whole response, with its HTTP status. `id` is JSON text.
pub fn direct_response(id: &str, answer: Answer, to: &Recipient<'_>, flat: bool) -> (u16, String) {
    match ToolResult::new(answer.result, answer.call, to.counter.error_shape()) {
        Ok(result) => (200, result.response(id, answer.call, to, flat)),
        Err(unfinished) => match unfinished.into_mcp(answer.call, to) {
            Ok(result) => {
                let result = json!(mcp::ServerResult::from(result));
                let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
                (200, text)
            }
            Err(error) => {
                let lacks = mcp::ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY;
                let status = if error.code == lacks { 400 } else { 200 };
                let error = json!(error);
                (
                    status,
                    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#),
                )
            }
        },
    }
}

/// The answer for the protocol crate.
pub fn mcp_response(
    answer: Answer,
    to: &Recipient<'_>,
) -> Result<mcp::CallToolResponse, mcp::ErrorData> {
    match ToolResult::new(answer.result, answer.call, to.counter.error_shape()) {
        Ok(result) => {
            let result = result.into_mcp(meta(answer.call, to), to.counter.short_text());
            let result = result.map_err(internal)?;
            Ok(result.into())
        }
        Err(unfinished) => unfinished.into_mcp(answer.call, to),
    }
}

impl Unfinished {
    fn into_mcp(
        self,
        call: CallId,
        to: &Recipient<'_>,
    ) -> Result<mcp::CallToolResponse, mcp::ErrorData> {
        match self {
            Self::InputRequired { requests, state } => {
                let result = input_required(requests, state, to)?;
                Ok(result.with_meta(meta(call, to)).into())
            }
            Self::MissingCapability(error) => {
                let required = error.details.unwrap_or_default();
                Err(mcp::ErrorData::missing_required_client_capability(
                    serde_json::from_value(required).unwrap_or_default(),
                ))
            }
        }
    }
}

fn meta(call: CallId, to: &Recipient<'_>) -> mcp::MetaObject {
    let mut meta = if to.stateless {
        to.counter.definitions.server_info_meta.clone()
    } else {
        mcp::MetaObject::new()
    };
    meta.0.insert(CALL_META.into(), call.to_string().into());
    meta
}

/// What a tool or a prompt asks its client for.
pub fn input_required(
    requests: Vec<(String, ClientRequest)>,
    state: Option<String>,
    to: &Recipient<'_>,
) -> Result<mcp::InputRequiredResult, mcp::ErrorData> {
    let mut wanted = mcp::InputRequests::new();
    for (name, request) in requests {
        let request = json!({ "method": request.method, "params": request.params });
        wanted.insert(name, serde_json::from_value(request).map_err(internal)?);
    }
    let about = format!("{}/{}", to.counter.counter.about.name, to.tool);
    let state = state.map(|state| seal::seal(&state, to.caller, &about));
    Ok(mcp::InputRequiredResult::new(Some(wanted), state))
}

/// An internal error names its call, under which the log explains it.
fn with_reference(mut error: Error, call: CallId) -> Error {
    if error.is_internal() {
        error.details = Some(json!({ "reference": call.to_string() }));
        error.message = format!("{} (reference {call})", error.message.trim_end_matches('.'));
        error.message.push('.');
    }
    error
}

fn internal(error: serde_json::Error) -> mcp::ErrorData {
    tracing::error!(%error, "an answer does not have the protocol's form");
    mcp::ErrorData::internal_error("Something went wrong on our side.", None)
}

#[cfg(test)]
mod tests;
