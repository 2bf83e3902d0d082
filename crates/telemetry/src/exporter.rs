//! The tasks that collect spans and metrics and send them, until the program ends.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use desk::{
    Desk,
    trace::{Span, Tracer},
};
use prometheus_client::metrics::counter::Counter;
use tokio::{sync::mpsc, task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::{
    environment::{Environment, ExportTarget},
    metrics::{self, Period},
    openmetrics,
    resource::Resource,
    sending::{Failure, Sender},
    traces,
};

/// How long the program waits for the last exports when it ends.
const LAST_WAIT: Duration = Duration::from_secs(5);
/// About how many spans a call has.
const SPANS_PER_CALL: usize = 8;

/// Exports what a desk does.
pub struct Exporter {
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

impl Exporter {
    /// Starts to export, if the environment says where. The desk must not be in use
    /// yet, or its calls are not traced.
    pub fn start(
        environment: Environment,
        desk: &mut Arc<Desk>,
        version: &'static str,
    ) -> Option<Self> {
        for warning in &environment.warnings {
            tracing::warn!("OpenTelemetry: {warning}");
        }
        let resource = Resource::new(version, &desk.process, &environment.resource);
        let mut exporter = Self {
            stop: CancellationToken::new(),
            tasks: JoinSet::new(),
        };
        if let Some(sender) = sender(environment.traces.clone())
            && let Some(desk) = Arc::get_mut(desk)
        {
            let room = environment.max_queue / SPANS_PER_CALL;
            let dropped = desk.metrics.spans_dropped.clone();
            let (tracer, queue) = Tracer::new(environment.sampler, room, dropped.clone());
            desk.tracer = tracer;
            let export = SpanExport {
                sender,
                resource: resource.clone(),
                exported: desk.metrics.spans_exported.clone(),
                dropped,
                health: Health::default(),
            };
            let (delay, most) = (environment.span_delay, environment.max_batch);
            exporter
                .tasks
                .spawn(export.run(queue, delay, most, exporter.stop.clone()));
        }
        if let Some(sender) = sender(environment.metrics) {
            let export = MetricExport {
                sender,
                resource,
                desk: Arc::clone(desk),
                start: now(),
                health: Health::default(),
            };
            let every = environment.metrics_every;
            exporter
                .tasks
                .spawn(export.run(every, exporter.stop.clone()));
        }
        (!exporter.tasks.is_empty()).then_some(exporter)
    }

    /// Sends what is left, after the last call.
    pub async fn finish(mut self) {
        self.stop.cancel();
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(LAST_WAIT, ended).await.is_err() {
            tracing::warn!("OpenTelemetry: the last spans and metrics could not be sent in time");
        }
    }
}

fn sender(target: Option<ExportTarget>) -> Option<Sender> {
    let sender = Sender::new(target?);
    sender
        .inspect_err(|error| tracing::warn!("OpenTelemetry: {error}"))
        .ok()
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or_default()
    })
}

/// Whether the last export went well, so that only changes are logged.
#[derive(Default)]
struct Health {
    is_failing: bool,
}

impl Health {
    fn note(&mut self, what: &str, result: &Result<(), Failure>) {
        let was_failing = std::mem::replace(&mut self.is_failing, result.is_err());
        match result {
            Err(failure) if !was_failing => {
                let cause = failure.text();
                tracing::warn!("OpenTelemetry: {what} can't be exported: {cause}");
            }
            Ok(()) if was_failing => tracing::info!("OpenTelemetry: {what} are exported again"),
            _ => {}
        }
    }
}

struct SpanExport {
    sender: Sender,
    resource: Resource,
    exported: Counter,
    dropped: Counter,
    health: Health,
}

impl SpanExport {
    /// Sends a batch when it is large enough or old enough.
    async fn run(
        mut self,
        mut queue: mpsc::Receiver<Vec<Span>>,
        delay: Duration,
        most: usize,
        stop: CancellationToken,
    ) {
        let mut batch: Vec<Span> = Vec::new();
        let mut due = Instant::now();
        loop {
            tokio::select! {
                spans = queue.recv() => {
                    let Some(spans) = spans else { break };
                    if batch.is_empty() {
                        due = Instant::now() + delay;
                    }
                    batch.extend(spans);
                    if batch.len() < most {
                        continue;
                    }
                }
                () = tokio::time::sleep_until(due), if !batch.is_empty() => {}
                () = stop.cancelled() => break,
            }
            let spans = std::mem::take(&mut batch);
            // A program that ends does not wait for repetitions.
            tokio::select! {
                () = self.export(&spans) => {}
                () = stop.cancelled() => {
                    batch = spans;
                    break;
                }
            }
        }
        while let Ok(spans) = queue.try_recv() {
            batch.extend(spans);
        }
        for spans in batch.chunks(most) {
            let body = traces::request(self.sender.encoding(), &self.resource, spans);
            let result = self.sender.send_once(body).await;
            self.count(spans.len(), &result);
        }
    }

    async fn export(&mut self, spans: &[Span]) {
        let body = traces::request(self.sender.encoding(), &self.resource, spans);
        let result = self.sender.send(body).await;
        self.count(spans.len(), &result);
    }

    fn count(&mut self, spans: usize, result: &Result<(), Failure>) {
        let counter = if result.is_ok() {
            &self.exported
        } else {
            &self.dropped
        };
        counter.inc_by(spans as u64);
        self.health.note("spans", result);
    }
}

struct MetricExport {
    sender: Sender,
    resource: Resource,
    desk: Arc<Desk>,
    /// When the counts began.
    start: u64,
    health: Health,
}

impl MetricExport {
    async fn run(mut self, every: Duration, stop: CancellationToken) {
        loop {
            let is_last = tokio::select! {
                () = tokio::time::sleep(every) => false,
                () = stop.cancelled() => true,
            };
            if let Some(body) = self.request() {
                // Not repeated: the next export has the same counts and more.
                let result = self.sender.send_once(body).await;
                self.health.note("metrics", &result);
            }
            if is_last {
                return;
            }
        }
    }

    fn request(&self) -> Option<Vec<u8>> {
        let text = self.desk.metrics.text(self.desk.pools()).ok()?;
        let period = Period {
            start: self.start,
            end: now(),
        };
        let families = openmetrics::parse(&text);
        let encoding = self.sender.encoding();
        Some(metrics::request(
            encoding,
            &self.resource,
            &families,
            period,
        ))
    }
}
