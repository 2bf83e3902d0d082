//! Tells from a file's metadata whether it changed.

use std::{
    fs::Metadata,
    time::{Duration, SystemTime},
};

/// A file that is written in place is read after it has not changed for this
/// long. The longer time is for a file that became shorter, since it may have
/// been truncated to be rewritten.
const QUIET: Duration = Duration::from_millis(25);
const SHORTER_QUIET: Duration = Duration::from_millis(100);
/// The same while a process has it open for writing.
const OPEN_QUIET: Duration = Duration::from_secs(1);
const OPEN_SHORTER_QUIET: Duration = Duration::from_secs(2);

/// Identifies one version of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    pub(super) file: (u64, u64),
    pub(super) size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    #[cfg(unix)]
    pub fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            file: (metadata.dev(), metadata.ino()),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    #[cfg(not(unix))]
    pub fn of(metadata: &Metadata) -> Self {
        let since = |time: std::io::Result<SystemTime>| {
            let time = time
                .ok()
                .and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
            time.map_or((0, 0), |at| {
                (at.as_secs() as i64, i64::from(at.subsec_nanos()))
            })
        };
        Self {
            file: (0, 0),
            size: metadata.len(),
            modified: since(metadata.modified()),
            changed: since(metadata.created()),
        }
    }

    /// Whether file and content are the same. A rename changes only
    /// `changed`.
    pub fn same_content(&self, other: &Self) -> bool {
        (self.file, self.size, self.modified) == (other.file, other.size, other.modified)
    }

    /// Old enough that another change would get a different time. Some
    /// systems have steps of several milliseconds.
    pub fn is_settled(&self) -> bool {
        age(self.modified.max(self.changed)) > Duration::from_millis(20)
    }

    /// Whether a process may still be writing it. A file that was renamed
    /// into place is complete; the rename shows in `changed`.
    pub(super) fn may_be_half_written(&self, was: Option<u64>, open: bool) -> bool {
        let shorter = was.is_some_and(|was| self.size < was);
        let quiet = match (open, shorter) {
            (false, false) => QUIET,
            (false, true) => SHORTER_QUIET,
            (true, false) => OPEN_QUIET,
            (true, true) => OPEN_SHORTER_QUIET,
        };
        self.modified == self.changed && age(self.modified) < quiet
    }

    pub fn modified_ms(&self) -> i64 {
        self.modified.0 * 1000 + self.modified.1 / 1_000_000
    }
}

fn age(at: (i64, i64)) -> Duration {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let then = Duration::new(at.0.max(0) as u64, at.1.clamp(0, 999_999_999) as u32);
    // A time in the future counts as old.
    now.checked_sub(then).unwrap_or(Duration::MAX)
}
