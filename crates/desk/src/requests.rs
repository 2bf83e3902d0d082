//! What the pipeline takes and what it answers, whatever the transport.

use std::{net::IpAddr, sync::Arc};

use kit::{
    Context, Error, Reply,
    context::{Client, Language},
    error::UNAVAILABLE,
    ids::CallId,
};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{
    methods::Method,
    stations::{
        authorize::ReadTarget,
        identify::{Identified, Unidentified},
        limit::{self, NotAdmitted},
    },
    trace::{Arrival, TraceContext},
};

/// A caller who passed `identify` and `limit`.
#[derive(Debug, Clone)]
pub struct Admitted {
    pub who: Identified,
    /// Where the request comes from; `None` for a local process.
    pub address: Option<IpAddr>,
    /// `None` while calls are not traced.
    pub arrival: Option<Arc<Arrival>>,
}

impl Admitted {
    /// The trace of which the caller says that it is part. A later one wins: the
    /// message itself knows better than its transport.
    pub fn with_parent(mut self, parent: impl FnOnce() -> Option<TraceContext>) -> Self {
        if let Some(arrival) = &mut self.arrival
            && let Some(parent) = parent()
        {
            Arc::make_mut(arrival).parent = Some(parent);
        }
        self
    }
}

/// A tool call, independent of the protocol revision.
pub struct ToolCall {
    pub admitted: Admitted,
    pub name: String,
    pub arguments: Map<String, Value>,
    pub client: Arc<dyn Client>,
    pub cancel: CancellationToken,
    /// The requested language; `None`: detect it from the arguments.
    pub language: Option<Language>,
}

/// A request that shows data without a tool call.
pub struct ReadRequest<'a> {
    pub from: &'a Admitted,
    pub method: Method,
    pub target: ReadTarget<'a>,
    pub context: &'a Context,
}

/// The tool's reply or its error. Both are results, not protocol errors.
#[derive(Debug)]
pub struct Answer {
    /// Also in the log, so that a caller can quote it.
    pub call: CallId,
    pub result: Result<Reply, Error>,
}

/// A refusal before any tool was reached: a JSON-RPC error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    InvalidKey,
    /// The key is valid, but not for this counter.
    OutOfScope {
        counter: &'static str,
    },
    RateLimited {
        retry_after_ms: u64,
    },
    /// The desk can't reach its database, so it does not know the key, the policies or
    /// the count of requests.
    Unavailable {
        retry_after_ms: u64,
    },
    /// The method is not supported. The text lists those that are.
    UnknownMethod(String),
    UnknownTool {
        call: CallId,
        name: String,
        nearest: Option<String>,
    },
}

impl Refusal {
    pub fn of(why: &Unidentified, counter: &'static str) -> Self {
        match why {
            Unidentified::InvalidKey => Self::InvalidKey,
            Unidentified::OutOfScope(_) => Self::OutOfScope { counter },
            Unidentified::Unavailable => Self::Unavailable {
                retry_after_ms: limit::UNREADABLE_MS,
            },
        }
    }

    /// What the audit trail calls it.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidKey => "INVALID_KEY",
            Self::OutOfScope { .. } => "OUT_OF_SCOPE",
            Self::RateLimited { .. } => "RATE_LIMITED",
            Self::Unavailable { .. } => UNAVAILABLE,
            Self::UnknownMethod(_) => "UNKNOWN_METHOD",
            Self::UnknownTool { .. } => "UNKNOWN_TOOL",
        }
    }
}

impl From<NotAdmitted> for Refusal {
    fn from(why: NotAdmitted) -> Self {
        match why {
            NotAdmitted::OverLimit { retry_after_ms } => Self::RateLimited { retry_after_ms },
            NotAdmitted::Unavailable => Self::Unavailable {
                retry_after_ms: limit::UNREADABLE_MS,
            },
        }
    }
}
