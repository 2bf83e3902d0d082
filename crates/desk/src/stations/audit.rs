//! One record for every call.
//!
//! A record is opened before the tool runs and written when it is closed; when
//! its call is dropped half-way, because the client went away, it is written as
//! abandoned. Refusals before a tool is known are counted per caller and second,
//! so that a flood stays cheap. How records are written and kept is in
//! `crate::audit`.
//!
//! When the trail can't be written, because the disk is full say, calls are
//! answered nevertheless: what they did is committed, and an agent that gets no
//! answer does it again. The log and `/readyz` say so, and records wait to be
//! written. Who would rather have no changes than changes without a record sets
//! `[audit] required`: then calls that change something are refused before they
//! run, for as long as it lasts.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
    time::Instant,
};

use jiff::Timestamp;
use kit::{Caller, Error, Reply, ids::CallId, time::Clock};
use serde_json::{Map, Value};
use tokio::sync::oneshot;

pub use crate::audit::entry::Outcome;
use crate::{
    audit::{
        Trail,
        entry::{CallEntry, Entry},
        queue::Place,
        redact::Kept,
    },
    metrics::ToolMetrics,
    settings::{self, KeepArguments},
    stations::authorize::Target,
    window::Found,
};

pub struct Audit {
    settings: settings::Audit,
    clock: Clock,
    /// `None`: only the log.
    pub trail: Option<Arc<Trail>>,
    sink: Arc<dyn Fn(&Record) + Send + Sync>,
    refusals: Mutex<Refusals>,
}

#[derive(Default)]
struct Refusals {
    second: i64,
    counts: HashMap<(Arc<str>, &'static str), u64>,
}

#[derive(Debug, Clone)]
pub struct Record {
    pub call: CallId,
    pub caller: Caller,
    pub counter: &'static str,
    pub tool: &'static str,
    /// Whether it can change something.
    pub writes: bool,
    pub started: Instant,
    pub outcome: Outcome,
    /// The approval or the standing grant it ran with.
    pub approval: Option<String>,
    pub kept: Kept,
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

    /// A refusal changes nothing; but what was cut short may have.
    fn may_have_changed_something(&self) -> bool {
        match self {
            Self::Done | Self::Failed(_) | Self::Abandoned => true,
            Self::Asked => false,
            Self::Refused(code) => code == kit::error::TIMEOUT || *code == Error::cancelled().code,
        }
    }
}

impl Audit {
    pub fn new(settings: &settings::Audit, clock: &Clock, trail: Option<Arc<Trail>>) -> Self {
        Self {
            settings: settings.clone(),
            clock: clock.clone(),
            trail,
            sink: Arc::new(log),
            refusals: Mutex::default(),
        }
    }

    /// What is kept of the arguments of a call.
    pub fn kept(&self, found: &Found<'_>, name: &str, arguments: &Map<String, Value>) -> Kept {
        if self.trail.is_none() || self.settings.arguments == KeepArguments::None {
            return Kept::default();
        }
        match found {
            Found::Tool(tool) => {
                let known = tool.tool.input.get("properties").and_then(Value::as_object);
                // By another spelling, a field may hold anything.
                let is_known = |name: &str| known.is_some_and(|known| known.contains_key(name));
                let personal = tool.tool.personal;
                Kept::of(arguments, |name| {
                    personal.contains(&name) || !is_known(name)
                })
            }
            Found::Hidden { .. } => Kept::of(arguments, |_| true),
            // The record says only `unknown`: what was asked for is the caller's text.
            Found::Unknown => {
                let mut asked = Map::new();
                asked.insert("tool".into(), name.into());
                Kept::of(&asked, |_| true)
            }
        }
    }

    /// What is kept of a request that reads: what it asked for.
    pub fn kept_of_read(&self, target: &Target<'_>) -> Kept {
        if self.trail.is_none() || self.settings.arguments == KeepArguments::None {
            return Kept::default();
        }
        Kept::of(&target.as_arguments(), |_| true)
    }

    /// Waits while too many records wait to be written; before a call that may
    /// change something also until this process has begun its segment.
    pub async fn open<'a>(
        &'a self,
        record: Record,
        metrics: Option<&'a ToolMetrics>,
    ) -> OpenRecord<'a> {
        let place = match &self.trail {
            Some(trail) => trail.place().await,
            None => Place::None,
        };
        // From here on it leaves a record, also when it is dropped while waiting.
        let open = OpenRecord {
            record,
            metrics,
            audit: self,
            place,
            is_left: false,
        };
        if let (Some(trail), true) = (&self.trail, open.record.writes) {
            trail.begin(self.is_required()).await;
        }
        open
    }

    /// What `/readyz` says when all is not well.
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

    /// Counts a refusal; `None` is somebody unknown.
    pub fn refused(&self, caller: Option<&Arc<str>>, counter: &'static str, now: Timestamp) {
        static UNKNOWN: LazyLock<Arc<str>> = LazyLock::new(|| "unknown".into());
        let caller = Arc::clone(caller.unwrap_or(&UNKNOWN));
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        self.report(&mut refusals, now);
        *refusals.counts.entry((caller, counter)).or_default() += 1;
    }

    /// Records the counts of seconds that have passed.
    pub fn report_refusals(&self, now: Timestamp) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        self.report(&mut refusals, now);
    }

    fn report(&self, refusals: &mut Refusals, now: Timestamp) {
        if refusals.second == now.as_second() {
            return;
        }
        let second = std::mem::replace(&mut refusals.second, now.as_second());
        for ((caller, counter), count) in std::mem::take(&mut refusals.counts) {
            tracing::warn!(%caller, counter, count, "requests refused");
            if let Some(trail) = &self.trail {
                match trail.try_place() {
                    Place::Taken => trail.push(Entry::Refused {
                        at: second * 1000,
                        caller,
                        counter,
                        count,
                    }),
                    Place::None => trail.lose(),
                }
            }
        }
    }

    /// Writes everything there is to write, once no more calls come.
    pub async fn close(&self) {
        let next_second = self.clock.now().as_second() + 1;
        self.report_refusals(Timestamp::from_second(next_second).unwrap_or(Timestamp::MAX));
        if let Some(trail) = &self.trail {
            trail.close().await;
        }
    }
}

