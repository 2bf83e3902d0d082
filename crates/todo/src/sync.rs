//! Locks within this process.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks even after a panic: no change behind these locks can be left half done.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
