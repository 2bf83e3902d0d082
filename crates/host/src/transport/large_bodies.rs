//! Large request bodies share a budget, so that many at once do not take the
//! memory of all. Small ones, nearly all there are, need none.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// As much of a body is read without asking.
pub const SMALL: usize = 16 * 1024;

/// What all large bodies together may hold, for callers with a key and for all
/// others apart: strangers keep no key holder waiting.
const BUDGET: usize = 8 * 1024 * 1024;

#[derive(Clone)]
pub struct LargeBodies {
    with_key: Arc<Semaphore>,
    without_key: Arc<Semaphore>,
}

/// Leave to hold a large body until it is dropped.
pub type Leave = OwnedSemaphorePermit;

impl Default for LargeBodies {
    fn default() -> Self {
        let budget = || Arc::new(Semaphore::new(BUDGET));
        Self {
            with_key: budget(),
            without_key: budget(),
        }
    }
}

impl LargeBodies {
    /// Waits until so many bytes are to be had; a body larger than the budget
    /// takes all of it.
    pub async fn leave(&self, has_key: bool, bytes: usize) -> Option<Leave> {
        let budget = if has_key {
            &self.with_key
        } else {
            &self.without_key
        };
        let bytes = u32::try_from(bytes.min(BUDGET)).ok()?;
        Arc::clone(budget).acquire_many_owned(bytes).await.ok()
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn those_without_a_key_keep_nobody_with_one_waiting() {
        let bodies = LargeBodies::default();
        let all = bodies.leave(false, BUDGET).await;
        assert!(bodies.leave(false, 1).now_or_never().is_none());
        assert!(bodies.leave(true, 1).now_or_never().is_some());
        drop(all);
        assert!(bodies.leave(false, 1).now_or_never().is_some());
    }
}
