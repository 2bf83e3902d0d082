//! Reads beside the writer, each on one snapshot of the last committed state.
//!
//! Connections are opened when they are first needed, so that a start stays
//! quick, and kept.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use kit::{
    Error, Result,
    sql::{Budget, ReadJob},
};
use rusqlite::Connection;
use tokio::{sync::Semaphore, task::spawn_blocking};

use super::{
    connection::{Access, control, open_reader, with_session},
    errors::failure_of,
};
use crate::{failure, job};

/// How long closing waits for reads that still run.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

pub(super) struct Readers {
    permits: Arc<Semaphore>,
    size: u32,
    idle: Arc<Idle>,
}

struct Idle {
    path: PathBuf,
    patience: Duration,
    connections: Mutex<Vec<Connection>>,
}

impl Readers {
    pub fn new(path: &Path, size: usize, patience: Duration) -> Self {
        let size = u32::try_from(size.clamp(1, 64)).unwrap_or(1);
        Self {
            permits: Arc::new(Semaphore::new(size as usize)),
            size,
            idle: Arc::new(Idle {
                path: path.to_owned(),
                patience,
                connections: Mutex::default(),
            }),
        }
    }

    pub async fn run(&self, budget: Budget, job: ReadJob<'static>) -> Result<()> {
        let (budget, _guard) = job::cancel_on_drop(budget);
        let permit = tokio::select! {
            biased;
            permit = Arc::clone(&self.permits).acquire_owned() => {
                permit.map_err(|_| failure::closed())?
            }
            error = job::exhausted(&budget) => return Err(error),
        };
        let idle = Arc::clone(&self.idle);
        let watched = budget.clone();
        let task = spawn_blocking(move || {
            // Released last, so that every permit has a connection.
            let _permit = permit;
            let mut connection = idle.take()?;
            let outcome = snapshot(&mut connection, &watched, job);
            idle.put(connection);
            outcome
        });
        // A read has nothing to undo: its caller need not wait for its end.
        tokio::select! {
            biased;
            outcome = task => outcome.unwrap_or_else(|error| Err(Error::internal(error))),
            error = job::exhausted(&budget) => Err(error),
        }
    }

    /// Waits a limited time for running reads; later ones are refused.
    pub async fn close(&self) {
        let all = self.permits.acquire_many(self.size);
        let _all = tokio::time::timeout(CLOSE_LIMIT, all).await;
        self.permits.close();
        self.idle.lock().clear();
    }
}

impl Idle {
    fn take(&self) -> Result<Connection> {
        let kept = self.lock().pop();
        kept.map_or_else(|| open_reader(&self.path, self.patience), Ok)
    }

    fn put(&self, connection: Connection) {
        // A connection that could not end its transaction would show old data forever.
        if connection.is_autocommit() {
            self.lock().push(connection);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn snapshot(connection: &mut Connection, budget: &Budget, job: ReadJob<'static>) -> Result<()> {
    control(connection, "BEGIN").map_err(|error| failure_of(&error))?;
    let outcome = with_session(connection, Access::Read, budget, |session| {
        session.read(job)
    });
    // Nothing was written, so a failed COMMIT loses nothing.
    if control(connection, "COMMIT").is_err() {
        let _ = control(connection, "ROLLBACK");
    }
    outcome
}
