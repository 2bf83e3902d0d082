//! The runtime on which a command runs.

use std::time::Duration;

use kit::{Error, Result};
use tokio::runtime::{Builder, Runtime};

/// How long the program waits at its end for file work that hangs.
pub const LAST_WAIT: Duration = Duration::from_secs(2);

/// The largest number of threads for file and database work, of all counters
/// together. A thread that has ended its work is not yet idle when the next work
/// may start, so without this bound a busy machine had 300 of them, and each
/// keeps memory of its own.
const MOST_BLOCKING_THREADS: usize = 64;

/// An idle thread for file and database work ends after this time.
const THREAD_IDLES: Duration = Duration::from_secs(10);

/// For `serve`.
pub fn on_all_processors() -> Result<Runtime> {
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(MOST_BLOCKING_THREADS)
        .thread_keep_alive(THREAD_IDLES)
        .build()
        .map_err(Error::internal)?;
    runtime.spawn(keep_one_thread());
    Ok(runtime)
}

/// Keeps one of the threads for file and database work from ending. When the machine has
/// no thread left, a desk without any could do nothing; with one it is only slower.
async fn keep_one_thread() {
    loop {
        let _ = tokio::task::spawn_blocking(|| ()).await;
        tokio::time::sleep(THREAD_IDLES / 2).await;
    }
}

/// One thread is enough for everything but `serve`, and starts faster.
pub fn on_one_thread<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Error::internal)?;
    let result = runtime.block_on(work);
    runtime.shutdown_timeout(LAST_WAIT);
    result
}
