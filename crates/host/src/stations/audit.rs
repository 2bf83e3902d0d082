//! One record for every call.
//!
//! A record is opened before the tool runs and written when it is closed; when
//! its call is dropped half-way, because the client went away, it is written as
//! abandoned. Refusals before a tool is known are counted per caller and second,
//! so that a flood stays cheap.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use jiff::Timestamp;
use kit::{Caller, Error, ids::CallId};

use crate::metrics::ToolMetrics;

pub struct Audit {
    sink: Arc<dyn Fn(&Record) + Send + Sync>,
    refusals: Mutex<Refusals>,
}

#[derive(Default)]
struct Refusals {
    second: i64,
    counts: HashMap<(String, &'static str), u64>,
}

#[derive(Debug, Clone)]
pub struct Record {
    pub call: CallId,
    pub caller: Caller,
    pub counter: &'static str,
    pub tool: &'static str,
    pub started: Instant,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// The tool refused, with this code.
    Refused(String),
    /// Something broke on our side; the text is for the log alone.
    Failed(String),
    /// The client went away before the call was through.
    Abandoned,
}

impl Outcome {
    pub fn of(result: Result<(), &Error>) -> Self {
        match result {
            Ok(()) => Self::Done,
            Err(error) if error.is_internal() => Self::Failed(
                error
                    .cause
                    .as_ref()
                    .map_or_else(|| error.message.clone(), ToString::to_string),
            ),
            Err(error) => Self::Refused(error.code.clone().into_owned()),
        }
    }
}

impl Audit {
    #[expect(
        clippy::new_without_default,
        reason = "there is nothing default about it"
    )]
    pub fn new() -> Self {
        Self::with_sink(Arc::new(log))
    }

    pub fn with_sink(sink: Arc<dyn Fn(&Record) + Send + Sync>) -> Self {
        Self {
            sink,
            refusals: Mutex::default(),
        }
    }

    pub fn open<'a>(&'a self, record: Record, metrics: Option<&'a ToolMetrics>) -> OpenRecord<'a> {
        OpenRecord {
            record,
            metrics,
            audit: self,
        }
    }

    pub fn refused(&self, caller: &str, counter: &'static str, now: Timestamp) {
        self.report_refusals(now);
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        *refusals
            .counts
            .entry((caller.to_owned(), counter))
            .or_default() += 1;
    }

    /// Logs the counts of seconds that have passed.
    pub fn report_refusals(&self, now: Timestamp) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        if refusals.second == now.as_second() {
            return;
        }
        refusals.second = now.as_second();
        for ((caller, counter), count) in std::mem::take(&mut refusals.counts) {
            tracing::warn!(%caller, counter, count, "requests refused");
        }
    }
}

/// A record that writes and counts itself, at the latest when it is dropped.
pub struct OpenRecord<'a> {
    record: Record,
    metrics: Option<&'a ToolMetrics>,
    audit: &'a Audit,
}

impl OpenRecord<'_> {
    pub fn close(&mut self, outcome: Outcome) {
        self.record.outcome = outcome;
    }
}

impl Drop for OpenRecord<'_> {
    fn drop(&mut self) {
        if let Some(metrics) = self.metrics {
            let done = self.record.outcome == Outcome::Done;
            metrics.observe(self.record.started.elapsed(), done);
        }
        (self.audit.sink)(&self.record);
    }
}

/// One line per failed call; what went well is for those who ask for more.
fn log(record: &Record) {
    let Record {
        call,
        caller,
        counter,
        tool,
        started,
        outcome,
    } = record;
    let ms = started.elapsed().as_secs_f64() * 1000.0;
    let caller = &caller.id;
    match outcome {
        Outcome::Done => tracing::debug!(%call, %caller, counter, tool, ms, "call done"),
        Outcome::Refused(code) => {
            tracing::info!(%call, %caller, counter, tool, ms, code, "call refused");
        }
        Outcome::Failed(cause) => {
            tracing::error!(%call, %caller, counter, tool, ms, cause, "call failed");
        }
        Outcome::Abandoned => {
            tracing::info!(%call, %caller, counter, tool, ms, "call abandoned by its client");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            call: CallId::new(),
            caller: Caller::anonymous(),
            counter: "cinema",
            tool: "get_movie_list",
            started: Instant::now(),
            outcome: Outcome::Abandoned,
        }
    }

    #[test]
    fn every_call_leaves_exactly_one_record() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let audit = Audit::with_sink(Arc::new({
            let seen = Arc::clone(&seen);
            move |record: &Record| seen.lock().unwrap().push(record.outcome.clone())
        }));
        let mut done = audit.open(record(), None);
        done.close(Outcome::Done);
        drop(done);
        drop(audit.open(record(), None));
        assert_eq!(*seen.lock().unwrap(), [Outcome::Done, Outcome::Abandoned]);
    }
}
