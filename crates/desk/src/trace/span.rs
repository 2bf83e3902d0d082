//! A piece of work with its beginning and end, as it is exported.

use std::{borrow::Cow, sync::Arc};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub trace_id: u128,
    pub span_id: u64,
    /// 0: it is the first of its trace.
    pub parent: u64,
    pub state: Option<Arc<str>>,
    pub name: Cow<'static, str>,
    pub kind: SpanKind,
    /// Nanoseconds since 1970.
    pub start: u64,
    pub end: u64,
    pub attributes: Vec<(&'static str, Attribute)>,
    /// Whether the work failed.
    pub failed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    Internal,
    /// Answers a request of somebody else.
    Server,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attribute {
    Text(Cow<'static, str>),
}

impl From<&'static str> for Attribute {
    fn from(text: &'static str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Attribute {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}
