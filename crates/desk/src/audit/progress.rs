//! How far work on the whole trail has come.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrailProgress {
    pub segments_done: usize,
    pub segments: usize,
    /// Records that were checked or found so far.
    pub records: u64,
}

/// Called after each segment.
pub type Watch<'a> = &'a dyn Fn(TrailProgress);

/// For work that nobody watches.
pub const UNWATCHED: Watch<'static> = &|_| {};
