//! Requests counted in files beside the embedded database, one for each caller
//! and counter.
//!
//! Requests of a caller that arrive at the same time are counted together: one of
//! them begins a task, which locks the file once for all that wait. So many requests
//! at once cost few system calls, and in this process nobody waits for the lock.

use std::{
    collections::{HashMap, VecDeque},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use kit::{Blocking, Error, Result, time::Clock};
use tokio::sync::oneshot;

use super::{
    admission::{Admission, CallerAtCounter},
    ring::{self, RingAdmission, RingFile},
};
use crate::{digest, panics};

/// How many files are used at once; each use may have to wait for the disk.
const THREADS: usize = 4;

/// How many files stay open for the next request.
const OPEN_FILES: usize = 64;

/// How often the files of callers without recent requests are closed and removed, and
/// these callers forgotten.
const SWEEP_EVERY: Duration = Duration::from_secs(600);

/// How long a request waits while another process holds the file. It holds it
/// for microseconds, unless it was stopped in the middle.
const PATIENCE: Duration = Duration::from_secs(1);
const RETRY_EVERY: Duration = Duration::from_millis(1);

pub struct FileCount {
    directory: PathBuf,
    clock: Clock,
    blocking: Blocking,
    callers: Mutex<HashMap<CallerAtCounter, Arc<CallerCount>>>,
    open_files: Arc<Mutex<OpenFiles>>,
    swept: Mutex<Option<Instant>>,
}

/// With the time of the last use; the one used last is at the end.
type OpenFiles = VecDeque<(RingFile, Instant)>;

/// The requests of one caller that wait to be counted.
struct CallerCount {
    path: PathBuf,
    queue: Mutex<CountQueue>,
}

#[derive(Default)]
struct CountQueue {
    waiting: Vec<oneshot::Sender<Result<Admission>>>,
    /// A task counts them, and looks for more before it ends.
    is_counting: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CallerCount {
    /// Those that wait now; none ends the task. Clients that have gone don't count.
    fn next(&self) -> Vec<oneshot::Sender<Result<Admission>>> {
        let mut queue = locked(&self.queue);
        let mut waiting = std::mem::take(&mut queue.waiting);
        waiting.retain(|request| !request.is_closed());
        queue.is_counting = !waiting.is_empty();
        waiting
    }
}

impl FileCount {
    pub fn new(directory: &Path, clock: &Clock) -> Self {
        Self {
            directory: directory.to_owned(),
            clock: clock.clone(),
            blocking: Blocking::new(THREADS),
            callers: Mutex::default(),
            open_files: Arc::default(),
            swept: Mutex::default(),
        }
    }

    fn caller(&self, who: &CallerAtCounter) -> Arc<CallerCount> {
        let mut callers = locked(&self.callers);
        if let Some(known) = callers.get(who) {
            return Arc::clone(known);
        }
        let (caller, counter) = who;
        let name = ring::file_name(counter, &digest::sha256(caller.as_bytes()));
        let new = Arc::new(CallerCount {
            path: self.directory.join(name),
            queue: Mutex::default(),
        });
        callers.insert(who.clone(), Arc::clone(&new));
        new
    }

    pub async fn take(self: &Arc<Self>, who: &CallerAtCounter, limit: u64) -> Result<Admission> {
        let caller = self.caller(who);
        let (request, counted) = oneshot::channel();
        let begins = {
            let mut queue = locked(&caller.queue);
            queue.waiting.push(request);
            !std::mem::replace(&mut queue.is_counting, true)
        };
        if begins {
            self.sweep_if_due(Instant::now());
            let this = Arc::clone(self);
            tokio::spawn(async move { this.count(&caller, limit).await });
        }
        counted
            .await
            .unwrap_or_else(|error| Err(Error::internal(error)))
    }

    fn sweep_if_due(&self, now: Instant) {
        let before = now.checked_sub(SWEEP_EVERY);
        {
            let mut swept = locked(&self.swept);
            if swept.is_some() && *swept > before {
                return;
            }
            *swept = Some(now);
        }
        // The others are in the hands of a request.
        locked(&self.callers).retain(|_, caller| Arc::strong_count(caller) > 1);
        let (directory, open_files) = (self.directory.clone(), Arc::clone(&self.open_files));
        self.blocking.run_later(move || {
            locked(&open_files).retain(|(_, used)| Some(*used) > before);
            ring::sweep(&directory);
        });
    }

    /// Counts the requests of a caller until none waits.
    async fn count(&self, caller: &CallerCount, limit: u64) {
        loop {
            // Requests that are ready to run join first.
            tokio::task::yield_now().await;
            let mut waiting = caller.next();
            if waiting.is_empty() {
                return;
            }
            let began = Instant::now();
            while !waiting.is_empty() {
                let counted = self.count_in_file(&caller.path, limit, waiting.len());
                match counted.await {
                    Ok(RingAdmission::Admitted(some)) => {
                        let some = usize::try_from(some).unwrap_or(usize::MAX);
                        for request in waiting.drain(..some.min(waiting.len())) {
                            let _ = request.send(Ok(Admission::Admitted));
                        }
                    }
                    Ok(RingAdmission::RetryAfter(wait)) => {
                        let wait = u64::try_from(wait).unwrap_or(1);
                        for request in waiting.drain(..) {
                            let _ = request.send(Ok(Admission::RetryAfter(wait)));
                        }
                    }
                    Ok(RingAdmission::Busy) if began.elapsed() < PATIENCE => {
                        tokio::time::sleep(RETRY_EVERY).await;
                    }
                    Ok(RingAdmission::Busy) => {
                        let what = format!("another process holds {}", caller.path.display());
                        fail(&mut waiting, &what);
                    }
                    Err(error) => {
                        let what = error.cause.map_or(error.message, |cause| cause.to_string());
                        fail(&mut waiting, &what);
                    }
                }
            }
        }
    }

    async fn count_in_file(
        &self,
        path: &Path,
        limit: u64,
        requests: usize,
    ) -> Result<RingAdmission> {
        let (clock, open_files) = (self.clock.clone(), Arc::clone(&self.open_files));
        let path = path.to_owned();
        let counted = self.blocking.run(move || {
            let open = {
                let mut open_files = locked(&open_files);
                let at = open_files.iter().rposition(|(file, _)| file.is_at(&path));
                at.and_then(|at| open_files.remove(at))
            };
            let mut file = open.map_or_else(|| RingFile::new(path), |(file, _)| file);
            let now = || clock.now().as_millisecond();
            let counted = file
                .take(limit, requests as u64, now)
                .map_err(Error::internal);
            let mut open_files = locked(&open_files);
            open_files.push_back((file, Instant::now()));
            if open_files.len() > OPEN_FILES {
                drop(open_files.pop_front());
            }
            counted
        });
        panics::caught("counting requests", counted).await
    }
}

fn fail(waiting: &mut Vec<oneshot::Sender<Result<Admission>>>, what: &str) {
    for request in waiting.drain(..) {
        let _ = request.send(Err(Error::internal(what.to_owned())));
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, time::SystemTime};

    use jiff::Timestamp;

    use super::*;

    const NOW: i64 = 1_800_000_000_000;

    fn count(directory: &Path) -> Arc<FileCount> {
        let clock = Clock::fixed(Timestamp::from_millisecond(NOW).unwrap());
        Arc::new(FileCount::new(directory, &clock))
    }

    async fn admitted(count: &Arc<FileCount>, callers: &[&str], requests: usize) -> usize {
        let of = |caller: &&str| (Arc::from(*caller), "cinema");
        let all = callers.iter().flat_map(|caller| {
            (0..requests).map(move |_| async move { count.take(&of(caller), 100).await.unwrap() })
        });
        let all = futures::future::join_all(all).await;
        let admitted = all.iter().filter(|it| **it == Admission::Admitted);
        admitted.count()
    }

    #[tokio::test]
    async fn requests_at_the_same_time_share_the_limit() {
        let directory = tempfile::tempdir().unwrap();
        let (one, other) = (count(directory.path()), count(directory.path()));
        assert_eq!(admitted(&one, &["a", "b"], 80).await, 160);
        // Another process on the same files.
        assert_eq!(admitted(&other, &["a", "b"], 80).await, 40);
        assert_eq!(admitted(&one, &["a", "b"], 80).await, 0);
    }

    #[tokio::test]
    async fn the_number_of_open_files_is_limited() {
        let directory = tempfile::tempdir().unwrap();
        let count = count(directory.path());
        let names: Vec<String> = (0..OPEN_FILES + 10).map(|n| n.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(admitted(&count, &names, 2).await, names.len() * 2);
        assert_eq!(locked(&count.open_files).len(), OPEN_FILES);
        assert_eq!(admitted(&count, &names, 99).await, names.len() * 98);
    }

    #[tokio::test]
    async fn callers_without_recent_requests_are_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let count = count(directory.path());
        assert_eq!(admitted(&count, &["a", "b"], 100).await, 200);
        let files = || fs::read_dir(directory.path()).unwrap().count();
        assert_eq!((files(), locked(&count.callers).len()), (2, 2));
        assert_eq!(locked(&count.open_files).len(), 2);
        for file in fs::read_dir(directory.path()).unwrap() {
            let file = fs::File::options().write(true).open(file.unwrap().path());
            let long_ago = SystemTime::now() - SWEEP_EVERY;
            file.unwrap().set_modified(long_ago).unwrap();
        }
        // The tasks that counted end soon after they have answered.
        let is_counting = |caller: &Arc<CallerCount>| Arc::strong_count(caller) > 1;
        while locked(&count.callers).values().any(is_counting) {
            tokio::task::yield_now().await;
        }
        // Not yet due.
        count.sweep_if_due(Instant::now());
        assert_eq!(locked(&count.callers).len(), 2);
        count.sweep_if_due(Instant::now() + 2 * SWEEP_EVERY);
        assert_eq!(locked(&count.callers).len(), 0);
        let begun = Instant::now();
        while files() > 0 || !locked(&count.open_files).is_empty() {
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "they are still there"
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(admitted(&count, &["a"], 101).await, 100);
    }

    #[tokio::test]
    async fn requests_whose_clients_have_gone_do_not_count() {
        let directory = tempfile::tempdir().unwrap();
        let count = count(directory.path());
        let who: CallerAtCounter = ("a".into(), "cinema");
        let mut gone = Box::pin(count.take(&who, 1));
        assert!(futures::poll!(&mut gone).is_pending());
        drop(gone);
        let taken = count.take(&who, 1).await.unwrap();
        assert_eq!(taken, Admission::Admitted);
    }
}
