//! What is to be recorded.

use std::sync::Arc;

use super::redact::RedactedArguments;

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// The client has to ask its user first, and call again.
    Asked,
    /// The call was refused with this code.
    Refused(String),
    /// Something broke on our side. The text goes to the log only.
    Failed(String),
    /// The client disconnected before the call ended.
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
pub enum AuditEntry {
    Call(Box<CallEntry>),
    /// How many requests were refused within one second before their tool was
    /// known.
    Refused(Box<RefusedCount>),
    /// How many calls of one tool by one caller within a minute only read something.
    Reads(Box<ReadCount>),
    /// A call whose process died before it wrote the record.
    Recovered(Box<RecoveredEntry>),
    /// How many records were lost because the trail could not be written.
    Lost {
        at: i64,
        count: u64,
    },
}

impl AuditEntry {
    /// The id of the call, for an entry about a call of this process.
    pub fn call(&self) -> Option<&str> {
        match self {
            Self::Call(call) => Some(&call.call),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub struct CallEntry {
    /// When it was answered. Milliseconds since 1970, like all times here.
    pub at: i64,
    pub call: String,
    pub caller: Arc<str>,
    pub caller_name: Arc<str>,
    pub counter: &'static str,
    pub tool: &'static str,
    pub outcome: Outcome,
    pub ms: f64,
    /// How much of that it waited for a person's decision.
    pub waited_ms: f64,
    pub approval: Option<String>,
    pub arguments: RedactedArguments,
}

#[derive(Debug)]
pub struct RefusedCount {
    pub at: i64,
    pub caller: Arc<str>,
    /// `None` if it is not known who it was.
    pub caller_name: Option<Arc<str>>,
    pub counter: &'static str,
    /// Why they were refused.
    pub code: &'static str,
    pub count: u64,
}

#[derive(Debug)]
pub struct ReadCount {
    pub caller: Arc<str>,
    pub caller_name: Arc<str>,
    pub counter: &'static str,
    pub tool: &'static str,
    pub count: u64,
    /// When the first and the last was answered.
    pub first: i64,
    pub last: i64,
    /// How long all of them took together.
    pub ms: f64,
}

#[derive(Debug, Clone)]
pub struct RecoveredEntry {
    pub at: i64,
    pub call: String,
    pub caller: String,
    pub counter: String,
    pub tool: String,
    /// The segment in which it is missing.
    pub segment: String,
    /// The digest of the arguments, from the row.
    pub digest: String,
    /// The approval that it used, if any.
    pub approval: Option<String>,
}
