//! The data types and rules, without any I/O.
//!
//! `lines` and `markdown_blocks` parse Markdown, `task_text` one task's line, `board`
//! all of `task.md`. `edit` changes the board with `rewrite`, `placement` and
//! `subtasks`. `document`, `context`, `adr` and `index_page` handle the other
//! files. `graph` holds dependencies, `merge` merges two changes of one text.

pub mod adr;
pub mod adr_write;
pub mod board;
pub mod context;
pub mod document;
pub mod edit;
pub mod graph;
pub mod index_page;
pub mod lines;
pub mod markdown_blocks;
pub mod merge;
pub mod numbers;
pub mod placement;
pub mod rewrite;
pub mod subtasks;
pub mod task_text;

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The highest number of a task or an ADR.
pub const MOST: u16 = 999;
pub const MOST_SUBTASKS: usize = 20;
pub const TITLE_LENGTH: usize = 100;
pub const CATEGORY_LENGTH: usize = 50;
pub const DESCRIPTION_LENGTH: usize = 500;
pub const CONTENT_LENGTH: usize = 10_000;
pub const SECTION_LENGTH: usize = 50;
pub const ADR_TEXT_LENGTH: usize = 2_000;
pub const REASON_LENGTH: usize = 500;
pub const QUERY_LENGTH: usize = 200;

/// The category of tasks above the first `##` heading.
pub const DEFAULT_CATEGORY: &str = "Default";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Todo,
    InProgress,
    Done,
}

impl Status {
    /// Reads the character between the brackets. Unknown marks count as
    /// todo.
    pub fn of_mark(mark: char) -> Self {
        match mark {
            'x' | 'X' => Self::Done,
            '-' => Self::InProgress,
            _ => Self::Todo,
        }
    }

    pub fn mark(self) -> &'static str {
        match self {
            Self::Todo => " ",
            Self::InProgress => "-",
            Self::Done => "x",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "todo" => Some(Self::Todo),
            "in_progress" => Some(Self::InProgress),
            "done" => Some(Self::Done),
            _ => None,
        }
    }
}

/// `T001` to `T999`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u16);

impl TaskId {
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('T')?;
        let whole = digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
        whole.then(|| digits.parse().ok().map(Self)).flatten()
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "T{:03}", self.0)
    }
}

impl JsonSchema for TaskId {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "TaskId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^T[0-9]{3}$" })
    }
}

impl Serialize for TaskId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A title for a list. Lines written by people can be very long.
pub fn listed(title: &str) -> String {
    shortened(title, 2 * TITLE_LENGTH)
}

/// A text cut to this many characters.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", lines::slice(text, 0..end)),
        None => text.to_owned(),
    }
}

/// Names by how much they resemble `name`, the nearest first.
pub fn nearest_first<'a>(mut names: Vec<&'a str>, name: &str) -> Vec<&'a str> {
    let folded = kit::text::fold(name);
    let likeness = |other: &str| kit::text::similarity(&kit::text::fold(other), &folded);
    names.sort_by(|one, other| likeness(other).total_cmp(&likeness(one)));
    names
}

/// One line of text: line breaks and other control characters become spaces.
pub fn one_line(text: &str) -> String {
    let spaced = text.replace(
        |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}'),
        " ",
    );
    let mut line = String::with_capacity(spaced.len());
    for word in spaced.split(' ').filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line.trim().to_owned()
}

#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod property_tests;
