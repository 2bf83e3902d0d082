//! A change of one sub-task, which is found by its title.

use kit::Result;
use schemars::JsonSchema;
use serde::Deserialize;

use super::check;
use crate::{
    errors,
    model::{
        Status,
        board::{Subtask, Task},
        one_line,
        subtasks::SubtaskSpec,
    },
};

#[derive(Deserialize, JsonSchema)]
pub struct SubtaskChange {
    pub title: String,
    status: Option<String>,
    remove: Option<bool>,
}

impl SubtaskChange {
    /// All sub-tasks of the task after the change.
    pub fn applied_to(&self, task: &Task) -> Result<Vec<SubtaskSpec>> {
        let title = check::title("subtask", &self.title)?;
        let status = self.status.as_deref().map(check::status).transpose()?;
        let removes = self.remove.unwrap_or(false);
        let mut all: Vec<SubtaskSpec> = task
            .subtasks
            .iter()
            .map(|sub| SubtaskSpec {
                title: sub.title.clone(),
                status: None,
            })
            .collect();
        match position(task, &title)? {
            Some(at) if removes => {
                all.remove(at);
            }
            Some(at) => {
                if let Some(sub) = all.get_mut(at) {
                    sub.status = status;
                }
            }
            // A sub-task that is begun or removed has to exist. Otherwise a
            // misspelt title would add another one.
            None if removes || !matches!(status, None | Some(Status::Todo)) => {
                return Err(errors::subtask_not_found(task, &title));
            }
            None => {
                all.push(SubtaskSpec { title, status });
                check::subtask_count(all.len())?;
            }
        }
        Ok(all)
    }
}

/// Finds a sub-task by title: an exact match, else a folded one. An error if there are
/// several.
fn position(task: &Task, title: &str) -> Result<Option<usize>> {
    let folded = kit::text::fold(title);
    let is_same = |other: &str| other == title;
    let is_alike = |other: &str| !folded.is_empty() && kit::text::fold(other) == folded;
    for matches in [&is_same as &dyn Fn(&str) -> bool, &is_alike] {
        let all = task.subtasks.iter().enumerate();
        let found: Vec<(usize, &Subtask)> = all
            .filter(|(_, sub)| matches(&one_line(&sub.title)))
            .collect();
        match found.as_slice() {
            [] => {}
            [(at, _)] => return Ok(Some(*at)),
            several => return Err(errors::ambiguous_subtask(title, several)),
        }
    }
    Ok(None)
}
