//! Which files may have changed since the last search, as far as they are
//! reported.
//!
//! The system reports changes in their order, but a little later. So before a
//! search trusts the reports, it creates a file in a directory that the same
//! watcher watches, the fence, and waits for the report of it. All earlier
//! changes have been reported then.

use std::{
    collections::HashSet,
    fs::{self, File},
    mem,
    path::PathBuf,
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

use super::walk::MOST_FILES;
use crate::sync::locked;

/// How long to wait for the fence's report. After that, every file is checked.
const PATIENCE: Duration = Duration::from_millis(100);

#[derive(Default)]
pub struct Reports {
    pending: Mutex<PendingReports>,
    passed: Condvar,
}

#[derive(Default)]
struct PendingReports {
    /// Names of files that may have changed.
    names: HashSet<String>,
    /// Every file must be checked once.
    check_all: bool,
    /// `None` while nobody watches.
    fence: Option<PathBuf>,
    /// New directories and the like, which are not watched yet.
    unwatched: usize,
    last_fence: u64,
    last_passed: u64,
}

pub enum Changes {
    /// Only these files may have changed.
    Files(HashSet<String>),
    Unknown,
}

impl Reports {
    /// Notes that a file may have changed.
    pub fn touch(&self, name: &str) {
        let mut pending = locked(&self.pending);
        if pending.names.len() < MOST_FILES {
            pending.names.insert(name.to_owned());
        } else {
            pending.check_all = true;
        }
    }

    /// Something may not be watched. Until [`Self::watched_again`] is called
    /// as often, every search checks every file.
    pub fn unwatched(&self) {
        locked(&self.pending).unwatched += 1;
    }

    pub fn watched_again(&self) {
        let mut pending = locked(&self.pending);
        pending.unwatched = pending.unwatched.saturating_sub(1);
        pending.check_all = true;
    }

    /// Starts or ends the trust in reports. `fence` is watched too.
    pub fn set_fence(&self, fence: Option<PathBuf>) {
        let mut pending = locked(&self.pending);
        // Only Linux has one queue for all reports of a watcher.
        pending.fence = fence.filter(|_| cfg!(target_os = "linux"));
        pending.check_all = true;
    }

    /// For a report from within the fence.
    pub fn passed(&self, file_name: &str) {
        if let Ok(number) = file_name.parse() {
            let mut pending = locked(&self.pending);
            pending.last_passed = pending.last_passed.max(number);
            self.passed.notify_all();
        }
    }

    /// Everything that changed since the last call.
    pub fn take(&self) -> Changes {
        let is_complete = self.wait_at_fence();
        let mut pending = locked(&self.pending);
        let names = mem::take(&mut pending.names);
        let check_all = mem::take(&mut pending.check_all);
        match is_complete && !check_all && pending.unwatched == 0 {
            true => Changes::Files(names),
            false => Changes::Unknown,
        }
    }

    /// Whether all changes until now have been reported.
    fn wait_at_fence(&self) -> bool {
        let mut pending = locked(&self.pending);
        let Some(fence) = &pending.fence else {
            return false;
        };
        let number = pending.last_fence + 1;
        let path = fence.join(number.to_string());
        pending.last_fence = number;
        if File::create_new(&path).is_err() {
            return false;
        }
        let waits = |pending: &mut PendingReports| pending.last_passed < number;
        let waited = self.passed.wait_timeout_while(pending, PATIENCE, waits);
        let (pending, _) = waited.unwrap_or_else(PoisonError::into_inner);
        // The directory may be gone already.
        let _ = fs::remove_file(path);
        pending.last_passed >= number
    }
}
