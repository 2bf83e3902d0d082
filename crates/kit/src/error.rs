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
/// An argument that the tool does not know.
pub const UNKNOWN_ARGUMENT: &str = "UNKNOWN_ARGUMENT";
/// The client lacks a capability that the tool needs. This is a protocol error, not
/// a tool's. See [`Error::missing_capability`].
pub const MISSING_CAPABILITY: &str = "MISSING_CLIENT_CAPABILITY";
/// The tool took longer than its time limit.
pub const TIMEOUT: &str = "TIMEOUT";
/// The call was cancelled before its work was committed.
pub const CANCELLED: &str = "CANCELLED";
/// The database can't be reached at present. Nothing was changed, and
/// `details.retry_after_ms` says when to try again.
pub const UNAVAILABLE: &str = "UNAVAILABLE";
/// It could not be found out whether the change was made.
pub const OUTCOME_UNKNOWN: &str = "OUTCOME_UNKNOWN";

/// The cause of an error after which the same work may succeed at once: only its
/// connection to the database was lost.
#[derive(Debug)]
pub struct Interrupted(pub String);

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Interrupted {}

/// Characters of an error, its details included. More costs an agent more than it
/// explains.
pub const LONGEST_ERROR: usize = 1500;

/// The shape of a counter's errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorShape {
    /// `{"error": {"code", "message", "details"?}}`, and a line of text.
    Nested,
    /// `{"status": "error", "error": "what happened", "code", "message", "details"?}`,
    /// which is also the text. `message` is fit to be read out, as in every answer of
    /// such a counter.
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
    /// What happened, to be read out to a person, in English and in Japanese; `None`:
    /// `message`.
    pub spoken: Option<Box<[String; 2]>>,
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
            spoken: None,
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

    /// For an error with [`UNAVAILABLE`]: the milliseconds after which to try again.
    pub fn retry_after_ms(&self) -> Option<u64> {
        let is_away = self.code == UNAVAILABLE;
        let details = self.details.as_ref().filter(|_| is_away)?;
        details.get("retry_after_ms")?.as_u64()
    }

    /// Whether the database was lost in the middle of work that wrote nothing.
    pub fn is_interrupted(&self) -> bool {
        let cause = self.cause.as_ref();
        cause.is_some_and(|cause| cause.is::<Interrupted>())
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

    /// What a voice says to the person: no names of arguments, tools or commands.
    #[must_use]
    pub fn spoken(mut self, english: impl Into<String>, japanese: impl Into<String>) -> Self {
        self.spoken = Some(Box::new([english.into(), japanese.into()]));
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
        // Such an error is the agent's, and names arguments.
        if self.spoken.is_none() && matches!(&*self.code, INVALID_ARGUMENT | UNKNOWN_ARGUMENT) {
            self = self.spoken(
                "Something in that request was wrong, so I did nothing.",
                "依頼の内容に誤りがあったため、何も行っていません。",
            );
        }
        if language == Language::Japanese
            && let Some([english, japanese]) = self.spoken.as_deref_mut()
        {
            std::mem::swap(english, japanese);
        }
        self
    }

    /// The sentences to read out, in the language of the text.
    fn read_out(&self) -> String {
        match self.spoken.as_deref() {
            Some([said, _]) => said.clone(),
            None => self.message.replace('`', ""),
        }
    }

    /// Cuts an error to 1,500 characters. Many errors quote an argument, and a client
    /// should not get a megabyte of its own text back. Long lists in the details are
    /// cut first, then long texts.
    #[must_use]
    pub fn shortened(mut self, shape: ErrorShape) -> Self {
        for (sentence, items, text) in [(400, 50, 500), (400, 10, 200), (250, 5, 60), (100, 0, 0)] {
            cut(&mut self.message, sentence);
            if let Some(next) = &mut self.next {
                cut(next, sentence);
            }
            if self.length(shape) <= LONGEST_ERROR {
                break;
            }
            match &mut self.details {
                Some(details) if items > 0 => cut_values(details, items, text),
                details => *details = None,
            }
        }
        self
    }

    /// Characters of the JSON that a client gets.
    fn length(&self, shape: ErrorShape) -> usize {
        self.shown(shape).1.to_string().chars().count()
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
                    "status": "error", "error": self.sentences(), "code": self.code,
                    "message": self.read_out(),
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

/// Whether a refusal with this code leaves open if something was changed. A call can be
/// cut off by its client or its time limit after the commit has begun.
pub fn may_have_changed_something(code: &str) -> bool {
    [TIMEOUT, CANCELLED, OUTCOME_UNKNOWN].contains(&code)
}

fn cut(text: &mut String, characters: usize) {
    if let Some((end, _)) = text.char_indices().nth(characters) {
        text.truncate(end);
        text.push('…');
    }
}

/// Cuts the lists and texts in a value.
fn cut_values(value: &mut Value, items: usize, characters: usize) {
    match value {
        Value::String(text) => cut(text, characters),
        Value::Array(list) => {
            list.truncate(items);
            for item in list {
                cut_values(item, items, characters);
            }
        }
        Value::Object(object) => {
            for field in object.values_mut() {
                cut_values(field, items, characters);
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_error_is_cut_and_a_short_one_stays() {
        let short = json!({ "seats": vec!["A1"; 40], "note": "あ".repeat(100) });
        let error = Error::new("TAKEN", "Taken.").details(short.clone());
        let error = error.shortened(ErrorShape::Flat);
        assert_eq!(error.details, Some(short));

        let long_texts = json!({ "field": "title", "value": "あ".repeat(100_000) });
        let long_lists = json!({ "valid": vec!["a name of some length"; 10_000] });
        let deep = json!({ "a": vec![json!({ "b": vec!["x".repeat(300); 30] }); 30] });
        for details in [long_texts, long_lists, deep] {
            for (sentence, shape) in [("long ", ErrorShape::Nested), ("\"'\n", ErrorShape::Flat)] {
                let error = Error::new("TOO_LONG", sentence.repeat(1_000))
                    .next(sentence.repeat(1_000))
                    .details(details.clone())
                    .shortened(shape);
                let length = error.length(shape);
                assert!(length <= LONGEST_ERROR, "{length} characters");
                assert!(error.message.starts_with(sentence));
            }
        }
    }

    #[test]
    fn an_error_speaks_the_callers_language() {
        let error = || {
            Error::new("A", "English.")
                .next("Next.")
                .japanese("日本語。")
                .spoken("Said.", "話した。")
        };
        let english = error().in_language(Language::English);
        assert_eq!(english.text(), "A: English. Next.");
        assert_eq!(english.read_out(), "Said.");
        let japanese = error().in_language(Language::Japanese);
        assert_eq!(japanese.text(), "A: 日本語。");
        assert_eq!(japanese.read_out(), "話した。");
        let untranslated = Error::new("A", "Only `English`.").in_language(Language::Japanese);
        assert_eq!(untranslated.text(), "A: Only `English`.");
        assert_eq!(untranslated.read_out(), "Only English.");
        // What is wrong with an argument is for the agent, not for the person.
        for code in [INVALID_ARGUMENT, UNKNOWN_ARGUMENT] {
            let error = Error::new(code, "`n` is wrong.").in_language(Language::English);
            assert!(error.read_out().starts_with("Something in that request"));
        }
    }

    #[test]
    fn an_error_is_shown_in_the_shape_of_its_counter() {
        let error = Error::new("A", "What.").next("Next.");
        let (text, json) = error.shown(ErrorShape::Nested);
        assert_eq!(text, "A: What. Next.");
        let expected = json!({ "error": { "code": "A", "message": "What. Next." } });
        assert_eq!(json, expected);
        let error = error.details(json!({ "n": 1 }));
        assert_eq!(error.structured()["error"]["details"], json!({ "n": 1 }));
        let (text, json) = error.shown(ErrorShape::Flat);
        let expected = json!({
            "status": "error", "error": "What. Next.", "code": "A", "message": "What.",
            "details": { "n": 1 },
        });
        assert_eq!(json, expected);
        assert_eq!(text, json.to_string());
    }

    #[test]
    fn kinds_of_errors_are_told_apart() {
        let wait = json!({ "retry_after_ms": 5 });
        let away = Error::new(UNAVAILABLE, "Away.").details(wait.clone());
        assert_eq!(away.retry_after_ms(), Some(5));
        let other = Error::new("OTHER", "Other.").details(wait);
        assert_eq!(other.retry_after_ms(), None);
        let lost = Error::new("LOST", "Lost.").cause(Interrupted("gone".into()));
        assert!(lost.is_interrupted() && !lost.is_internal());
        assert!(!Error::internal("gone").is_interrupted());
        assert!(Error::internal("gone").is_internal());
        for (code, may) in [(TIMEOUT, true), (CANCELLED, true), (INTERNAL, false)] {
            assert_eq!(may_have_changed_something(code), may, "{code}");
        }
    }
}
