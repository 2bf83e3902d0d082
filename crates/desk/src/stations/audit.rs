//! Leaves one record for every call.
//!
//! A record is opened before the tool runs and written when it is closed. If the call
//! is dropped because its client disconnected, it is written as abandoned. Refusals
//! before the tool is known are counted per caller, reason and second, so that a flood
//! stays cheap. `crate::audit` writes and stores the records.
//!
//! While the trail can't be written, for example because the disk is full, calls are
//! answered nevertheless: their work is committed, and an agent without an answer
//! would repeat it. The log and `/readyz` report the problem, and records wait in
//! memory. With `[audit] required`, calls that change something are refused instead.
//!
//! With `[audit] reads = "summary"`, reads that succeed are counted per caller, tool and
//! minute. A process that is killed loses the counts of its last minute.

mod call_record;
mod read_counts;
mod refusal_counts;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

pub use call_record::CallRecord;
use jiff::Timestamp;
use kit::{Caller, Error, Reply, time::Clock};
use read_counts::{Read, ReadCounts};
use refusal_counts::RefusalCounts;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

pub use crate::audit::entry::Outcome;
use crate::{
    audit::{
        Trail,
        entry::{AuditEntry, CallEntry},
        queue::Reservation,
        redact::RedactedArguments,
    },
    metrics::ToolMetrics,
    served_counter::FoundTool,
    settings::{self, KeepArguments, RecordReads},
    stations::authorize::ReadTarget,
    trace::{CallDescription, CallTrace},
};

pub struct Audit {
    settings: settings::Audit,
    clock: Clock,
    /// `None`: calls are only logged.
    pub trail: Option<Arc<Trail>>,
    sink: Arc<dyn Fn(&CallRecord) + Send + Sync>,
    refusals: Mutex<RefusalCounts>,
    reads: Mutex<ReadCounts>,
}

impl Outcome {
    pub fn of(result: Result<&Reply, &Error>) -> Self {
        match result {
            Ok(Reply::InputRequired { .. }) => Self::Asked,
            Ok(_) => Self::Done,
            Err(error) if error.is_internal() => Self::Failed(
                error
                    .cause
                    .as_ref()
                    .map_or_else(|| error.message.clone(), ToString::to_string),
            ),
            Err(error) => Self::Refused(error.code.clone().into_owned()),
        }
    }

    /// A refusal changes nothing, but an interrupted call may have.
    fn may_have_changed_something(&self) -> bool {
        match self {
            Self::Done | Self::Failed(_) | Self::Abandoned => true,
            Self::Asked => false,
            Self::Refused(code) => kit::error::may_have_changed_something(code),
        }
    }
}

impl Audit {
    pub fn new(settings: &settings::Audit, clock: &Clock, trail: Option<Arc<Trail>>) -> Self {
        Self {
            settings: settings.clone(),
            clock: clock.clone(),
            trail,
            sink: Arc::new(call_record::log),
            refusals: Mutex::default(),
            reads: Mutex::default(),
        }
    }

    /// The arguments of a call as the trail stores them.
    pub fn redacted(
        &self,
        found: &FoundTool<'_>,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> RedactedArguments {
        if !self.keeps_arguments() {
            return RedactedArguments::default();
        }
        match found {
            FoundTool::Tool(tool) => {
                let known = tool.tool.input.get("properties").and_then(Value::as_object);
                // A field that the schema does not name may contain anything.
                let is_known = |name: &str| known.is_some_and(|known| known.contains_key(name));
                let personal = tool.tool.personal;
                RedactedArguments::of(arguments, |name| {
                    personal.contains(&name) || !is_known(name)
                })
            }
            FoundTool::Hidden { .. } => RedactedArguments::of(arguments, |_| true),
            // The record says only `unknown`; the name is text of the caller.
            FoundTool::Unknown => {
                let mut asked = Map::new();
                asked.insert("tool".into(), name.into());
                RedactedArguments::of(&asked, |_| true)
            }
        }
    }

    /// The target of a read as the trail stores it.
    pub fn redacted_target(&self, target: &ReadTarget<'_>) -> RedactedArguments {
        match self.keeps_arguments() {
            true => RedactedArguments::of(&target.as_arguments(), |_| true),
            false => RedactedArguments::default(),
        }
    }

    /// What the operator did at the desk itself.
    pub fn redacted_act(&self, arguments: &Map<String, Value>) -> RedactedArguments {
        match self.keeps_arguments() {
            true => RedactedArguments::of(arguments, |_| false),
            false => RedactedArguments::default(),
        }
    }

