//! What is to be recorded.

use std::sync::Arc;

use super::redact::Kept;

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// The client has to ask its user first, and call again.
    Asked,
    /// The tool refused, with this code.
    Refused(String),
    /// Something broke on our side; the text is for the log alone.
    Failed(String),
    /// The client went away before the call was through.
    Abandoned,
}

impl Outcome {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Asked => "asked",
            Self::Refused(_) => "refused",
            Self::Failed(_) => "failed",
            Self::Abandoned => "abandoned",
        }
    }
}

/// What is to be recorded.
#[derive(Debug)]
pub enum Entry {
    Call(Box<CallEntry>),
    /// Requests refused before a tool was known, in one second.
    Refused {
        at: i64,
        caller: Arc<str>,
        counter: &'static str,
        count: u64,
    },
    /// A call whose process died before it could record it.
    Recovered(Box<RecoveredEntry>),
    /// Records that found no room while the trail could not be written.
    Lost {
        at: i64,
        count: u64,
    },
}

impl Entry {
    /// The call of this process that it is about.
    pub fn call(&self) -> Option<&str> {
        match self {
            Self::Call(call) => Some(&call.call),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub struct CallEntry {
    /// When it was answered. Milliseconds since 1970, as all times here.
    pub at: i64,
    pub call: String,
    pub caller: Arc<str>,
    pub caller_name: Arc<str>,
    pub counter: &'static str,
    pub tool: &'static str,
    pub outcome: Outcome,
    pub ms: f64,
    pub approval: Option<String>,
    pub kept: Kept,
}

#[derive(Debug, Clone)]
pub struct RecoveredEntry {
    pub at: i64,
    pub call: String,
    pub caller: String,
    pub counter: String,
    pub tool: String,
    /// The segment that lacks it.
    pub segment: String,
    /// The digest of the arguments in the row.
    pub digest: String,
    /// The approval it used, if it needed one.
    pub approval: Option<String>,
}
