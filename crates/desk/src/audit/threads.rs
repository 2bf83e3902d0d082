//! Runs work on the trail's store, which blocks, on the store's own threads.

use std::sync::Arc;

use kit::Result;
use tokio::runtime::Handle;

use super::store::AuditStore;
use crate::panics;

/// Runs work on a store, away from the tasks that serve.
pub async fn blocking<T: Send + 'static>(
    store: &Arc<dyn AuditStore>,
    work: impl FnOnce(&dyn AuditStore, &Handle) -> Result<T> + Send + 'static,
) -> Result<T> {
    let (runtime, threads) = (Handle::current(), store.threads().clone());
    let store = Arc::clone(store);
    panics::caught(
        "work on the audit trail",
        threads.run(move || work(&*store, &runtime)),
    )
    .await
}
