//! Where segments stand: files of their own, or rows of one table.
//!
//! Everything here blocks: it is called from the writer's thread, from a command,
//! or from a blocking task, never from a task that serves.

use std::collections::HashSet;

use kit::Result;

use super::{
    record::{Head, Line, Record},
    runs::Runs,
};

/// The name of the chain of checkpoints, which is no segment.
pub const CHECKPOINTS: &str = "checkpoints";

/// A segment as it was read.
#[derive(Debug, Default)]
pub struct Stored {
    /// Each record's line, and what stands beside it.
    pub lines: Vec<(String, Option<String>)>,
    /// Bytes after the last whole line.
    pub torn: u64,
    /// Whether arguments are kept in this place at all. A copy of the chains
    /// alone has none.
    pub keeps_arguments: bool,
}

/// Whether a piece of a trail was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    Written,
    /// Somebody took this process for dead and sealed its segment.
    Lost,
}

/// The one who may add to a segment, for as long as it lives.
pub trait Pen: Send {
    /// All of it or nothing. `durable`: it is on disk when this returns.
    fn append(&mut self, lines: &[Line], durable: bool) -> Result<Appended>;

    /// What need not be waited for.
    fn settle(&mut self) {}

    /// Writes the last record and seals the segment, or does neither.
    fn end(&mut self, last: &Line, seal: Record<'static>) -> Result<()>;
}

/// Says that a dead process's segment is being completed here.
pub type Claim = Box<dyn Send>;

pub trait Shelf: Send + Sync {
    /// Every segment, oldest first.
    fn segments(&self) -> Result<Vec<String>>;

    /// Those that no checkpoint seals.
    fn unsealed(&self) -> Result<Vec<String>>;

    /// Those that may hold records from `since` on, each with the time of its
    /// last one or later; newest first.
    fn touched(&self, since: i64) -> Result<Vec<(String, i64)>>;

    fn read(&self, segment: &str) -> Result<Option<Stored>>;

    fn first(&self, segment: &str) -> Result<Option<String>>;

    fn head(&self, segment: &str) -> Result<Option<Head>>;

    fn is_live(&self, segment: &str) -> Result<bool>;

    /// Whether this segment's process is no more; then it is ours to complete.
    fn claim(&self, segment: &str) -> Result<Option<Claim>>;

    /// Which of these calls have a record anywhere.
    fn recorded(&self, calls: &HashSet<String>, since: i64) -> Result<HashSet<String>>;

    fn begin(&self, segment: &str, first: &Line) -> Result<Box<dyn Pen>>;

    /// The lines of the chain of checkpoints.
    fn checkpoints(&self) -> Result<Vec<String>>;

    /// Adds to it. `sealed` names a claimed segment that is sealed by it.
    fn checkpoint(&self, records: Vec<(Record<'static>, i64)>, sealed: Option<&str>) -> Result<()>;

    /// Puts a torn last line of a claimed segment aside; returns its length.
    fn put_torn_aside(&self, segment: &str) -> Result<u64>;

    /// Erases what stands beside these records; returns how many had anything.
    fn erase(&self, segment: &str, records: &Runs) -> Result<u64>;

    /// Removes a segment that was dropped.
    fn remove(&self, segment: &str) -> Result<()>;

    /// How often a pen must write to be taken for alive; `None`: it need not.
    fn heartbeat(&self) -> Option<std::time::Duration>;
}
