//! A change of one sub-task, which is found by its title.

use kit::Result;
use schemars::JsonSchema;
use serde::Deserialize;

use super::check;
use crate::{
    errors,
    model::{Status, board::Task, one_line, subtasks::SubtaskSpec},
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

/// Finds a sub-task by title: an exact match, else a folded one.
fn position(task: &Task, title: &str) -> Result<Option<usize>> {
    let titles: Vec<String> = task
        .subtasks
        .iter()
        .map(|sub| one_line(&sub.title))
        .collect();
    if let Some(at) = titles.iter().position(|other| other == title) {
        return Ok(Some(at));
    }
    let folded = kit::text::fold(title);
    let mut alike = titles
        .iter()
        .enumerate()
        .filter(|(_, other)| !folded.is_empty() && kit::text::fold(other) == folded);
    match (alike.next(), alike.next()) {
        (Some(_), Some(_)) => Err(errors::subtask_not_found(task, title)),
        (found, _) => Ok(found.map(|(at, _)| at)),
    }
}
