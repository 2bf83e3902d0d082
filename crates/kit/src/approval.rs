//! What a person sees who is asked to approve a call.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Context, Result, Sql};

/// A call in a person's words. A tool that knows more than its arguments say
/// (the film behind a schedule's id, the address behind a contact's name)
/// writes it itself; for the others the desk lists the arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// One line: what will happen.
    pub summary: String,
    /// To whom, or with what; a standing grant is for the tool and this. `None`
    /// where a tool has nobody on the other side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    /// The particulars: absolute times with their zone, full texts.
    pub lines: Vec<Line>,
    /// It can be approved this time only: a standing grant is not offered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once_only: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    pub label: String,
    pub text: String,
}

impl Line {
    pub fn new(label: &str, text: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            text: text.into(),
        }
    }
}

/// Reads what it needs from the counter's store, in the language of the context.
pub type Describe = Arc<dyn Fn(&Context, &mut dyn Sql, &Value) -> Result<Card> + Send + Sync>;