    fn keeps_arguments(&self) -> bool {
        self.trail.is_some() && self.settings.arguments != KeepArguments::None
    }

    /// Waits while the queue of records is full. Before a call that may change
    /// something, also waits until this process has a segment.
    pub async fn open<'a>(
        &'a self,
        record: CallRecord,
        metrics: Option<&'a ToolMetrics>,
        trace: CallTrace,
    ) -> OpenRecord<'a> {
        let reservation = match &self.trail {
            Some(trail) => trail.reserve().await,
            None => Reservation::Full,
        };
        // From here on there will be a record, even if this future is dropped.
        let open = OpenRecord {
            record,
            metrics,
            trace,
            audit: self,
            reservation,
            waiting_since: None,
            is_submitted: false,
        };
        if let (Some(trail), true) = (&self.trail, open.record.writes) {
            trail.begin(self.is_required()).await;
        }
        open
    }

    /// The problem that `/readyz` reports, if any.
    pub fn trouble(&self) -> Option<&'static str> {
        let failing = self.trail.as_ref().is_some_and(|trail| trail.is_failing());
        failing.then_some("audit: records can't be written")
    }

    pub fn is_required(&self) -> bool {
        self.settings.required
    }

    pub fn keep_days(&self) -> u32 {
        self.settings.keep_days
    }

    /// Counts a refusal; `None`: the caller is unknown.
    pub fn refused(
        &self,
        caller: Option<&Caller>,
        counter: &'static str,
        code: &'static str,
        now: Timestamp,
    ) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        self.report(&mut refusals, now);
        refusals.add(caller, counter, code);
    }

    /// Records the refusals of past seconds and the reads of past minutes.
    pub fn report_counts(&self, now: Timestamp) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        self.report(&mut refusals, now);
        drop(refusals);
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        if reads.is_due(now.as_millisecond()) {
            self.report_reads(&mut reads);
        }
    }

    fn report_reads(&self, reads: &mut ReadCounts) {
        if let Some(trail) = &self.trail {
            let has_place = || trail.try_reserve() == Reservation::Reserved;
            for counted in reads.take(has_place) {
                trail.push(AuditEntry::Reads(Box::new(counted)));
            }
        }
    }

    /// Counts a read that needs no record of its own. Returns whether it was counted.
    fn counts(&self, record: &CallRecord, ms: f64) -> bool {
        let is_plain_read = self.settings.reads == RecordReads::Summary
            && !record.writes
            && record.approval.is_none()
            && record.outcome == Outcome::Done;
        if is_plain_read {
            let at = self.clock.now().as_millisecond();
            let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
            if reads.is_due(at) {
                self.report_reads(&mut reads);
            }
            reads.add(&Read {
                at,
                caller: &record.caller.id,
                caller_name: &record.caller.name,
                counter: record.counter,
                tool: record.tool,
                ms,
            });
        }
        is_plain_read
    }

    fn report(&self, refusals: &mut RefusalCounts, now: Timestamp) {
        for counted in refusals.take_due(now) {
            let (caller, count) = (&counted.caller, counted.count);
            let (counter, code) = (counted.counter, counted.code);
            tracing::warn!(%caller, counter, code, count, "requests refused");
            if let Some(trail) = &self.trail {
                match trail.try_reserve() {
                    Reservation::Reserved => trail.push(AuditEntry::Refused(Box::new(counted))),
                    Reservation::Full => trail.count_lost(),
                }
            }
        }
    }

    /// Writes all records, after the last call.
    pub async fn close(&self) {
        let next_second = self.clock.now().as_second() + 1;
        self.report_counts(Timestamp::from_second(next_second).unwrap_or(Timestamp::MAX));
        self.report_reads(&mut self.reads.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(trail) = &self.trail {
            trail.close().await;
        }
    }
}

/// A record that is written when it is closed or dropped.
pub struct OpenRecord<'a> {
    record: CallRecord,
    metrics: Option<&'a ToolMetrics>,
    pub trace: CallTrace,
    audit: &'a Audit,
    reservation: Reservation,
    /// While it waits for a person's decision.
    waiting_since: Option<Instant>,
    is_submitted: bool,
}

