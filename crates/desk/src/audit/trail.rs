//! This process's own part of the trail.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use kit::time::Clock;
use tokio::sync::oneshot;

use super::{
    activity::RecentActivity,
    entry::AuditEntry,
    queue::{Queue, Reservation},
    store::AuditStore,
    writer::{ProcessInfo, Writer},
};

/// Large enough that a busy day is a handful of files, small enough to be read at
/// once.
const SEGMENT_BYTES: u64 = 64 * 1024 * 1024;

/// Often enough that little can disappear unnoticed, rarely enough that reads cost
/// nothing.
const SYNC_AFTER: Duration = Duration::from_secs(5);

/// Into how many segments a trail of limited size is divided at least.
const SEGMENTS: u64 = 16;
const SMALLEST_SEGMENT: u64 = 16 * 1024;

/// How long the program waits for the last records before it exits.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Records calls of this process. `store` also gives access to all other segments.
pub struct Trail {
    pub store: Arc<dyn AuditStore>,
    pub activity: RecentActivity,
    pub(super) queue: Arc<Queue>,
    clock: Clock,
    pub(super) process_info: ProcessInfo,
    started: AtomicBool,
    starting: Mutex<()>,
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
            activity: RecentActivity::default(),
            queue: Arc::new(Queue::new()),
            clock,
            process_info: ProcessInfo {
                process,
                counters,
                segment_bytes: SEGMENT_BYTES,
                sync_after: SYNC_AFTER,
            },
            started: AtomicBool::new(false),
            starting: Mutex::default(),
            begun: AtomicBool::new(false),
            lost: AtomicU64::new(0),
        }
    }

    /// Keeps segments short enough that dropping one of them drops little.
    pub fn bounded(mut self, max_bytes: u64) -> Self {
        if max_bytes > 0 {
            let part = (max_bytes / SEGMENTS).max(SMALLEST_SEGMENT);
            self.process_info.segment_bytes = part.min(SEGMENT_BYTES);
        }
        self
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

    /// Gives a reserved place back.
    pub fn release(&self) {
        self.queue.release(1);
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

    /// Adds the record of a change whose row is on disk. The receiver learns whether the
    /// record is in the file, from where it is synced a moment later. If the power fails
    /// before that, the next process makes a record from the row.
    pub fn push_written(&self, entry: AuditEntry) -> oneshot::Receiver<bool> {
        self.start();
        self.record_losses();
        self.queue.push_written(entry)
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
            if !self.start() {
                return;
            }
            let begun = self.queue.begin();
            let wait = required || !self.is_failing();
            if wait && begun.await == Ok(true) {
                self.begun.store(true, Ordering::Release);
            }
        }
    }

    /// Ends the segment if it is due and no call is in flight.
    pub async fn tidy(&self) {
        if self.is_started() {
            self.begun.store(false, Ordering::Release);
            let _ = self.queue.tidy().await;
        }
    }

    /// Writes everything and ends the segment.
    pub async fn close(&self) {
        if self.is_started() {
            self.record_losses();
            let closed = tokio::time::timeout(CLOSE_TIMEOUT, self.queue.close()).await;
            if closed.is_err() {
                tracing::error!("the audit trail could not be closed in time");
            }
        }
    }

    /// Starts the thread that writes; `false` if the system has none left. The next
    /// record tries again.
    fn start(&self) -> bool {
        if self.is_started() {
            return true;
        }
        let _starting = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_started() {
            return true;
        }
        let writer = Writer::new(
            Arc::clone(&self.store),
            Arc::clone(&self.queue),
            self.clock.clone(),
            self.process_info.clone(),
        );
        let spawned = std::thread::Builder::new()
            .name("audit".into())
            .spawn(move || writer.run());
        if let Err(error) = &spawned
            && self.queue.set_failing(true)
        {
            tracing::error!(%error, "the audit writer could not be started");
        }
        self.started.store(spawned.is_ok(), Ordering::Release);
        spawned.is_ok()
    }

    fn is_started(&self) -> bool {
        self.started.load(Ordering::Acquire)
    }
}
