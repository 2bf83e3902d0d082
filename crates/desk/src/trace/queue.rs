//! Where the spans of finished calls wait for their export.

use prometheus_client::metrics::counter::Counter;
use tokio::sync::mpsc;

use super::span::Span;

/// When it is full, further spans are dropped and counted, so that a call never waits.
pub struct SpanQueue {
    queue: mpsc::Sender<Vec<Span>>,
    dropped: Counter,
}

impl SpanQueue {
    /// With room for the spans of this many calls.
    pub fn new(room: usize, dropped: Counter) -> (Self, mpsc::Receiver<Vec<Span>>) {
        let (queue, spans) = mpsc::channel(room.max(1));
        (Self { queue, dropped }, spans)
    }

    pub fn add(&self, spans: Vec<Span>) {
        let count = spans.len() as u64;
        if self.queue.try_send(spans).is_err() {
            self.dropped.inc_by(count);
        }
    }
}
