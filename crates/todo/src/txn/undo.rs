//! Records changes, and undoes recorded ones.

use std::ops::Range;

use kit::{Error, Warning};

use super::{FileChange, Txn, UndoScope};
use crate::{
    errors,
    files::{
        Folder,
        journal::Step,
        undo_history::{RecordedChange, UndoHistory},
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
        if let Err(error) = UndoHistory::of(&self.folder).add(&self.change_id, &record) {
            tracing::warn!(%error, "a change could not be recorded, so it cannot be undone");
            return None;
        }
        if scope == UndoScope::LastChange {
            locked(&self.state.last_changes).push(&self.context.caller.id, &self.change_id);
        }
        Some(self.change_id.clone())
    }

    /// Undoes a change. Later changes stay; changes of the same lines are a
    /// conflict.
    pub fn revert(&mut self, id: &str, done: &RecordedChange) -> Result<Vec<String>, Error> {
        // Of what it deletes, the ledger alone has the numbers.
        self.needs_ledger = true;
        let mut names = Vec::new();
        for step in &done.steps {
            let now = self.text(&step.name)?;
            match reverted(step, now.as_deref()) {
                Ok(Some(text)) => self.put(&step.name, text)?,
                Ok(None) => {
                    self.delete(&step.name)?;
                }
                Err(lines) => {
                    let by = self.conflicting_change(id, step);
                    return Err(errors::undo_conflict(&Folder::shown(&step.name), lines, by));
                }
            }
            names.push(Folder::shown(&step.name));
        }
        Ok(names)
    }

    /// The id and label of the recorded change after which this step can no longer
    /// be undone. `None` if somebody edited the file.
    fn conflicting_change(&self, id: &str, step: &Step) -> Option<(String, String)> {
        let later = UndoHistory::of(&self.folder).later_than(id).ok()?;
        let conflicts = |text: &Option<String>| reverted(step, text.as_deref()).is_err();
        let found = later.into_iter().find(|(_, change)| {
            let mut steps = change.steps.iter().filter(|other| other.name == step.name);
            steps.any(|other| conflicts(&other.after) && !conflicts(&other.before))
        });
        found.map(|(id, change)| (id, change.label))
    }
}

/// The file without this step, `None` if it is deleted then. An error if it was
/// changed since in the same lines.
fn reverted(step: &Step, now: Option<&str>) -> Result<Option<String>, Option<Range<usize>>> {
    match (&step.before, &step.after, now) {
        (Some(before), Some(after), Some(now)) => merge::revert(before, after, now).map(Some),
        (None, Some(after), Some(now)) if after == now => Ok(None),
        (Some(before), None, None) => Ok(Some(before.clone())),
        // Somebody deleted it already.
        (None, Some(_), None) => Ok(None),
        _ => Err(None),
    }
}
