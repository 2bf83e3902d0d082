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
    entry::Entry,
    queue::{Place, Queue},
    store::Shelf,
    writer::{About, Writer},
};

/// Long enough that a busy day is a handful of files, short enough to be read
/// at once.
const SEGMENT_BYTES: u64 = 64 * 1024 * 1024;

/// How long the end of the program waits for the last records.
const LAST_WAIT: Duration = Duration::from_secs(10);

/// This process's own part of the trail, and the way to the rest.
pub struct Trail {
    pub shelf: Arc<dyn Shelf>,
    pub(super) queue: Arc<Queue>,
    clock: Clock,
    pub(super) about: About,
    started: Once,
    begun: AtomicBool,
    lost: AtomicU64,
}

impl Trail {
    pub fn new(
        shelf: Arc<dyn Shelf>,
        clock: Clock,
        process: String,
        counters: Vec<Vec<&'static str>>,
    ) -> Self {
        Self {
            shelf,
            queue: Arc::new(Queue::new()),
            clock,
            about: About {
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

    /// A place for one record: to be taken before it is pushed.
    pub async fn place(&self) -> Place {
        self.queue.place().await
    }

    pub fn try_place(&self) -> Place {
        self.queue.try_place()
    }

    /// Leaves a record; it is written a moment later.
    pub fn push(&self, entry: Entry) {
        self.start();
        self.own_up();
        self.queue.push(entry);
    }

    /// Leaves a record; the answer says whether it is on disk.
    pub fn push_durable(&self, entry: Entry) -> oneshot::Receiver<bool> {
        self.start();
        self.own_up();
        self.queue.push_durable(entry)
    }

    /// A record found no place.
    pub fn lose(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// Records how many were lost, as soon as there is a place for it.
    fn own_up(&self) {
        if self.lost.load(Ordering::Relaxed) > 0
            && !self.is_failing()
            && self.try_place() == Place::Taken
        {
            let count = self.lost.swap(0, Ordering::Relaxed);
            let at = self.now();
            self.queue.push(Entry::Lost { at, count });
        }
    }

    /// Sees to it that this process has a segment before it changes anything.
    /// While that can't be done, only those wait who can't do without.
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

    /// Ends a segment that is due and that nobody is using.
    pub async fn tidy(&self) {
        if self.started.is_completed() {
            self.begun.store(false, Ordering::Release);
            let _ = self.queue.tidy().await;
        }
    }

    /// Writes everything and ends the segment.
    pub async fn close(&self) {
        if self.started.is_completed() {
            self.own_up();
            let closed = tokio::time::timeout(LAST_WAIT, self.queue.close()).await;
            if closed.is_err() {
                tracing::error!("the audit trail could not be closed in time");
            }
        }
    }

    fn start(&self) {
        self.started.call_once(|| {
            let writer = Writer::new(
                Arc::clone(&self.shelf),
                Arc::clone(&self.queue),
                self.clock.clone(),
                self.about.clone(),
            );
            let spawned = std::thread::Builder::new()
                .name("audit".into())
                .spawn(move || writer.run());
            if let Err(error) = spawned {
                tracing::error!(%error, "the audit trail has no writer");
                self.queue.set_failing(true);
            }
        });
    }
}
