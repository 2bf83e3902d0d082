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
    path::{Path, PathBuf},
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

use super::walk::MOST_FILES;
use crate::sync::locked;

/// How long to wait for the fence's report. After that, every file is checked.
const PATIENCE: Duration = Duration::from_millis(100);

/// Where files are created whose reports show that all earlier ones have arrived. All
/// processes of a user share the directory, so that a killed one leaves none behind.
#[derive(Debug, Clone)]
pub struct Fence {
    directory: PathBuf,
    /// Begins the names of this process's files.
    token: String,
}

impl Fence {
    /// `None` if the system has no such place.
    #[cfg(target_os = "linux")]
    pub fn new() -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let user = fs::metadata("/proc/self").ok()?.uid();
        let temporary = std::env::temp_dir().canonicalize().ok()?;
        let directory = temporary.join(format!("madoguchi-todo-{user}"));
        // Fails if it exists.
        let _ = fs::create_dir(&directory);
        let found = fs::symlink_metadata(&directory).ok()?;
        let is_ours = found.is_dir() && found.uid() == user;
        let token = kit::ids::random("f", 16);
        is_ours.then_some(Self { directory, token })
    }

    /// Only Linux has one queue for all reports of a watcher.
    #[cfg(not(target_os = "linux"))]
    pub fn new() -> Option<Self> {
        None
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn file(&self, number: u64) -> PathBuf {
        self.directory.join(format!("{}-{number}", self.token))
    }

    /// The number of a file of this process.
    pub fn number(&self, path: &Path) -> Option<u64> {
        let name = path.file_name()?.to_str()?;
        name.strip_prefix(&self.token)?
            .strip_prefix('-')?
            .parse()
            .ok()
    }
}

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
    fence: Option<Fence>,
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

    /// Starts or ends the trust in reports. The fence's directory is watched too.
    pub fn set_fence(&self, fence: Option<Fence>) {
        let mut pending = locked(&self.pending);
        pending.fence = fence;
        pending.check_all = true;
    }

    /// For a report from within the fence.
    pub fn passed(&self, number: u64) {
        let mut pending = locked(&self.pending);
        pending.last_passed = pending.last_passed.max(number);
        self.passed.notify_all();
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
        let path = fence.file(number);
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
