//! Answers and refusals in the protocol's words.

use std::{borrow::Cow, collections::BTreeMap};

use desk::{
    methods,
    pipeline::{Answer, Refusal},
    stations::authorize::{
        DENIED_BY_POLICY, FORBIDDEN, RESOURCE_NOT_FOUND, TOOL_NOT_OFFERED, Target, UNKNOWN_PROMPT,
        UNKNOWN_TEMPLATE,
    },
};
use kit::{
    Error, Reply,
    context::ClientRequest,
    error::{CANCELLED, MISSING_CAPABILITY, TIMEOUT},
    ids::CallId,
};
use rmcp::model as mcp;
use serde_json::{Value, json, value::RawValue};

use super::seal;
use crate::{addresses::Barred, wire::definitions::PublishedCounter};

/// As much of a caller's own text as an error quotes.
const QUOTED: usize = 200;

/// A text of the caller's, for an error: the whole of it only when it is short.
pub fn quoted(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(QUOTED) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(text.get(..end).unwrap_or_default().to_owned() + "…"),
    }
}

/// For a method that the protocol crate knows and the request's revision lacks,
/// it says the method's name and nothing else.
pub fn explain(error: &mut mcp::ErrorData, window: &PublishedCounter) {
    if error.code == mcp::ErrorCode::METHOD_NOT_FOUND && !error.message.contains(' ') {
        error.message = Cow::Owned(methods::not_found(&window.counter, &error.message));
    }
}

/// The same for an error that is JSON already.
pub fn explain_value(error: &mut Value, window: &PublishedCounter) {
    if let Ok(mut read) = serde_json::from_value::<mcp::ErrorData>(error.clone()) {
        explain(&mut read, window);
        *error = json!(read);
    }
}

/// Errors of the protocol crate quote what they refuse at any length.
pub fn shorten(error: &mut mcp::ErrorData) {
    // Beside what it quotes, an error says something itself.
    if error.message.chars().nth(QUOTED * 3).is_some() {
        error.message = Cow::Owned(quoted(&error.message).into_owned());
    }
    error.data.iter_mut().for_each(shorten_texts);
}

pub fn shorten_texts(value: &mut Value) {
    match value {
        Value::String(text) if text.chars().nth(QUOTED * 3).is_some() => {
            *text = quoted(text).into_owned();
        }
        Value::Array(items) => items.iter_mut().for_each(shorten_texts),
        Value::Object(object) => object.values_mut().for_each(shorten_texts),
        _ => {}
    }
}

/// The key under which a result names its call, as the log does.
pub const CALL_META: &str = "madoguchi/call";

/// Where an answer is going: needed to seal the state it may carry.
pub struct Destination<'a> {
    pub window: &'a PublishedCounter,
    pub caller: &'a str,
    pub tool: &'a str,
    pub stateless: bool,
}

/// JSON-RPC code, message and data of a refusal.
#[derive(Debug)]
pub struct Fault {
    pub code: i32,
    pub message: String,
    pub data: Option<Value>,
}

impl From<&Refusal> for Fault {
    fn from(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::InvalidKey => Self {
                code: 401,
                message: "Invalid API key".into(),
                data: None,
            },
            Refusal::RateLimited { retry_after_ms } => Self {
                code: 429,
                message: "Rate limit exceeded".into(),
                data: Some(json!({ "retry_after_ms": retry_after_ms })),
            },
            Refusal::UnknownMethod(explained) => Self {
                code: -32601,
                message: explained.clone(),
                data: None,
            },
            Refusal::UnknownTool {
                call,
                name,
                nearest,
            } => Self {
                code: -32602,
                message: match nearest {
                    Some(nearest) => {
                        format!("Unknown tool: {}. Did you mean {nearest}?", quoted(name))
                    }
                    None => format!(
                        "Unknown tool: {}. tools/list names those there are.",
                        quoted(name)
                    ),
                },
                data: Some(json!({ CALL_META: call.to_string() })),
            },
        }
    }
}

impl From<Barred> for Fault {
    fn from(barred: Barred) -> Self {
        Self {
            code: 429,
            message: barred.message().into(),
            data: Some(json!({ "retry_after_ms": barred.retry_after_ms() })),
        }
    }
}

impl From<mcp::ErrorData> for Fault {
    fn from(error: mcp::ErrorData) -> Self {
        Self {
            code: error.code.0,
            message: error.message.into_owned(),
            data: error.data,
        }
    }
}

