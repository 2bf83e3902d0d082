//! What all work on the tables knows: the settings, and which process this is.

use std::sync::atomic::{AtomicI64, Ordering};

use kit::{Result, Sql, time::Clock};

use crate::Settings;

/// How often a process that serves agents shows that it is alive.
pub const BEAT_MS: i64 = 5_000;
/// A process that has not shown for so long that it is alive counts as ended.
pub const DEAD_MS: i64 = 20_000;

pub struct Tables {
    pub settings: Settings,
    /// The name of this process.
    pub process: String,
    /// When this process last showed that it is alive; 0 for never.
    beat: AtomicI64,
    /// The database's, because the processes may be on several machines. Tests do not
    /// set it.
    clock: Clock,
}

impl Tables {
    pub fn new(settings: Settings, clock: Clock) -> Self {
        Self {
            settings,
            process: kit::ids::random(&format!("{}-", std::process::id()), 8),
            beat: AtomicI64::new(0),
            clock,
        }
    }

    /// Whether this process has served anybody.
    pub fn has_served(&self) -> bool {
        self.beat.load(Ordering::Acquire) != 0
    }

    pub fn is_beat_due(&self) -> bool {
        self.now_ms() - self.beat.load(Ordering::Acquire) >= BEAT_MS
    }

    /// Call it once what [`Self::show_life`] wrote is committed.
    pub fn has_shown_life(&self) {
        self.beat.store(self.now_ms(), Ordering::Release);
    }

    /// Shows other processes that this one is alive.
    pub fn show_life(&self, sql: &mut dyn Sql) -> Result<()> {
        let beat = "INSERT INTO rooms_processes (id, seen_at) VALUES ($1, $2)
             ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at";
        sql.execute(beat, &[(&self.process).into(), self.now_ms().into()])?;
        Ok(())
    }

    /// Processes that have not shown life since then have ended.
    pub fn alive_since(&self) -> i64 {
        self.now_ms() - DEAD_MS
    }

    pub fn now_ms(&self) -> i64 {
        self.clock.now().as_millisecond()
    }
}

/// Locks what limits over all rooms depend on, until the transaction ends. Take it before
/// the lock of a room. Returns a number that no other holder gets.
pub fn lock_all(sql: &mut dyn Sql) -> Result<i64> {
    let lock = "UPDATE rooms_meta SET changes = changes + 1 WHERE id = 1 RETURNING changes";
    match sql.query_one(lock, &[])? {
        Some(row) => row.int(0),
        None => Err(kit::Error::internal("rooms_meta is empty")),
    }
}

/// A number of the database as ours; 0 for a negative one.
pub fn count(number: i64) -> usize {
    usize::try_from(number).unwrap_or_default()
}

/// One of ours as a number of the database.
pub fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// `$2, $3` for the parameters `from` and following.
pub fn places(from: usize, count: usize) -> String {
    let places: Vec<String> = (from..from + count).map(|n| format!("${n}")).collect();
    places.join(", ")
}
