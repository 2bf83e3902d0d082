//! Refusals and errors in the protocol's form.

use std::borrow::Cow;

use desk::{
    methods,
    pipeline::Refusal,
    stations::authorize::{
        DENIED_BY_POLICY, FORBIDDEN, RESOURCE_NOT_FOUND, ReadTarget, TOOL_NOT_OFFERED,
        UNKNOWN_PROMPT, UNKNOWN_TEMPLATE,
    },
};
use kit::{
    Error,
    error::{CANCELLED, TIMEOUT, UNAVAILABLE},
    ids::CallId,
};
use rmcp::model as mcp;
use serde_json::{Value, json};

use super::{definitions::PublishedCounter, tool_result::CALL_META};
use crate::address_limits::OverLimit;

/// As much of a caller's own text as an error quotes.
const QUOTED: usize = 200;

/// A text of the caller's, for an error: the whole of it only when it is short.
pub fn quoted(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(QUOTED) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(text.get(..end).unwrap_or_default().to_owned() + "…"),
    }
}

/// Explains the protocol crate's error for a method that the request's revision
/// lacks, which is the method's name alone.
pub fn explain(error: &mut mcp::ErrorData, published: &PublishedCounter) {
    if error.code == mcp::ErrorCode::METHOD_NOT_FOUND && !error.message.contains(' ') {
        error.message = Cow::Owned(methods::not_found(&published.counter, &error.message));
    }
}

/// The same for an error that is JSON already.
pub fn explain_value(error: &mut Value, published: &PublishedCounter) {
    if let Ok(mut read) = serde_json::from_value::<mcp::ErrorData>(error.clone()) {
        explain(&mut read, published);
        *error = json!(read);
    }
}

/// Errors of the protocol crate quote what they refuse at any length.
pub fn shorten(error: &mut mcp::ErrorData) {
    // Leaves room for the error's own words beside the quotation.
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
            Refusal::OutOfScope { counter } => Self {
                code: 403,
                message: format!(
                    "This key does not open {counter}. Use one whose scope names it (madoguchi keys create)."
                ),
                data: None,
            },
            Refusal::RateLimited { retry_after_ms } => Self {
                code: 429,
                message: "Rate limit exceeded".into(),
                data: Some(json!({ "retry_after_ms": retry_after_ms })),
            },
            Refusal::Unavailable { retry_after_ms } => Self {
                code: 503,
                message: "The database can't be reached. Nothing was done; try again in a moment."
                    .into(),
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

impl From<OverLimit> for Fault {
    fn from(barred: OverLimit) -> Self {
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

/// The error for a read that was refused or failed.
pub fn read_refused(error: Error, call: CallId, target: &ReadTarget<'_>) -> mcp::ErrorData {
    if error.is_internal() {
        let cause = error.cause;
        tracing::error!(%call, ?cause, "a read failed");
        let message = format!("Something went wrong on our side (reference {call}).");
        return mcp::ErrorData::internal_error(message, None);
    }
    match (&*error.code, target) {
        (RESOURCE_NOT_FOUND, ReadTarget::Resources([uri])) => {
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
        (TIMEOUT | CANCELLED | UNAVAILABLE, _) => {
            mcp::ErrorData::internal_error(error.text(), Some(error.structured()))
        }
        _ => mcp::ErrorData::invalid_params(error.text(), Some(error.structured())),
    }
}

/// Whether a completion was asked for an unknown prompt or template.
pub fn is_unknown_reference(error: &mcp::ErrorData) -> bool {
    let data = error.data.as_ref();
    let code = data.and_then(|data| data.pointer("/error/code"));
    code.is_some_and(|code| code == UNKNOWN_PROMPT || code == UNKNOWN_TEMPLATE)
}

/// The `error` of a JSON-RPC message.
pub fn error_object(fault: &Fault) -> Value {
    match &fault.data {
        Some(data) => json!({ "code": fault.code, "message": fault.message, "data": data }),
        None => json!({ "code": fault.code, "message": fault.message }),
    }
}

/// A whole JSON-RPC error message.
pub fn error_message(id: Option<&Value>, fault: &Fault) -> Value {
    let error = error_object(fault);
    json!({ "jsonrpc": "2.0", "id": id.unwrap_or(&Value::Null), "error": error })
}
