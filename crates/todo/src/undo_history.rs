//! The last changes of each caller, for `undo`.

use std::{collections::VecDeque, sync::Arc};

/// Limits: changes per caller, and bytes in total.
const DEPTH: usize = 10;
const MOST_BYTES: usize = 2 * 1024 * 1024;

pub struct FileChange {
    pub name: String,
    pub before: Option<Arc<str>>,
    pub after: Option<Arc<str>>,
}

pub struct RecordedChange {
    pub label: String,
    pub changes: Vec<FileChange>,
}

#[derive(Default)]
pub struct UndoHistory {
    /// Oldest first.
    done: VecDeque<(Arc<str>, Arc<RecordedChange>)>,
}

impl UndoHistory {
    pub fn push(&mut self, caller: &Arc<str>, done: RecordedChange) {
        self.done.push_back((Arc::clone(caller), Arc::new(done)));
        let own = self.done.iter().filter(|(of, _)| of == caller).count();
        if own > DEPTH
            && let Some(oldest) = self.done.iter().position(|(of, _)| of == caller)
        {
            self.done.remove(oldest);
        }
        // A text that two changes share is counted twice. The only
        // effect is that changes are forgotten a little earlier.
        let size = |done: &RecordedChange| -> usize {
            let texts = done
                .changes
                .iter()
                .flat_map(|change| [&change.before, &change.after]);
            texts.flatten().map(|text| text.len()).sum()
        };
        let mut total: usize = self.done.iter().map(|(_, done)| size(done)).sum();
        while total > MOST_BYTES
            && self.done.len() > 1
            && let Some((_, oldest)) = self.done.pop_front()
        {
            total -= size(&oldest);
        }
    }

    pub fn last(&self, caller: &str) -> Option<Arc<RecordedChange>> {
        let last = self.done.iter().rev().find(|(of, _)| **of == *caller);
        last.map(|(_, done)| Arc::clone(done))
    }

    pub fn forget(&mut self, done: &Arc<RecordedChange>) {
        self.done.retain(|(_, other)| !Arc::ptr_eq(other, done));
    }
}
