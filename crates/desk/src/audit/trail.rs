//! This process's own part of the trail.

use std::{
    sync::{
        Arc, Once,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use kit::time::Clock;
use tokio::sync::oneshot;

use super::{
    entry::AuditEntry,
    queue::{Queue, Reservation},
    store::AuditStore,
    writer::{ProcessInfo, Writer},
};

/// Large enough that a busy day is a handful of files, small enough to be read at
/// once.
const SEGMENT_BYTES: u64 = 64 * 1024 * 1024;

/// How long the program waits for the last records before it exits.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Records calls of this process. `store` also gives access to all other segments.
pub struct Trail {
    pub store: Arc<dyn AuditStore>,
    pub(super) queue: Arc<Queue>,
    clock: Clock,
    pub(super) process_info: ProcessInfo,
    started: Once,
    begun: AtomicBool,
    lost: AtomicU64,
}

impl Trail {
    pub fn new(
        store: Arc<dyn AuditStore>,
        clock: Clock,
        process: String,
        counters: Vec<Vec<&'static str>>,
    ) -> Self {
        Self {
            store,
            queue: Arc::new(Queue::new()),
            clock,
            process_info: ProcessInfo {
                process,
                counters,
                segment_bytes: SEGMENT_BYTES,
            },
            started: Once::new(),
            begun: AtomicBool::new(false),
            lost: AtomicU64::new(0),
        }
    }

    pub fn now(&self) -> i64 {
        self.clock.now().as_millisecond()
    }

    pub fn is_failing(&self) -> bool {
        self.queue.is_failing()
    }

    /// Reserves a place for one record, which must be done before it is pushed.
    pub async fn reserve(&self) -> Reservation {
        self.queue.reserve().await
    }

    pub fn try_reserve(&self) -> Reservation {
        self.queue.try_reserve()
    }

    /// Adds a record. It is written a moment later.
    pub fn push(&self, entry: AuditEntry) {
        self.start();
        self.record_losses();
        self.queue.push(entry);
    }

    /// Adds a record. The receiver learns whether it is on disk.
    pub fn push_durable(&self, entry: AuditEntry) -> oneshot::Receiver<bool> {
        self.start();
        self.record_losses();
        self.queue.push_durable(entry)
    }

    /// Counts a record for which there was no place.
    pub fn count_lost(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// Records how many records were lost, as soon as there is a place for it.
    fn record_losses(&self) {
        if self.lost.load(Ordering::Relaxed) > 0
            && !self.is_failing()
            && self.try_reserve() == Reservation::Reserved
        {
            let count = self.lost.swap(0, Ordering::Relaxed);
            let at = self.now();
            self.queue.push(AuditEntry::Lost { at, count });
        }
    }

    /// Makes sure that this process has a segment before it changes anything. While
    /// writing fails, waits only if records are `required`.
    pub async fn begin(&self, required: bool) {
        if !self.begun.load(Ordering::Acquire) {
            self.start();
            let begun = self.queue.begin();
            let wait = required || !self.is_failing();
            if wait && begun.await == Ok(true) {
                self.begun.store(true, Ordering::Release);
            }
        }
    }

    /// Ends the segment if it is due and no call is in flight.
    pub async fn tidy(&self) {
        if self.started.is_completed() {
            self.begun.store(false, Ordering::Release);
            let _ = self.queue.tidy().await;
        }
    }

    /// Writes everything and ends the segment.
    pub async fn close(&self) {
        if self.started.is_completed() {
            self.record_losses();
            let closed = tokio::time::timeout(CLOSE_TIMEOUT, self.queue.close()).await;
            if closed.is_err() {
                tracing::error!("the audit trail could not be closed in time");
            }
        }
    }

    fn start(&self) {
        self.started.call_once(|| {
            let writer = Writer::new(
                Arc::clone(&self.store),
                Arc::clone(&self.queue),
                self.clock.clone(),
                self.process_info.clone(),
            );
            let spawned = std::thread::Builder::new()
                .name("audit".into())
                .spawn(move || writer.run());
            if let Err(error) = spawned {
                tracing::error!(%error, "the audit writer could not be started");
                self.queue.set_failing(true);
            }
        });
    }
}
