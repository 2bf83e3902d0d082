//! A call as the audit station knows it, and its line in the log.

use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

use kit::{Caller, ids::CallId};

use crate::audit::{entry::Outcome, redact::RedactedArguments};

#[derive(Debug, Clone)]
pub struct CallRecord {
    pub call: CallId,
    pub caller: Caller,
    /// Where the call came from; `None` for a local process.
    pub address: Option<IpAddr>,
    pub counter: &'static str,
    pub tool: &'static str,
    /// Whether the tool can change something.
    pub writes: bool,
    /// Whether a row about it is committed with the change.
    pub has_ledger_row: bool,
    pub started: Instant,
    pub outcome: Outcome,
    /// For how long it waited for a person's decision.
    pub waited: Duration,
    /// The approval or standing grant with which it ran.
    pub approval: Option<String>,
    pub arguments: RedactedArguments,
}

/// One line per call; successful ones only at level debug.
pub fn log(record: &CallRecord) {
    let CallRecord {
        call,
        caller,
        counter,
        tool,
        started,
        outcome,
        ..
    } = record;
    // Most calls are not logged, and then the clock is not read.
    let ms = || started.elapsed().as_secs_f64() * 1000.0;
    let caller = &caller.id;
    match outcome {
        Outcome::Done => tracing::debug!(%call, %caller, counter, tool, ms = ms(), "call done"),
        Outcome::Asked => {
            tracing::debug!(%call, %caller, counter, tool, ms = ms(), "call asks its client")
        }
        Outcome::Refused(code) => {
            tracing::info!(%call, %caller, counter, tool, ms = ms(), code, "call refused");
        }
        Outcome::Failed(cause) => {
            tracing::error!(%call, %caller, counter, tool, ms = ms(), cause, "call failed");
        }
        Outcome::Abandoned => {
            tracing::info!(%call, %caller, counter, tool, ms = ms(), "call abandoned by its client");
        }
    }
}
