//! The trace that a caller is part of: from the headers of a request, or from `_meta`
//! of a message, which wins.

use desk::trace::TraceContext;
use http::HeaderMap;
use serde_json::value::RawValue;

const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";

pub fn of_headers(headers: &HeaderMap) -> Option<TraceContext> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let mut parents = headers.get_all(PARENT).iter();
    // Of two, nobody knows which is meant.
    let is_one = parents.next().is_some() && parents.next().is_none();
    is_one.then(|| TraceContext::parse(text(PARENT), text(STATE)))?
}

/// Values of `_meta`, which may be of any kind.
pub fn of_meta(parent: Option<&RawValue>, state: Option<&RawValue>) -> Option<TraceContext> {
    let text = |value: &RawValue| serde_json::from_str::<String>(value.get()).ok();
    let (parent, state) = (parent.and_then(text), state.and_then(text));
    TraceContext::parse(parent.as_deref(), state.as_deref())
}
