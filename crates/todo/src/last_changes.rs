//! The ids of the last changes that each caller made in this process, for
//! `undo` without an id.

use std::{collections::VecDeque, sync::Arc};

/// Changes to remember for each caller, and in total.
const DEPTH: usize = 10;
const MOST: usize = 1000;

#[derive(Default)]
pub struct LastChanges {
    /// Caller and change, oldest first.
    changes: VecDeque<(Arc<str>, String)>,
}

impl LastChanges {
    pub fn push(&mut self, caller: &Arc<str>, change_id: &str) {
        let change = (Arc::clone(caller), change_id.to_owned());
        self.changes.push_back(change);
        let own = self.changes.iter().filter(|(of, _)| of == caller).count();
        let oldest = self.changes.iter().position(|(of, _)| of == caller);
        if let Some(oldest) = oldest.filter(|_| own > DEPTH) {
            self.changes.remove(oldest);
        }
        if self.changes.len() > MOST {
            self.changes.pop_front();
        }
    }

    pub fn last(&self, caller: &str) -> Option<String> {
        let last = self.changes.iter().rev().find(|(of, _)| **of == *caller);
        last.map(|(_, change_id)| change_id.clone())
    }

    pub fn forget(&mut self, change_id: &str) {
        self.changes.retain(|(_, other)| other != change_id);
    }
}
