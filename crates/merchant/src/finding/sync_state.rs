//! Whether Meilisearch is up to date, shared by searches and the feed.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::Notify;

/// Whether Meilisearch has the whole catalogue. Until it does, its answers would be
/// incomplete.
#[derive(Default)]
pub struct SyncState {
    /// `None` before the first check.
    is_in: Mutex<Option<bool>>,
    /// Wakes the feed.
    pub wake: Notify,
    is_index_missing: AtomicBool,
}

impl SyncState {
    pub fn known(&self) -> Option<bool> {
        *self.is_in.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn set(&self, is_in: bool) {
        *self.is_in.lock().unwrap_or_else(PoisonError::into_inner) = Some(is_in);
    }

    /// Only if nothing is known yet: the feed knows better.
    pub fn set_first(&self, is_in: bool) {
        let mut known = self.is_in.lock().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert(is_in);
    }

    pub fn index_is_missing(&self) {
        self.set(false);
        self.is_index_missing.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    /// Whether a search found no index since the last call.
    pub fn take_index_missing(&self) -> bool {
        self.is_index_missing.swap(false, Ordering::Relaxed)
    }
}
