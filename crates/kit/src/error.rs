//! One error type for all counters, with two audiences.
//!
//! The caller reads `code`, `message`, `next` and `details`; only the log sees
//! `cause`. Use [`Error::new`] for what the caller did or asked for, and
//! [`Error::internal`] for what went wrong on our side.

use std::{borrow::Cow, fmt};

use serde_json::{Value, json};

use crate::language::Language;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure that the caller can't fix.
pub const INTERNAL: &str = "INTERNAL_ERROR";
/// A broken schema rule for which the tool has no code of its own.
pub const INVALID_ARGUMENT: &str = "INVALID_ARGUMENT";
/// The client lacks a capability that the tool needs. This is a protocol error, not
/// a tool's. See [`Error::missing_capability`].
pub const MISSING_CAPABILITY: &str = "MISSING_CLIENT_CAPABILITY";
/// The tool took longer than its time limit.
pub const TIMEOUT: &str = "TIMEOUT";
/// The call was cancelled before its work was committed.
pub const CANCELLED: &str = "CANCELLED";

/// Characters of one text in an error.
const LONGEST_TEXT: usize = 2000;

/// The shape of a counter's errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorShape {
    /// `{"error": {"code", "message", "details"?}}`, and a line of text.
    Nested,
    /// `{"status": "error", "error": "what happened", "code", "details"?}`, which is
    /// also the text.
    Flat,
}

#[derive(Debug)]
pub struct Error {
    /// Stable, UPPER_SNAKE; clients branch on it.
    pub code: Cow<'static, str>,
    /// What happened, one sentence.
    pub message: String,
    /// What to do next, one sentence.
    pub next: Option<String>,
    /// Both sentences in Japanese, if there is a translation.
    pub japanese: Option<String>,
    /// Machine-readable details.
    pub details: Option<Value>,
    /// For the log only: never shown to a caller.
    pub cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    pub fn new(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            next: None,
            japanese: None,
            details: None,
            cause: None,
        }
    }

    pub fn internal(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let mut error = Self::new(INTERNAL, "Something went wrong on our side.");
        error.next = Some("Try again; if it persists, tell the operator the reference.".into());
        error.cause = Some(cause.into());
        error
    }

    /// `required` in the protocol's words: `{"sampling": {}}`.
    pub fn missing_capability(required: Value) -> Self {
        Self::new(
            MISSING_CAPABILITY,
            "The client does not offer what this tool needs.",
        )
        .details(required)
    }

    pub fn cancelled() -> Self {
        Self::new(
            CANCELLED,
            "The call was cancelled before anything was done.",
        )
    }

    pub fn timeout() -> Self {
        Self::new(TIMEOUT, "The call took longer than its time limit.")
            .next("Nothing was changed; try again.")
    }

    #[must_use]
    pub fn next(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }

    /// What happened and what to do next, in Japanese.
    #[must_use]
    pub fn japanese(mut self, sentences: impl Into<String>) -> Self {
        self.japanese = Some(sentences.into());
        self
    }

    /// Switches to the Japanese text if the caller uses Japanese.
    #[must_use]
    pub fn in_language(mut self, language: Language) -> Self {
        if language == Language::Japanese
            && let Some(sentences) = self.japanese.take()
        {
            self.message = sentences;
            self.next = None;
        }
        self
    }

    /// Cuts texts at 2,000 characters. Many errors quote an argument, and a client
    /// should not get a megabyte of its own text back.
    #[must_use]
    pub fn shortened(mut self) -> Self {
        cut(&mut self.message);
        if let Some(next) = &mut self.next {
            cut(next);
        }
        if let Some(details) = &mut self.details {
            cut_texts(details);
        }
        self
    }

    #[must_use]
    pub fn details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    #[must_use]
    pub fn cause(mut self, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// `true` if the fault is ours and is logged as an error.
    pub fn is_internal(&self) -> bool {
        self.code == INTERNAL
    }

    /// `CODE: what happened. What to do next.`
    pub fn text(&self) -> String {
        match &self.next {
            Some(next) => format!("{}: {} {next}", self.code, self.message),
            None => format!("{}: {}", self.code, self.message),
        }
    }

    /// `{"error": {"code", "message", "details"?}}`, the shape of nearly all counters.
    pub fn structured(&self) -> Value {
        let message = self.sentences();
        match &self.details {
            Some(details) => json!({
                "error": { "code": self.code, "message": message, "details": details }
            }),
            None => json!({ "error": { "code": self.code, "message": message } }),
        }
    }

    /// What a client gets: the text and `structuredContent`.
    pub fn shown(&self, shape: ErrorShape) -> (String, Value) {
        match shape {
            ErrorShape::Nested => (self.text(), self.structured()),
            ErrorShape::Flat => {
                let mut flat = json!({
                    "status": "error", "error": self.sentences(), "code": self.code
                });
                if let (Some(details), Some(object)) = (&self.details, flat.as_object_mut()) {
                    object.insert("details".into(), details.clone());
                }
                (flat.to_string(), flat)
            }
        }
    }

    fn sentences(&self) -> String {
        match &self.next {
            Some(next) => format!("{} {next}", self.message),
            None => self.message.clone(),
        }
    }
}

fn cut(text: &mut String) {
    if let Some((end, _)) = text.char_indices().nth(LONGEST_TEXT) {
        text.truncate(end);
        text.push('…');
    }
}

fn cut_texts(value: &mut Value) {
    match value {
        Value::String(text) => cut(text),
        Value::Array(items) => items.iter_mut().for_each(cut_texts),
        Value::Object(object) => object.values_mut().for_each(cut_texts),
        _ => {}
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}
