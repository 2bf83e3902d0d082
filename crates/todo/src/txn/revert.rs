//! Undoes a change that was made earlier.

use std::sync::Arc;

use kit::Result;

use super::Txn;
use crate::{errors, files::Folder, model::merge, undo_history::RecordedChange};

impl Txn<'_> {
    /// Undoes a change. Later changes by others stay; changes of the same
    /// lines are a conflict.
    pub fn revert(&mut self, done: &RecordedChange) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for change in &done.changes {
            let now = self.text(&change.name)?;
            let conflict = |lines| errors::conflict(&Folder::shown(&change.name), lines);
            match (&change.before, &change.after, now) {
                (Some(before), Some(after), Some(now)) => {
                    let merged =
                        merge::merge(after, before, &now).map_err(|lines| conflict(Some(lines)))?;
                    self.put(&change.name, merged)?;
                }
                (None, Some(after), Some(now)) if *after == now => {
                    self.delete(&change.name)?;
                }
                (Some(before), None, None) => self.put(&change.name, Arc::clone(before))?,
                // Somebody deleted it already.
                (None, Some(_), None) => {}
                _ => return Err(conflict(None)),
            }
            names.push(Folder::shown(&change.name));
        }
        Ok(names)
    }
}
