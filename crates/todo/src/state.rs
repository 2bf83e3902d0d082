//! What all handlers share.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use jiff::{Timestamp, Zoned, civil::Date, tz::TimeZone};
use kit::{Blocking, Context, Result};

use crate::{
    files::Stamp, last_changes::LastChanges, project::ProjectFiles, search::Catalog,
    settings::Settings,
};

/// Threads that read and write files at once.
const THREADS: usize = 16;

pub struct CounterState {
    pub settings: Settings,
    pub zone: TimeZone,
    pub files: ProjectFiles,
    pub catalog: Catalog,
    /// Held by the one writer of this process; the lock on disk is for others.
    pub(crate) writing: Mutex<()>,
    pub(crate) last_changes: Mutex<LastChanges>,
    /// Temporary files that killed processes left have been deleted.
    pub(crate) swept: AtomicBool,
    /// Set while the search index should be built after the next call.
    pub(crate) index_after_call: AtomicBool,
    blocking: Blocking,
}

/// Lets the answer leave before the indexing takes the processor.
const INDEX_DELAY: Duration = Duration::from_millis(20);

impl CounterState {
    pub fn new(settings: Settings) -> Self {
        Self {
            zone: settings.zone(),
            files: ProjectFiles::new(&settings.root),
            settings,
            catalog: Catalog::default(),
            writing: Mutex::default(),
            last_changes: Mutex::default(),
            swept: AtomicBool::new(false),
            index_after_call: AtomicBool::new(false),
            blocking: Blocking::new(THREADS),
        }
    }

    /// Runs work on a thread that may wait for files.
    pub async fn run_blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Arc<Self>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let state = Arc::clone(self);
        self.blocking.run(move || work(&state)).await
    }

    /// Builds the search index in the background after the first call, so that
    /// the first search is quick.
    pub(crate) fn index_in_background(self: &Arc<Self>) {
        if !self.index_after_call.swap(false, Ordering::Relaxed) {
            return;
        }
        let state = Arc::downgrade(self);
        let index = move || {
            thread::sleep(INDEX_DELAY);
            let Some(state) = state.upgrade() else {
                return;
            };
            // The search reports an error if this fails.
            if let Ok(folder) = state.files.folder() {
                let _ = state.catalog.refresh(&folder);
            }
        };
        // Without a thread the first search builds the index.
        let _ = thread::Builder::new()
            .name("todo-index".into())
            .spawn(index);
    }

    pub fn now(&self, context: &Context) -> Zoned {
        context.clock.now_in(&self.zone)
    }

    pub fn today(&self, context: &Context) -> Date {
        self.now(context).date()
    }

    pub fn when(&self, at: Timestamp) -> String {
        written_out(&at.to_zoned(self.zone.clone()))
    }

    pub fn when_ms(&self, ms: i64) -> String {
        self.when(Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH))
    }

    /// Remembers what this process wrote, so that it is indexed and not
    /// announced as somebody else's change.
    pub(crate) fn wrote(&self, name: &str, stamp: Option<Stamp>) {
        self.files.wrote(name, stamp);
        self.catalog.reports.touch(name);
    }
}

pub fn written_out(at: &Zoned) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}
