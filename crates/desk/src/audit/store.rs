//! What a store of segments can do. There are two: files and a table.
//!
//! Every method blocks. Call them from the writer's thread, from a command or
//! through [`blocking`](super::blocking), never from a task that serves.

use std::collections::HashSet;

use kit::{Blocking, Result};

use super::{
    ranges::RecordRanges,
    record::{Head, Line, Record},
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

/// The result of adding lines to a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    Written,
    /// Another process considered this one dead and sealed its segment.
    Lost,
}

/// Adds to a segment. While it exists, no other process may.
pub trait SegmentWriter: Send {
    /// Writes all lines or none. `durable`: they are on disk when this returns.
    fn append(&mut self, lines: &[Line], durable: bool) -> Result<Appended>;

    /// Syncs the arguments. Nobody waits for this.
    fn sync_arguments(&mut self) {}

    /// Writes the last record and seals the segment, or does neither.
    fn end(&mut self, last: &Line, seal: Record<'static>) -> Result<()>;
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

    fn first(&self, segment: &str) -> Result<Option<String>>;

    fn head(&self, segment: &str) -> Result<Option<Head>>;

    fn is_live(&self, segment: &str) -> Result<bool>;

    /// Claims the segment for recovery if its process is dead.
    fn claim(&self, segment: &str) -> Result<Option<SegmentClaim>>;

    /// Which of these calls have a record in any segment.
    fn recorded(&self, calls: &HashSet<String>, since: i64) -> Result<HashSet<String>>;

    fn begin(&self, segment: &str, first: &Line) -> Result<Box<dyn SegmentWriter>>;

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

    /// Where [`blocking`](super::blocking) runs work on this store.
    fn threads(&self) -> &Blocking;

    /// How often a writer must write to count as alive; `None`: no need.
    fn heartbeat(&self) -> Option<std::time::Duration>;
}
