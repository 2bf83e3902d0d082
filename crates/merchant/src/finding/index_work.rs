//! Work on the embedded index, away from the threads that serve connections.

use std::panic::{AssertUnwindSafe, catch_unwind};

use kit::{Blocking, Error, Result};

pub struct IndexWork(Blocking);

impl IndexWork {
    /// At most so many threads at once.
    pub fn new(threads: usize) -> Self {
        Self(Blocking::new(threads))
    }

    /// A panic is an error like any other: files that were damaged can cause one,
    /// and the index can be rebuilt.
    pub async fn run<T: Send + 'static, E>(
        &self,
        work: impl FnOnce() -> Result<T, E> + Send + 'static,
    ) -> Result<T>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let guarded = move || match catch_unwind(AssertUnwindSafe(work)) {
            Ok(done) => done.map_err(Error::internal),
            Err(_) => Err(Error::internal("the search index panicked")),
        };
        self.0.run(guarded).await
    }
}