/// A record that writes and counts itself, at the latest when it is dropped.
pub struct OpenRecord<'a> {
    record: Record,
    metrics: Option<&'a ToolMetrics>,
    audit: &'a Audit,
    place: Place,
    is_left: bool,
}

impl OpenRecord<'_> {
    /// The approval or the standing grant that it runs with.
    pub fn set_approval(&mut self, approval: Option<String>) {
        self.record.approval = approval;
    }

    /// The tools that the call runs, by their own names.
    pub fn set_inner_calls<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        if self.audit.trail.is_some() {
            self.record.kept.add_inner_calls(names);
        }
    }

    /// Whether the call may run though the trail can't be written.
    pub fn may_run(&self) -> Result<(), Error> {
        let audit = self.audit;
        if !audit.is_required() || audit.trouble().is_none() {
            return Ok(());
        }
        if self.record.writes || self.place == Place::None {
            return Err(Error::new(
                "AUDIT_UNAVAILABLE",
                "Calls can't be recorded at present, and this desk does nothing without a record.",
            )
            .next("Nothing was done. Try again later, and tell the operator."));
        }
        Ok(())
    }

    /// Waits for the record of a call that changed something to be on disk.
    pub async fn close(mut self, outcome: Outcome) {
        self.record.outcome = outcome;
        if let Some(written) = self.leave() {
            // Whether it could be written or not, the answer leaves.
            let _ = written.await;
        }
    }

    fn leave(&mut self) -> Option<oneshot::Receiver<bool>> {
        if std::mem::replace(&mut self.is_left, true) {
            return None;
        }
        let took = self.record.started.elapsed();
        if let Some(metrics) = self.metrics {
            let outcome = &self.record.outcome;
            metrics.observe(took, matches!(outcome, Outcome::Done | Outcome::Asked));
        }
        (self.audit.sink)(&self.record);
        let trail = self.audit.trail.as_ref()?;
        if self.place == Place::None {
            trail.lose();
            return None;
        }
        let record = &mut self.record;
        let durable = record.writes && record.outcome.may_have_changed_something();
        let entry = Entry::Call(Box::new(CallEntry {
            at: self.audit.clock.now().as_millisecond(),
            call: record.call.to_string(),
            caller: Arc::clone(&record.caller.id),
            caller_name: Arc::clone(&record.caller.name),
            counter: record.counter,
            tool: record.tool,
            outcome: record.outcome.clone(),
            ms: took.as_secs_f64() * 1000.0,
            approval: record.approval.take(),
            kept: std::mem::take(&mut record.kept),
        }));
        if durable {
            let written = trail.push_durable(entry);
            // It is known that it can't be written: nobody waits to hear it again.
            return (!trail.is_failing()).then_some(written);
        }
        trail.push(entry);
        None
    }
}

impl Drop for OpenRecord<'_> {
    fn drop(&mut self) {
        drop(self.leave());
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
        ..
    } = record;
    let ms = started.elapsed().as_secs_f64() * 1000.0;
    let caller = &caller.id;
    match outcome {
        Outcome::Done => tracing::debug!(%call, %caller, counter, tool, ms, "call done"),
        Outcome::Asked => {
            tracing::debug!(%call, %caller, counter, tool, ms, "call asks its client")
        }
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
            writes: false,
            started: Instant::now(),
            outcome: Outcome::Abandoned,
            approval: None,
            kept: Kept::default(),
        }
    }

    #[tokio::test]
    async fn every_call_leaves_exactly_one_record() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut audit = Audit::new(&settings::Audit::default(), &Clock::system(), None);
        audit.sink = Arc::new({
            let seen = Arc::clone(&seen);
            move |record: &Record| seen.lock().unwrap().push(record.outcome.clone())
        });
        audit.open(record(), None).await.close(Outcome::Done).await;
        drop(audit.open(record(), None).await);
        assert_eq!(*seen.lock().unwrap(), [Outcome::Done, Outcome::Abandoned]);
    }
    /// Whoever comes with made-up keys is one unknown caller.
    #[test]
    fn refusals_of_unknown_callers_take_one_place() {
        let audit = Audit::new(&settings::Audit::default(), &Clock::system(), None);
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        for _ in 0..100_000 {
            audit.refused(None, "cinema", now);
        }
        audit.refused(Some(&"key:abc".into()), "cinema", now);
        let refusals = audit.refusals.lock().unwrap();
        assert_eq!(refusals.counts.len(), 2);
        assert_eq!(refusals.counts[&("unknown".into(), "cinema")], 100_000);
    }
}