impl From<Fault> for mcp::ErrorData {
    fn from(fault: Fault) -> Self {
        Self::new(mcp::ErrorCode(fault.code), fault.message, fault.data)
    }
}

/// A request that reads was refused, or went wrong.
pub fn read_refused(error: Error, call: CallId, target: &Target<'_>) -> mcp::ErrorData {
    if error.is_internal() {
        let cause = error.cause;
        tracing::error!(%call, ?cause, "a read failed");
        let message = format!("Something went wrong on our side (reference {call}).");
        return mcp::ErrorData::internal_error(message, None);
    }
    match (&*error.code, target) {
        (RESOURCE_NOT_FOUND, Target::Resources([uri])) => {
            let uri = quoted(uri);
            mcp::ErrorData::resource_not_found(
                format!("There is no resource {uri}. resources/list names those there are."),
                Some(json!({ "uri": uri })),
            )
        }
        (FORBIDDEN | TOOL_NOT_OFFERED | DENIED_BY_POLICY, _) => {
            mcp::ErrorData::new(mcp::ErrorCode(403), error.text(), Some(error.structured()))
        }
        // Nothing is wrong with the request.
        (TIMEOUT | CANCELLED, _) => {
            mcp::ErrorData::internal_error(error.text(), Some(error.structured()))
        }
        _ => mcp::ErrorData::invalid_params(error.text(), Some(error.structured())),
    }
}

/// Whether a completion was asked for a prompt or template that is not there.
pub fn is_unknown_reference(error: &mcp::ErrorData) -> bool {
    let data = error.data.as_ref();
    let code = data.and_then(|data| data.pointer("/error/code"));
    code.is_some_and(|code| code == UNKNOWN_PROMPT || code == UNKNOWN_TEMPLATE)
}

/// A whole JSON-RPC error message.
pub fn error_message(id: Option<&Value>, fault: &Fault) -> Value {
    let error = match &fault.data {
        Some(data) => json!({ "code": fault.code, "message": fault.message, "data": data }),
        None => json!({ "code": fault.code, "message": fault.message }),
    };
    json!({ "jsonrpc": "2.0", "id": id.unwrap_or(&Value::Null), "error": error })
}

/// The answer for the protocol crate.
pub fn response(
    answer: Answer,
    to: &Destination<'_>,
) -> Result<mcp::CallToolResponse, mcp::ErrorData> {
    let mut meta = if to.stateless {
        to.window.definitions.server_info_meta.clone()
    } else {
        mcp::MetaObject::new()
    };
    meta.0
        .insert(CALL_META.into(), answer.call.to_string().into());
    let result = match answer.result {
        Ok(Reply::InputRequired { requests, state }) => {
            let result = input_required(requests, state, to)?.with_meta(meta);
            return Ok(result.into());
        }
        Ok(Reply::Structured(json)) => {
            let structured = serde_json::from_str(&json).map_err(internal)?;
            let mut result = mcp::CallToolResult::success(vec![mcp::ContentBlock::text(json)]);
            result.structured_content = Some(structured);
            result
        }
        Ok(Reply::Content(blocks)) => {
            let blocks = serde_json::from_value(Value::Array(blocks)).map_err(internal)?;
            mcp::CallToolResult::success(blocks)
        }
        Err(error) if error.code == MISSING_CAPABILITY => return Err(missing_capability(&error)),
        Err(error) => {
            let error = with_reference(error, answer.call);
            let (text, structured) = error.shown(to.window.refusals());
            let mut result = mcp::CallToolResult::error(vec![mcp::ContentBlock::text(text)]);
            result.structured_content = Some(structured);
            result
        }
    };
    Ok(result.with_meta(Some(meta)).into())
}

pub fn input_required(
    requests: Vec<(String, ClientRequest)>,
    state: Option<String>,
    to: &Destination<'_>,
) -> Result<mcp::InputRequiredResult, mcp::ErrorData> {
    let mut wanted = mcp::InputRequests::new();
    for (name, request) in requests {
        let request = json!({ "method": request.method, "params": request.params });
        wanted.insert(name, serde_json::from_value(request).map_err(internal)?);
    }
    let about = format!("{}/{}", to.window.counter.about.name, to.tool);
    let state = state.map(|state| seal::seal(&state, to.caller, &about));
    Ok(mcp::InputRequiredResult::new(Some(wanted), state))
}

