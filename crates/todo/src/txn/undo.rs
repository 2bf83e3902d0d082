//! Records changes, and undoes recorded ones.

use kit::{Result, Warning};

use super::{FileChange, Txn, UndoScope};
use crate::{
    errors,
    files::{
        Folder,
        history::{History, RecordedChange},
        journal::Step,
    },
    model::merge,
    sync::locked,
};

impl Txn<'_> {
    /// Records a change that was just made. Returns its id, or that of the
    /// earlier change that this call repeats.
    pub(super) fn record(&mut self, changes: &[FileChange], scope: UndoScope) -> Option<String> {
        if changes.is_empty() {
            if self.earlier_change.is_none() {
                let message = "Nothing was changed: everything is already as requested.";
                self.warn(Warning::new("NOTHING_CHANGED", message));
            }
            return self.earlier_change.take();
        }
        let text = |text: &Option<std::sync::Arc<str>>| text.as_ref().map(ToString::to_string);
        let steps = changes.iter().map(|change| Step {
            name: change.name.clone(),
            before: text(&change.before),
            after: text(&change.after),
        });
        let record = RecordedChange {
            label: self.label.clone(),
            steps: steps.collect(),
        };
        if let Err(error) = History::of(&self.folder).add(&self.change_id, &record) {
            tracing::warn!(%error, "a change could not be recorded, so it cannot be undone");
            return None;
        }
        if scope == UndoScope::LastChange {
            locked(&self.state.undo).push(&self.context.caller.id, &self.change_id);
        }
        Some(self.change_id.clone())
    }

    /// Undoes a change. Later changes by others stay; changes of the same
    /// lines are a conflict.
    pub fn revert(&mut self, done: &RecordedChange) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for step in &done.steps {
            let now = self.text(&step.name)?;
            let conflict = |lines| errors::conflict(&Folder::shown(&step.name), lines);
            match (&step.before, &step.after, now) {
                (Some(before), Some(after), Some(now)) => {
                    let merged =
                        merge::merge(after, before, &now).map_err(|lines| conflict(Some(lines)))?;
                    self.put(&step.name, merged)?;
                }
                (None, Some(after), Some(now)) if **after == *now => {
                    self.delete(&step.name)?;
                }
                (Some(before), None, None) => self.put(&step.name, before.as_str())?,
                // Somebody deleted it already.
                (None, Some(_), None) => {}
                _ => return Err(conflict(None)),
            }
            names.push(Folder::shown(&step.name));
        }
        Ok(names)
    }
}
