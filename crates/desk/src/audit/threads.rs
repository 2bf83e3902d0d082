//! Threads for work on the trail's store, which blocks.

use std::sync::LazyLock;

use kit::{Blocking, Result};
use tokio::runtime::Handle;

use crate::panics;

/// For all desks of the process: this work waits for a disk or a database, and
/// none of it is urgent.
static THREADS: LazyLock<Blocking> = LazyLock::new(|| Blocking::new(2));

/// Runs work on a store, away from the tasks that serve.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce(&Handle) -> Result<T> + Send + 'static,
) -> Result<T> {
    let runtime = Handle::current();
    panics::caught(
        "work on the audit trail",
        THREADS.run(move || work(&runtime)),
    )
    .await
}
