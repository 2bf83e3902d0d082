//! Requests counted in files beside the embedded database, one for each caller
//! and counter.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, Once, PoisonError},
    time::{Duration, Instant},
};

use kit::{Blocking, Error, Result, time::Clock};
use tokio::sync::OwnedMutexGuard;

use super::{
    admission::{Admission, CallerAtCounter},
    ring::{self, RingAdmission},
};
use crate::{digest, panics};

/// How many files are used at once; each use may have to wait for the disk.
const THREADS: usize = 4;

/// How long a request waits while another process holds the file. It holds it
/// for microseconds, unless it was stopped in the middle.
const PATIENCE: Duration = Duration::from_secs(1);
const RETRY_EVERY: Duration = Duration::from_millis(1);

pub struct FileCount {
    directory: PathBuf,
    clock: Clock,
    blocking: Blocking,
    turns: Mutex<HashMap<CallerAtCounter, Arc<tokio::sync::Mutex<()>>>>,
    swept: Once,
}

impl FileCount {
    pub fn new(directory: &Path, clock: &Clock) -> Self {
        Self {
            directory: directory.to_owned(),
            clock: clock.clone(),
            blocking: Blocking::new(THREADS),
            turns: Mutex::default(),
            swept: Once::new(),
        }
    }

    /// Requests of one caller in this process take turns, so that only other
    /// processes keep them from the file.
    pub async fn turn(&self, who: &CallerAtCounter) -> OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(turns.entry(who.clone()).or_default())
        };
        turn.lock_owned().await
    }

    pub async fn take(&self, who: &CallerAtCounter, limit: u64) -> Result<Admission> {
        self.swept.call_once(|| {
            let directory = self.directory.clone();
            self.blocking.run_later(move || ring::sweep(&directory));
        });
        let (caller, counter) = who;
        let name = ring::file_name(counter, &digest::sha256(caller.as_bytes()));
        let path = self.directory.join(name);
        let began = Instant::now();
        loop {
            let (file, clock) = (path.clone(), self.clock.clone());
            let taken = self.blocking.run(move || {
                ring::take(&file, limit, || clock.now().as_millisecond()).map_err(Error::internal)
            });
            match panics::caught("counting a request", taken).await? {
                RingAdmission::Admitted => return Ok(Admission::Admitted),
                RingAdmission::RetryAfter(wait) => {
                    return Ok(Admission::RetryAfter(u64::try_from(wait).unwrap_or(1)));
                }
                RingAdmission::Busy if began.elapsed() < PATIENCE => {
                    tokio::time::sleep(RETRY_EVERY).await
                }
                RingAdmission::Busy => {
                    let what = format!("another process holds {}", path.display());
                    return Err(Error::internal(what));
                }
            }
        }
    }
}
