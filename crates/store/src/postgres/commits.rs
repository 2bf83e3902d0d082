//! Finds out whether a transaction was committed when the answer to its COMMIT was lost.
//!
//! Every write begins by storing a number of its own in a row, its lane, which stays
//! locked until the transaction ends. A repeated transaction begins with the same number
//! in the same lane: it waits until the first one is decided, and then either finds the
//! number there, so the first one was committed, or stores it and does the work.
//! The server's transaction ids can't tell this: a standby that lost the transaction
//! gives its id to another one.
//!
//! A lane is updated in place, so the table has a row for every concurrent write of a
//! process and no more.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use kit::{counter::Migrations, sql::Migration};

pub(super) const MIGRATIONS: Migrations = Migrations {
    owner: "store",
    steps: &[Migration {
        version: 1,
        name: "commits",
        // No index has columns that change, so a new version of a row stays in the page
        // of the old one.
        sql: "CREATE TABLE madoguchi_commits (
            process BIGINT NOT NULL,
            lane BIGINT NOT NULL,
            number BIGINT NOT NULL,
            at_ms BIGINT NOT NULL,
            PRIMARY KEY (process, lane)
        )",
    }],
};

/// Whether the table exists.
pub(super) const IS_READY: &str = "SELECT to_regclass('madoguchi.madoguchi_commits') IS NOT NULL";

/// Removes the lanes of processes that ended long ago.
pub(super) const PRUNE: &str = "DELETE FROM madoguchi.madoguchi_commits
    WHERE at_ms < CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT) - 86400000";

/// By then the server has ended a transaction that nobody hears of.
const FORGOTTEN: Duration = Duration::from_secs(60);

/// The lanes of this process.
pub(super) struct Commits {
    process: i64,
    is_ready: AtomicBool,
    next_lane: AtomicI64,
    next_number: AtomicI64,
    unused: Mutex<Unused>,
}

#[derive(Default)]
struct Unused {
    free: Vec<i64>,
    /// Lanes that a transaction may still hold, and since when.
    doubtful: VecDeque<(Instant, i64)>,
}

impl Unused {
    fn take(&mut self) -> Option<i64> {
        if let Some(lane) = self.free.pop() {
            return Some(lane);
        }
        let (since, lane) = *self.doubtful.front()?;
        let is_free = since.elapsed() > FORGOTTEN;
        is_free.then(|| {
            self.doubtful.pop_front();
            lane
        })
    }
}

impl Commits {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            process: rand::random(),
            is_ready: AtomicBool::new(false),
            next_lane: AtomicI64::new(0),
            next_number: AtomicI64::new(0),
            unused: Mutex::default(),
        })
    }

    /// The table exists from now on.
    pub fn set_ready(&self) {
        self.is_ready.store(true, Ordering::Relaxed);
    }

    pub fn is_ready(&self) -> bool {
        self.is_ready.load(Ordering::Relaxed)
    }

    /// A mark for one write. `None` before the table exists.
    pub fn mark(self: &Arc<Self>) -> Option<Mark> {
        if !self.is_ready() {
            return None;
        }
        let unused = self.unused().take();
        Some(Mark {
            lane: unused.unwrap_or_else(|| self.next_lane.fetch_add(1, Ordering::Relaxed)),
            number: self.next_number.fetch_add(1, Ordering::Relaxed),
            commits: Arc::clone(self),
            is_over: false,
        })
    }

    fn unused(&self) -> MutexGuard<'_, Unused> {
        self.unused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What marks one write as committed.
pub(super) struct Mark {
    commits: Arc<Commits>,
    lane: i64,
    number: i64,
    /// No transaction holds the lane any more.
    is_over: bool,
}

impl Drop for Mark {
    fn drop(&mut self) {
        let mut unused = self.commits.unused();
        match self.is_over {
            true => unused.free.push(self.lane),
            false => unused.doubtful.push_back((Instant::now(), self.lane)),
        }
    }
}

impl Mark {
    /// Changes a row, unless a transaction with this mark was committed.
    pub fn statement(&self) -> String {
        let (process, lane, number) = (self.commits.process, self.lane, self.number);
        format!(
            "INSERT INTO madoguchi.madoguchi_commits AS c VALUES ({process}, {lane}, {number}, \
             CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT)) \
             ON CONFLICT (process, lane) DO UPDATE \
             SET number = excluded.number, at_ms = excluded.at_ms \
             WHERE c.number <> excluded.number"
        )
    }

    /// Changes the row of a committed mark. The commit of this change comes after the
    /// one it is about: where the server waits for a standby, both are there.
    pub fn confirmation(&self) -> String {
        let (process, lane) = (self.commits.process, self.lane);
        format!(
            "UPDATE madoguchi.madoguchi_commits SET at_ms = at_ms + 1 \
             WHERE process = {process} AND lane = {lane}"
        )
    }

    /// The transaction has ended, and the lane is free for the next one.
    pub fn release(mut self) {
        self.is_over = true;
    }
}
