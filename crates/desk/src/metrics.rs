//! The metrics of `/metrics`, in Prometheus' text format: calls, errors and latency
//! per counter and tool. Their handles are looked up once, at start.

mod pools;
mod space;

use std::time::Duration;

use kit::sql::PoolStatus;
use pools::PoolMetrics;
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};
use space::SpaceMetrics;

/// Upper bounds in seconds: from a cached read to the default time limit.
const BUCKETS: [f64; 14] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0,
];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    counter: &'static str,
    tool: &'static str,
}

pub struct Metrics {
    registry: Registry,
    calls: Family<Labels, Counter>,
    errors: Family<Labels, Counter>,
    latency: Family<Labels, Histogram, fn() -> Histogram>,
    pub connections: Gauge,
    pub connections_refused: Counter,
    pub requests_refused: Counter,
    pools: PoolMetrics,
    pub space: SpaceMetrics,
    pub spans_exported: Counter,
    /// Because the queue was full, or the collector did not take them.
    pub spans_dropped: Counter,
    /// Heads of the audit trail that were stored elsewhere.
    pub heads_sent: Counter,
    pub heads_dropped: Counter,
}

#[derive(Clone)]
pub struct ToolMetrics {
    calls: Counter,
    errors: Counter,
    latency: Histogram,
}

impl ToolMetrics {
    pub fn observe(&self, took: Duration, ok: bool) {
        self.calls.inc();
        if !ok {
            self.errors.inc();
        }
        self.latency.observe(took.as_secs_f64());
    }
}

impl Metrics {
    #[expect(clippy::new_without_default, reason = "it registers metrics")]
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("madoguchi");
        let calls = Family::default();
        let errors = Family::default();
        let latency: Family<_, _, fn() -> Histogram> =
            Family::new_with_constructor(|| Histogram::new(BUCKETS));
        let connections = Gauge::default();
        let connections_refused = Counter::default();
        let requests_refused = Counter::default();
        let spans_exported = Counter::default();
        let spans_dropped = Counter::default();
        let heads_sent = Counter::default();
        let heads_dropped = Counter::default();
        registry.register("calls", "Tool calls", Clone::clone(&calls));
        registry.register(
            "call_errors",
            "Tool calls answered with an error",
            Clone::clone(&errors),
        );
        registry.register("call_seconds", "Time taken by tool calls", latency.clone());
        registry.register("connections", "Open connections", connections.clone());
        registry.register(
            "connections_refused",
            "Connections refused because too many were open",
            connections_refused.clone(),
        );
        registry.register(
            "requests_refused",
            "Requests refused because too many, or too many wrong keys, came from their address",
            requests_refused.clone(),
        );
        registry.register(
            "spans_exported",
            "Spans that the OpenTelemetry collector accepted",
            spans_exported.clone(),
        );
        registry.register(
            "spans_dropped",
            "Spans lost because too many waited, or because the collector refused them",
            spans_dropped.clone(),
        );
        registry.register(
            "audit_heads_sent",
            "Heads of the audit trail that were stored elsewhere",
            heads_sent.clone(),
        );
        registry.register(
            "audit_heads_dropped",
            "Heads of the audit trail lost because too many waited to be sent",
            heads_dropped.clone(),
        );
        Self {
            pools: PoolMetrics::register(&mut registry),
            space: SpaceMetrics::register(&mut registry),
            registry,
            calls,
            errors,
            latency,
            connections,
            connections_refused,
            requests_refused,
            spans_exported,
            spans_dropped,
            heads_sent,
            heads_dropped,
        }
    }

    pub fn of_tool(&self, counter: &'static str, tool: &'static str) -> ToolMetrics {
        let labels = Labels { counter, tool };
        ToolMetrics {
            calls: self.calls.get_or_create(&labels).clone(),
            errors: self.errors.get_or_create(&labels).clone(),
            latency: self.latency.get_or_create(&labels).clone(),
        }
    }

    /// `pools` are the connections to database servers, by the name of the database.
    pub fn text(
        &self,
        pools: impl IntoIterator<Item = (&'static str, PoolStatus)>,
    ) -> Result<String, std::fmt::Error> {
        for (database, status) in pools {
            self.pools.set(database, status);
        }
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        // A client that does not read it keeps it in memory.
        text.shrink_to_fit();
        Ok(text)
    }
}