pub fn missing_capability(error: &Error) -> mcp::ErrorData {
    let required = error.details.clone().unwrap_or_default();
    mcp::ErrorData::missing_required_client_capability(
        serde_json::from_value(required).unwrap_or_default(),
    )
}

/// Our own faults carry the reference under which the log explains them.
pub fn with_reference(mut error: Error, call: kit::ids::CallId) -> Error {
    if error.is_internal() {
        error.details = Some(json!({ "reference": call.to_string() }));
        error.message = format!("{} (reference {call})", error.message.trim_end_matches('.'));
        error.message.push('.');
    }
    error
}

fn internal(error: serde_json::Error) -> mcp::ErrorData {
    tracing::error!(%error, "an answer could not be put into the protocol's shape");
    mcp::ErrorData::internal_error("Something went wrong on our side.", None)
}

/// What a result has itself; a tool's field of the same name does not replace it.
const OWN_FIELDS: [&str; 5] = [
    "resultType",
    "content",
    "structuredContent",
    "isError",
    "_meta",
];

/// The answer as a whole response, with its HTTP status. `id` is the request's
/// id as JSON text. With `flat`, the fields of the answer stand at the top of
/// the result too.
pub fn plain_response(id: &str, answer: Answer, to: &Destination<'_>, flat: bool) -> (u16, String) {
    let (content, structured, is_error) = match answer.result {
        Ok(Reply::Structured(json)) => (text_block(&json), Some(json), false),
        Ok(Reply::Content(blocks)) => (Value::Array(blocks).to_string(), None, false),
        Err(error) if error.code != MISSING_CAPABILITY => {
            let error = with_reference(error, answer.call);
            let (text, structured) = error.shown(to.window.refusals());
            (text_block(&text), Some(structured.to_string()), true)
        }
        // Rare and intricate: let the protocol crate's types say it.
        _ => return rare_response(id, answer, to),
    };
    let mut text =
        String::with_capacity(content.len() + structured.as_ref().map_or(0, String::len) + 320);
    text.push_str(r#"{"jsonrpc":"2.0","id":"#);
    text.push_str(id);
    text.push_str(r#","result":{"#);
    if to.stateless {
        text.push_str(r#""resultType":"complete","#);
    }
    text.push_str(r#""content":"#);
    text.push_str(&content);
    if let Some(structured) = structured {
        text.push_str(r#","structuredContent":"#);
        text.push_str(&structured);
        if flat {
            push_fields(&structured, &mut text);
        }
    }
    text.push_str(if is_error {
        r#","isError":true"#
    } else {
        r#","isError":false"#
    });
    text.push_str(r#","_meta":{"#);
    if to.stateless {
        text.push_str(r#""io.modelcontextprotocol/serverInfo":"#);
        text.push_str(&to.window.definitions.server_info);
        text.push(',');
    }
    text.push_str(r#""madoguchi/call":""#);
    text.push_str(&answer.call.to_string());
    text.push_str(r#""}}}"#);
    (200, text)
}

/// The members of an object, each after a comma.
fn push_fields(object: &str, into: &mut String) {
    let fields: BTreeMap<Cow<'_, str>, &RawValue> =
        serde_json::from_str(object).unwrap_or_default();
    for (name, value) in fields {
        if !OWN_FIELDS.contains(&name.as_ref()) {
            into.push(',');
            // A string always serialises.
            into.push_str(&serde_json::to_string(&name).unwrap_or_default());
            into.push(':');
            into.push_str(value.get());
        }
    }
}

fn rare_response(id: &str, answer: Answer, to: &Destination<'_>) -> (u16, String) {
    let id: Value = serde_json::from_str(id).unwrap_or_default();
    match response(answer, to) {
        Ok(response) => {
            let result = mcp::ServerResult::from(response);
            let message = json!({ "jsonrpc": "2.0", "id": id, "result": result });
            (200, message.to_string())
        }
        Err(error) => {
            let message = json!({ "jsonrpc": "2.0", "id": id, "error": error });
            let status = if error.code == mcp::ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY {
                400
            } else {
                200
            };
            (status, message.to_string())
        }
    }
}

fn text_block(text: &str) -> String {
    // A string always serialises.
    let escaped = serde_json::to_string(text).unwrap_or_default();
    format!(r#"[{{"type":"text","text":{escaped}}}]"#)
}
