//! Decides which calls are traced, and queues their spans for export.

use std::sync::Arc;

use prometheus_client::metrics::counter::Counter;
use tokio::sync::mpsc;

use super::{
    call_trace::{Arrival, CallTrace},
    context::TraceContext,
    queue::SpanQueue,
    span::Span,
};

/// Which calls are traced, after `OTEL_TRACES_SAMPLER`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampler {
    /// Whether the caller decides, if it is part of a trace.
    pub by_parent: bool,
    /// The share of all other calls that is traced.
    pub ratio: f64,
}

impl Default for Sampler {
    fn default() -> Self {
        Self {
            by_parent: true,
            ratio: 1.0,
        }
    }
}

impl Sampler {
    /// The same for all parts of a trace, also in other programs that sample by the
    /// trace's id.
    fn takes(self, trace_id: u128, parent: Option<&TraceContext>) -> bool {
        if let (true, Some(parent)) = (self.by_parent, parent) {
            return parent.sampled;
        }
        // The last 56 bits of an id are random.
        const ALL: u128 = 1 << 56;
        let taken = (self.ratio * ALL as f64) as u128;
        trace_id % ALL + taken >= ALL
    }
}

/// Begins the traces of calls; off by default. Cheap to clone.
#[derive(Clone, Default)]
pub struct Tracer(Option<Active>);

#[derive(Clone)]
struct Active {
    sampler: Sampler,
    queue: Arc<SpanQueue>,
}

impl Tracer {
    /// The queue has room for the spans of this many calls.
    pub fn new(
        sampler: Sampler,
        room: usize,
        dropped: Counter,
    ) -> (Self, mpsc::Receiver<Vec<Span>>) {
        let (queue, spans) = SpanQueue::new(room, dropped);
        let queue = Arc::new(queue);
        (Self(Some(Active { sampler, queue })), spans)
    }

    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Begins the trace of a request, if it is to be traced.
    pub fn begin(&self, arrival: Option<&Arc<Arrival>>, method: &'static str) -> CallTrace {
        let (Some(active), Some(arrival)) = (&self.0, arrival) else {
            return CallTrace::default();
        };
        let parent = arrival.parent.as_ref();
        let trace_id = parent.map_or_else(rand::random, |parent| parent.trace_id);
        if !active.sampler.takes(trace_id, parent) {
            return CallTrace::default();
        }
        CallTrace::new(&active.queue, trace_id, arrival, method)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::trace::span::SpanKind;

    fn parent(sampled: bool) -> TraceContext {
        TraceContext {
            trace_id: 7,
            span_id: 7,
            sampled,
            state: None,
        }
    }

    #[test]
    fn the_caller_decides_where_it_may() {
        let by_parent = Sampler::default();
        assert!(by_parent.takes(1, None));
        assert!(by_parent.takes(1, Some(&parent(true))));
        assert!(!by_parent.takes(1, Some(&parent(false))));
        let never = Sampler {
            by_parent: true,
            ratio: 0.0,
        };
        assert!(!never.takes(u128::MAX, None));
        assert!(never.takes(1, Some(&parent(true))));
        let always = Sampler {
            by_parent: false,
            ratio: 1.0,
        };
        assert!(always.takes(0, Some(&parent(false))));
    }

    #[test]
    fn a_ratio_takes_about_its_share() {
        let tenth = Sampler {
            by_parent: false,
            ratio: 0.1,
        };
        let taken = (0..10_000).filter(|_| tenth.takes(rand::random(), None));
        let taken = taken.count();
        assert!((800..1200).contains(&taken), "{taken}");
    }

    fn arrival(parent: Option<&str>) -> Arc<Arrival> {
        let now = Instant::now();
        Arc::new(Arrival {
            parent: TraceContext::parse(parent, Some("a=1")),
            started: now,
            identified: now,
            admitted: now,
        })
    }

    #[tokio::test]
    async fn a_call_is_the_parent_of_its_stations_and_they_of_their_jobs() {
        let (tracer, mut queue) = Tracer::new(Sampler::default(), 1, Counter::default());
        let caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let mut trace = tracer.begin(Some(&arrival(Some(caller))), "tools/call");
        trace.about("reserve_seats");
        trace.station("authorize");
        trace.station("run");
        trace.job("store query", async {}).await;
        trace.failed("tool_error");
        drop(trace);
        let spans = queue.recv().await.unwrap();
        let named = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
        let call = named("tools/call reserve_seats");
        assert_eq!(
            (call.parent, call.kind),
            (0x00f0_67aa_0ba9_02b7, SpanKind::Server)
        );
        assert!(call.failed);
        for name in ["identify", "limit", "authorize", "run"] {
            assert_eq!(named(name).parent, call.span_id, "{name}");
        }
        assert_eq!(named("store query").parent, named("run").span_id);
        assert_eq!(spans.len(), 6);
        for span in &spans {
            assert_eq!(span.trace_id, 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736);
            assert_eq!(span.state.as_deref(), Some("a=1"));
            assert!(span.start <= span.end && span.start >= call.start && span.end <= call.end);
        }
    }

    #[tokio::test]
    async fn spans_that_find_no_room_are_dropped_and_counted() {
        let dropped = Counter::default();
        let (tracer, queue) = Tracer::new(Sampler::default(), 1, dropped.clone());
        for _ in 0..3 {
            drop(tracer.begin(Some(&arrival(None)), "tools/call"));
        }
        assert_eq!(dropped.get(), 6, "two calls of three spans each");
        drop(queue);
    }

    #[test]
    fn without_a_tracer_nothing_is_recorded() {
        let mut trace = Tracer::default().begin(Some(&arrival(None)), "tools/call");
        trace.station("run");
        assert_eq!(trace.method(), None);
    }
}
