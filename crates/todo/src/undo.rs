//! What each caller changed last, so that it can be taken back.

use std::{collections::VecDeque, sync::Arc};

use kit::Result;

use crate::{errors, files::Folder, model::merge, txn::Txn};

/// Changes remembered for each caller, and bytes for all of them together.
const DEPTH: usize = 10;
const MOST_BYTES: usize = 2 * 1024 * 1024;

pub struct FileChange {
    pub name: String,
    pub before: Option<Arc<str>>,
    pub after: Option<Arc<str>>,
}

pub struct Done {
    pub label: String,
    pub changes: Vec<FileChange>,
}

#[derive(Default)]
pub struct Undo {
    /// Oldest first.
    done: VecDeque<(Arc<str>, Arc<Done>)>,
}

impl Undo {
    pub fn push(&mut self, caller: &Arc<str>, done: Done) {
        self.done.push_back((Arc::clone(caller), Arc::new(done)));
        let own = self.done.iter().filter(|(of, _)| of == caller).count();
        if own > DEPTH
            && let Some(oldest) = self.done.iter().position(|(of, _)| of == caller)
        {
            self.done.remove(oldest);
        }
        // Texts that one change left and the next found are counted twice;
        // this only forgets a little early.
        let size = |done: &Done| -> usize {
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

    pub fn last(&self, caller: &str) -> Option<Arc<Done>> {
        let last = self.done.iter().rev().find(|(of, _)| **of == *caller);
        last.map(|(_, done)| Arc::clone(done))
    }

    pub fn forget(&mut self, done: &Arc<Done>) {
        self.done.retain(|(_, other)| !Arc::ptr_eq(other, done));
    }
}

/// Takes a change back. What others changed since stays; where both touched the
/// same lines it is a conflict.
pub fn revert(txn: &mut Txn<'_>, done: &Done) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for change in &done.changes {
        let now = txn.text(&change.name)?;
        let conflict = |lines| errors::conflict(&Folder::shown(&change.name), lines);
        match (&change.before, &change.after, now) {
            (Some(before), Some(after), Some(now)) => {
                let merged =
                    merge::merge(after, before, &now).map_err(|lines| conflict(Some(lines)))?;
                txn.put(&change.name, merged)?;
            }
            (None, Some(after), Some(now)) if *after == now => {
                txn.delete(&change.name)?;
            }
            (Some(before), None, None) => txn.put(&change.name, Arc::clone(before))?,
            // Somebody took it away already.
            (None, Some(_), None) => {}
            _ => return Err(conflict(None)),
        }
        names.push(Folder::shown(&change.name));
    }
    Ok(names)
}
