//! Collects the spans of one call.

use std::{
    sync::Arc,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use super::{
    context::TraceContext,
    queue::SpanQueue,
    span::{Attribute, Span, SpanKind},
};

/// When a request arrived and passed the first stations.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// The trace of which the caller says that it is part.
    pub parent: Option<TraceContext>,
    pub started: Instant,
    pub identified: Instant,
    pub admitted: Instant,
}

/// The trace of one call; empty if the call is not traced. Its spans are queued when
/// it ends, also if the call is dropped in the middle.
#[derive(Default)]
pub struct CallTrace(Option<Box<Recording>>);

struct Recording {
    queue: Arc<SpanQueue>,
    method: &'static str,
    /// One moment on both clocks.
    now: (Instant, u64),
    /// The call itself, then what it passed.
    spans: Vec<Span>,
    /// Where the call is.
    station: Option<OpenSpan>,
    /// What the store does for it there.
    job: Option<OpenSpan>,
}

struct OpenSpan {
    name: &'static str,
    id: u64,
    start: u64,
}

impl OpenSpan {
    fn new(name: &'static str, start: u64) -> Self {
        Self {
            name,
            id: span_id(),
            start,
        }
    }
}

impl CallTrace {
    pub(super) fn new(
        queue: &Arc<SpanQueue>,
        trace_id: u128,
        arrival: &Arrival,
        method: &'static str,
    ) -> Self {
        let parent = arrival.parent.as_ref();
        let mut recording = Recording {
            queue: Arc::clone(queue),
            method,
            now: (Instant::now(), unix_time()),
            spans: Vec::with_capacity(12),
            station: None,
            job: None,
        };
        recording.spans.push(Span {
            trace_id,
            span_id: span_id(),
            parent: parent.map_or(0, |parent| parent.span_id),
            state: parent.and_then(|parent| parent.state.clone()),
            name: method.into(),
            kind: SpanKind::Server,
            start: recording.time(arrival.started),
            end: 0,
            attributes: vec![("mcp.method.name", method.into())],
            failed: false,
        });
        for (name, start, end) in [
            ("identify", arrival.started, arrival.identified),
            ("limit", arrival.identified, arrival.admitted),
        ] {
            recording.station = Some(OpenSpan::new(name, recording.time(start)));
            recording.end_station(recording.time(end));
        }
        Self(Some(Box::new(recording)))
    }

    /// The call is at this station from now on.
    pub fn station(&mut self, name: &'static str) {
        if let Some(recording) = &mut self.0 {
            let now = recording.time(Instant::now());
            recording.end_station(now);
            recording.station = Some(OpenSpan::new(name, now));
        }
    }

    /// Work of the store for the call, within a station.
    pub async fn job<T>(&mut self, name: &'static str, work: impl Future<Output = T>) -> T {
        if let Some(recording) = &mut self.0 {
            let now = recording.time(Instant::now());
            recording.job = Some(OpenSpan::new(name, now));
        }
        let done = work.await;
        if let Some(recording) = &mut self.0 {
            recording.end_job(recording.time(Instant::now()));
        }
        done
    }

    /// Adds what is known about the call.
    pub(super) fn set(&mut self, name: &'static str, value: impl Into<Attribute>) {
        if let Some(call) = self.call() {
            call.attributes.push((name, value.into()));
        }
    }

    /// `None` if the call is not traced.
    pub(super) fn method(&self) -> Option<&'static str> {
        self.0.as_ref().map(|recording| recording.method)
    }

    /// What the call is about, such as the tool.
    pub(super) fn about(&mut self, target: &'static str) {
        if let Some(call) = self.call() {
            call.name = format!("{} {target}", call.name).into();
        }
    }

    /// The call failed, in a way that this word describes.
    pub(super) fn failed(&mut self, kind: impl Into<Attribute>) {
        self.set("error.type", kind);
        if let Some(call) = self.call() {
            call.failed = true;
        }
    }

    fn call(&mut self) -> Option<&mut Span> {
        self.0.as_mut()?.spans.first_mut()
    }
}

impl Drop for CallTrace {
    fn drop(&mut self) {
        if let Some(mut recording) = self.0.take() {
            let now = recording.time(Instant::now());
            recording.end_station(now);
            if let Some(call) = recording.spans.first_mut() {
                call.end = now;
            }
            let spans = std::mem::take(&mut recording.spans);
            recording.queue.add(spans);
        }
    }
}

impl Recording {
    fn time(&self, at: Instant) -> u64 {
        let (instant, unix) = self.now;
        let nanos = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or_default();
        match at.checked_duration_since(instant) {
            Some(after) => unix.saturating_add(nanos(after)),
            None => unix.saturating_sub(nanos(instant.duration_since(at))),
        }
    }

    fn end_station(&mut self, now: u64) {
        self.end_job(now);
        if let Some(station) = self.station.take() {
            self.add(&station, now, None);
        }
    }

    fn end_job(&mut self, now: u64) {
        if let Some(job) = self.job.take() {
            let station = self.station.as_ref().map(|station| station.id);
            self.add(&job, now, station);
        }
    }

    /// `parent` is `None` for what belongs to the call itself.
    fn add(&mut self, open: &OpenSpan, end: u64, parent: Option<u64>) {
        let Some(call) = self.spans.first() else {
            return;
        };
        let span = Span {
            trace_id: call.trace_id,
            span_id: open.id,
            parent: parent.unwrap_or(call.span_id),
            state: call.state.clone(),
            name: open.name.into(),
            kind: SpanKind::Internal,
            start: open.start,
            end,
            attributes: Vec::new(),
            failed: false,
        };
        self.spans.push(span);
    }
}

/// Never 0, which stands for no span.
fn span_id() -> u64 {
    rand::random::<u64>().max(1)
}

fn unix_time() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or_default()
    })
}
