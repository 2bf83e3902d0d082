//! The memory that large requests share. A request that has become larger than
//! [`SMALL`] needs a permit for as much as it may become, and waits for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// As much of a request is read without a permit.
pub const SMALL: usize = 8 * 1024;

/// Bytes for all large requests together. Callers with a key and callers without
/// have a budget each, so that strangers never make key holders wait.
pub const BUDGET: usize = 4 * 1024 * 1024;

/// A request's part of the budget, until it is dropped.
pub type BudgetPermit = OwnedSemaphorePermit;

/// The budgets of a desk.
#[derive(Clone)]
pub struct RequestBudgets {
    with_key: Arc<Semaphore>,
    without_key: Arc<Semaphore>,
}

impl Default for RequestBudgets {
    fn default() -> Self {
        let budget = || Arc::new(Semaphore::new(BUDGET));
        Self {
            with_key: budget(),
            without_key: budget(),
        }
    }
}

impl RequestBudgets {
    /// Waits until so many bytes are free. A request that may become larger than
    /// the budget takes all of it.
    pub async fn acquire(self, has_key: bool, bytes: usize) -> Option<BudgetPermit> {
        let budget = if has_key {
            self.with_key
        } else {
            self.without_key
        };
        let bytes = u32::try_from(bytes.min(BUDGET)).ok()?;
        budget.acquire_many_owned(bytes).await.ok()
    }
}

/// The request that a connection is reading.
pub struct PendingRequest {
    pub budgets: RequestBudgets,
    progress: Mutex<Progress>,
}

pub struct Progress {
    /// How much of it was read.
    pub bytes: usize,
    /// How large it may become.
    pub most: usize,
    pub permit: Option<BudgetPermit>,
}

impl PendingRequest {
    /// `most` is the largest size of the first part, a request's head.
    pub fn new(budgets: RequestBudgets, most: usize) -> Self {
        let progress = Progress {
            bytes: 0,
            most,
            permit: None,
        };
        Self {
            budgets,
            progress: Mutex::new(progress),
        }
    }

    /// A head, a body or a message was read to its end. Returns its permit, to
    /// be held until it is answered. `next` is the largest size of the next part.
    pub fn end(&self, next: usize) -> Option<BudgetPermit> {
        let mut progress = self.progress();
        progress.bytes = 0;
        progress.most = next;
        progress.permit.take()
    }

    pub fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn callers_without_a_key_never_make_key_holders_wait() {
        let budgets = RequestBudgets::default();
        let all = budgets.clone().acquire(false, BUDGET).await;
        assert!(budgets.clone().acquire(false, 1).now_or_never().is_none());
        assert!(budgets.clone().acquire(true, 1).now_or_never().is_some());
        drop(all);
        assert!(budgets.acquire(false, 1).now_or_never().is_some());
    }
}