impl OpenRecord<'_> {
    /// From now on the call waits for a person, until [`Self::goes_on`].
    pub fn waits(&mut self) {
        self.waiting_since = Some(Instant::now());
    }

    pub fn goes_on(&mut self) {
        if let Some(since) = self.waiting_since.take() {
            self.record.waited += since.elapsed();
        }
    }

    /// The approval or standing grant with which the call runs.
    pub fn set_approval(&mut self, approval: Option<String>) {
        self.record.approval = approval;
    }

    /// The names of the tools that the call runs.
    pub fn set_inner_calls<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        if self.audit.trail.is_some() {
            self.record.arguments.add_inner_calls(names);
        }
    }

    /// Refuses the call if it must be recorded and can't be.
    pub fn may_run(&self) -> Result<(), Error> {
        let audit = self.audit;
        if !audit.is_required() || audit.trouble().is_none() {
            return Ok(());
        }
        if self.record.writes || self.reservation == Reservation::Full {
            return Err(Error::new(
                "AUDIT_UNAVAILABLE",
                "Calls can't be recorded at present, and this desk requires a record.",
            )
            .next("Nothing was done. Try again later, and tell the operator."));
        }
        Ok(())
    }

    /// If the call changed something, waits until the record is on disk. If the change
    /// has a row in the ledger, from which the record could be made again, waits only
    /// until the record is in the file.
    pub async fn close(mut self, outcome: Outcome) {
        self.record.outcome = outcome;
        self.trace.station("audit");
        if let Some(written) = self.submit() {
            // The answer is sent even if the record could not be written.
            let _ = written.await;
        }
    }

    fn submit(&mut self) -> Option<oneshot::Receiver<bool>> {
        if std::mem::replace(&mut self.is_submitted, true) {
            return None;
        }
        self.goes_on();
        let took = self.record.started.elapsed();
        if let Some(metrics) = self.metrics {
            let outcome = &self.record.outcome;
            metrics.observe(took, matches!(outcome, Outcome::Done | Outcome::Asked));
        }
        (self.audit.sink)(&self.record);
        self.trace.describe(&CallDescription {
            call: self.record.call,
            counter: self.record.counter,
            tool: self.record.tool,
            over_network: self.record.address.is_some(),
            outcome: &self.record.outcome,
        });
        let trail = self.audit.trail.as_ref()?;
        let ms = took.as_secs_f64() * 1000.0;
        if self.audit.counts(&self.record, ms) {
            if self.reservation == Reservation::Reserved {
                trail.release();
            }
            return None;
        }
        if self.reservation == Reservation::Full {
            trail.count_lost();
            return None;
        }
        let record = &mut self.record;
        // The address of this machine says nothing.
        if let Some(address) = record.address.filter(|address| !address.is_loopback()) {
            record.arguments.add_address(address);
        }
        let changed = record.writes && record.outcome.may_have_changed_something();
        let has_row = record.has_ledger_row && record.outcome == Outcome::Done;
        let entry = AuditEntry::Call(Box::new(CallEntry {
            at: self.audit.clock.now().as_millisecond(),
            call: record.call.to_string(),
            caller: Arc::clone(&record.caller.id),
            caller_name: Arc::clone(&record.caller.name),
            counter: record.counter,
            tool: record.tool,
            outcome: record.outcome.clone(),
            ms,
            waited_ms: record.waited.as_secs_f64() * 1000.0,
            approval: record.approval.take(),
            arguments: std::mem::take(&mut record.arguments),
        }));
        if changed {
            let written = match has_row && !self.audit.is_required() {
                true => trail.push_written(entry),
                false => trail.push_durable(entry),
            };
            // Writing fails at present, so waiting is useless.
            return (!trail.is_failing()).then_some(written);
        }
        trail.push(entry);
        None
    }
}

impl Drop for OpenRecord<'_> {
    fn drop(&mut self) {
        drop(self.submit());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kit::ids::CallId;

    use super::*;

    fn record() -> CallRecord {
        CallRecord {
            call: CallId::new(),
            caller: Caller::anonymous(),
            address: None,
            counter: "cinema",
            tool: "get_movie_list",
            writes: false,
            has_ledger_row: false,
            started: Instant::now(),
            outcome: Outcome::Abandoned,
            waited: Duration::ZERO,
            approval: None,
            arguments: RedactedArguments::default(),
        }
    }

    #[tokio::test]
    async fn every_call_leaves_exactly_one_record() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut audit = Audit::new(&settings::Audit::default(), &Clock::system(), None);
        audit.sink = Arc::new({
            let seen = Arc::clone(&seen);
            move |record: &CallRecord| seen.lock().unwrap().push(record.outcome.clone())
        });
        let open = || audit.open(record(), None, CallTrace::default());
        open().await.close(Outcome::Done).await;
        drop(open().await);
        assert_eq!(*seen.lock().unwrap(), [Outcome::Done, Outcome::Abandoned]);
    }
}
