//! What a shared count of requests says.

use std::sync::Arc;

/// A caller's id and a counter's name: each pair has a count of its own.
pub type CallerAtCounter = (Arc<str>, &'static str);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// The request passes, and counts.
    Admitted,
    /// It passes in this many milliseconds at the earliest. It does not count.
    RetryAfter(u64),
}
