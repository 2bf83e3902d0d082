//! What a store of segments can do. There are two: files and a table.
//!
//! Every method blocks. Call them from the writer's thread, from a command or
//! through [`blocking`](super::blocking), never from a task that serves.

use std::{
    collections::{HashMap, HashSet},
    time::Instant,
};

use kit::{Blocking, Result};

use super::{
    position::{NewestFirst, Position},
    ranges::RecordRanges,
    record::{Head, Record, RecordLine},
};

/// The name of the chain of checkpoints. It is not a segment.
pub const CHECKPOINTS: &str = "checkpoints";

/// How many threads a store has for its work. It waits for a disk or a database, and
/// none of it is urgent.
pub const THREADS: usize = 2;

/// A segment as read from the store.
#[derive(Debug, Default)]
pub struct StoredSegment {
    /// The line of each record, and the line with its arguments.
    pub lines: Vec<(String, Option<String>)>,
    /// Bytes after the last whole line.
    pub torn: u64,
    /// Whether this store has arguments at all. A copy of the chains alone has
    /// none.
    pub keeps_arguments: bool,
}

impl StoredSegment {
    /// The bytes of its records and arguments.
    pub fn bytes(&self) -> u64 {
        let lines = self.lines.iter();
        let bytes = |(line, arguments): &(String, Option<String>)| {
            line.len() + arguments.as_ref().map_or(0, String::len)
        };
        lines.map(|line| bytes(line) as u64).sum()
    }
}

/// The result of adding lines to a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    Written,
    /// Another process considered this one dead and sealed its segment.
    Lost,
}

/// Adds to a segment. While it exists, no other process may.
pub trait SegmentWriter: Send {
    /// Writes all lines or none. `durable`: they, and all before them, are on disk
    /// when this returns.
    fn append(&mut self, lines: &[RecordLine], durable: bool) -> Result<Appended>;

    /// Since when some records are written but perhaps not on disk.
    fn unsynced_since(&self) -> Option<Instant> {
        None
    }

    /// Syncs the arguments. Nobody waits for this.
    fn sync_arguments(&mut self) {}

    /// Writes the last record and seals the segment, or does neither.
    fn end(&mut self, last: &RecordLine, seal: Record<'static>) -> Result<()>;
}

/// Held while this process recovers the segment of a dead one.
pub type SegmentClaim = Box<dyn Send>;

pub trait AuditStore: Send + Sync {
    /// All segments, oldest first.
    fn segments(&self) -> Result<Vec<String>>;

    /// The segments that no checkpoint seals.
    fn unsealed(&self) -> Result<Vec<String>>;

    /// The segments that may have records from `since` on, newest first. The time
    /// is that of the segment's last record, or later.
    fn touched(&self, since: i64) -> Result<Vec<(String, i64)>>;

    fn read(&self, segment: &str) -> Result<Option<StoredSegment>>;

    /// The lines of all segments before this position, newest first. Reads only as far
    /// as it is asked.
    fn newest_first(&self, before: Option<Position>) -> Result<NewestFirst<'_>>;

    /// The line with this number.
    fn line(&self, segment: &str, seq: u64) -> Result<Option<String>>;

    /// The arguments of the record with this number.
    fn arguments(&self, segment: &str, seq: u64) -> Result<Option<String>>;

    fn first(&self, segment: &str) -> Result<Option<String>>;

    fn head(&self, segment: &str) -> Result<Option<Head>>;

    /// The heads that the writers of unsealed segments keep apart from the records.
    /// Everything up to such a head is on disk.
    fn kept_heads(&self) -> Result<Vec<Head>>;

    /// The last record of a segment, which is on disk when this returns.
    fn durable_head(&self, segment: &str) -> Result<Option<Head>>;

    fn is_live(&self, segment: &str) -> Result<bool>;

    /// Claims the segment for recovery if its process is dead.
    fn claim(&self, segment: &str) -> Result<Option<SegmentClaim>>;

    /// Which of these calls have a record in any segment.
    fn recorded(&self, calls: &HashSet<String>, since: i64) -> Result<HashSet<String>>;

    fn begin(&self, segment: &str, first: &RecordLine) -> Result<Box<dyn SegmentWriter>>;

    /// The lines of the chain of checkpoints.
    fn checkpoints(&self) -> Result<Vec<String>>;

    /// Adds checkpoints. `sealed` names the claimed segment that they seal.
    fn checkpoint(&self, records: Vec<(Record<'static>, i64)>, sealed: Option<&str>) -> Result<()>;

    /// Moves a torn last line of a claimed segment out of it; returns its length.
    fn quarantine_torn_line(&self, segment: &str) -> Result<u64>;

    /// Erases the arguments of these records; returns how many had any.
    fn erase(&self, segment: &str, records: &RecordRanges) -> Result<u64>;

    /// Removes a segment. A checkpoint must say before that it was dropped.
    fn remove(&self, segment: &str) -> Result<()>;

    /// Compresses sealed segments, where that saves space; returns how many files.
    fn compress(&self) -> Result<u64> {
        Ok(0)
    }

    /// How much space the trail takes.
    fn bytes(&self) -> Result<u64>;

    /// About how much space each segment takes.
    fn sizes(&self) -> Result<HashMap<String, u64>>;

    /// How many bytes are free where the trail is; `None`: unknown.
    fn free_bytes(&self) -> Option<u64> {
        None
    }

    /// Where [`blocking`](super::blocking) runs work on this store.
    fn threads(&self) -> &Blocking;

    /// How often a writer must write to count as alive; `None`: no need.
    fn heartbeat(&self) -> Option<std::time::Duration>;
}
