//! Limits how many calls wait for something at once, per caller and in all. Each takes
//! memory and looks now and then.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::context::Caller;

pub struct WaitLimit {
    most_each: u32,
    most: u32,
    /// By the caller's id. All callers without a key share one id.
    now: Arc<Mutex<HashMap<Arc<str>, u32>>>,
}

/// A waiting call; it is counted until this is dropped.
pub struct WaitPlace {
    caller: Arc<str>,
    now: Arc<Mutex<HashMap<Arc<str>, u32>>>,
}

impl WaitLimit {
    pub fn new(most_each: u32, most: u32) -> Self {
        Self {
            most_each,
            most,
            now: Arc::default(),
        }
    }

    /// The limit that was reached, if the caller may not wait.
    pub fn enter(&self, caller: &Caller) -> Result<WaitPlace, u32> {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if now.get(&caller.id).is_some_and(|n| *n >= self.most_each) {
            return Err(self.most_each);
        }
        if now.values().sum::<u32>() >= self.most {
            return Err(self.most);
        }
        *now.entry(Arc::clone(&caller.id)).or_default() += 1;
        Ok(WaitPlace {
            caller: Arc::clone(&caller.id),
            now: Arc::clone(&self.now),
        })
    }
}

impl Drop for WaitPlace {
    fn drop(&mut self) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waiting) = now.get_mut(&self.caller) {
            *waiting -= 1;
            if *waiting == 0 {
                now.remove(&self.caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_calls_are_limited_per_caller_and_in_all() {
        let waits = WaitLimit::new(2, 3);
        let (a, b) = (Caller::with_key("a", "a"), Caller::with_key("b", "b"));
        let held = [waits.enter(&a).unwrap(), waits.enter(&a).unwrap()];
        assert_eq!(waits.enter(&a).err(), Some(2));
        let third = waits.enter(&b).unwrap();
        assert_eq!(waits.enter(&b).err(), Some(3));
        drop(held);
        drop(third);
        assert!(waits.now.lock().unwrap().is_empty());
        assert!(waits.enter(&a).is_ok());
    }
}
