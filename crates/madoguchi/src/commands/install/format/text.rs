//! What all formats share.

use serde_json::{Map, Value};

/// One server in a client's configuration.
pub type Entry = Map<String, Value>;

/// Why a text can't be edited.
#[derive(Debug, PartialEq, Eq)]
pub enum Problem {
    /// Line and column start at 1.
    Syntax {
        line: usize,
        column: usize,
        message: String,
    },
    /// The text is valid, but in a form that is not edited.
    Form(String),
}

/// Line and column of a byte of the text, both from 1.
pub fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default();
    (line, column.chars().count() + 1)
}

/// What ends the lines of a text.
pub fn line_break(text: &str) -> &'static str {
    match text.contains("\r\n") {
        true => "\r\n",
        false => "\n",
    }
}
