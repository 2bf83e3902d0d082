//! The runtime on which a command runs.

use std::time::Duration;

use kit::{Error, Result};

/// How long the program waits at its end for file work that hangs.
pub const LAST_WAIT: Duration = Duration::from_secs(2);

/// One thread is enough for everything but `serve`, and starts faster.
pub fn on_one_thread<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Error::internal)?;
    let result = runtime.block_on(work);
    runtime.shutdown_timeout(LAST_WAIT);
    result
}
