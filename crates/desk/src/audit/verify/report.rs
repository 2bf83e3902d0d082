//! The result of verifying the trail.

use serde::Serialize;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    pub ok: bool,
    /// The first broken link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<Broken>,
    pub segments: u64,
    pub records: u64,
    /// Records whose arguments were erased.
    pub erased: u64,
    /// Records that are recorded as erased and still have arguments.
    pub not_yet_erased: u64,
    /// Records whose arguments are missing, though nobody erased them: the machine
    /// crashed, or this is a copy of the chains alone.
    pub without_arguments: u64,
    /// Records that were recovered after a crash.
    pub recovered: u64,
    /// Reads that have no record of their own and are counted in another.
    pub summarised: u64,
    /// Segments that were dropped because of their age or the size of the trail.
    pub dropped: u64,
    /// Heads that were stored elsewhere and are still in the trail.
    pub heads: u64,
    /// Segments being written now.
    pub live: u64,
    /// Segments of dead processes that have not been recovered yet.
    pub unfinished: Vec<String>,
    /// Segments of dead processes for which no head is kept: they were moved, restored,
    /// or written by an earlier version. Records missing at their end can't be noticed.
    pub without_head: Vec<String>,
    /// Segments whose last line was torn by a crash and quarantined.
    pub torn: Vec<String>,
    /// Records that were lost while the trail could not be written.
    pub lost: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Broken {
    pub segment: String,
    /// The number of the line, and of the record that should be there.
    pub line: u64,
    pub what: String,
}

pub fn broken(segment: &str, line: u64, what: impl Into<String>) -> Broken {
    Broken {
        segment: segment.to_owned(),
        line,
        what: what.into(),
    }
}
