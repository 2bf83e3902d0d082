//! Finds tasks by id. A task without an id in its line is promised one in the
//! ledger of numbers.

use std::time::Instant;

use kit::Result;

use crate::{
    errors,
    files::{Folder, lock::PATIENCE, numbers::NumberLedger},
    model::{
        TaskId,
        board::{Board, Task, TaskLookup},
        numbers::{IssuedNumbers, NumberSet},
    },
};

/// The ids that are promised to items without one. They are stored in the
/// ledger, so that an item keeps its id.
pub struct PromisedIds<'b>(Vec<(&'b Task, Option<TaskId>)>);

impl<'b> PromisedIds<'b> {
    pub fn of(folder: &Folder, board: &'b Board) -> Self {
        let items = board.keys_without_id();
        if items.is_empty() {
            return Self(Vec::new());
        }
        let live = live(board);
        let ledger = NumberLedger::of(folder);
        let mut given = ledger.look().unwrap_or_default();
        let holds = |given: &IssuedNumbers, key: &str| {
            let promised = given.promised.get(key).copied();
            promised.filter(|number| !live.contains(*number))
        };
        if items.iter().any(|(key, _)| holds(&given, key).is_none()) {
            let promised = ledger.change(Instant::now() + PATIENCE, |now| {
                now.tasks.extend(board.mentioned());
                for (key, _) in &items {
                    if holds(now, key).is_none()
                        && let Some(number) = now.tasks.issue(&live)
                    {
                        now.promised.insert(key.clone(), number);
                    }
                }
                now.clone()
            });
            // Nothing else knows which item the number is promised to.
            if let Ok(Some(now)) = promised.and_then(|now| ledger.sync().map(|()| now)) {
                given = now;
            }
        }
        let promised = |(key, task): (String, _)| (task, holds(&given, &key).map(TaskId));
        Self(items.into_iter().map(promised).collect())
    }

    /// The id in the task's line, or the one promised to it. `None` if the
    /// ledger cannot be written.
    pub fn id_of(&self, task: &Task) -> Option<TaskId> {
        let promised = || self.0.iter().find(|(other, _)| other.lines == task.lines);
        task.id.or_else(|| promised().and_then(|(_, id)| *id))
    }

    /// The promises, in the order of the file.
    pub fn all(&self) -> impl Iterator<Item = Option<TaskId>> {
        self.0.iter().map(|(_, id)| *id)
    }
}

/// The task with that id, either in its line or promised to it.
pub fn find<'b>(folder: &Folder, board: &'b Board, field: &str, id: TaskId) -> Result<&'b Task> {
    match board.find(id) {
        TaskLookup::One(task) => return Ok(task),
        TaskLookup::Several(lines) => return Err(errors::duplicate_task(field, id, &lines)),
        TaskLookup::None => {}
    }
    let items = board.keys_without_id();
    if !items.is_empty() {
        let given = NumberLedger::of(folder).look().unwrap_or_default();
        let found = items
            .into_iter()
            .find(|(key, _)| given.promised.get(key) == Some(&id.0));
        if let Some((_, task)) = found {
            return Ok(task);
        }
    }
    Err(errors::task_not_found(field, &id.to_string()))
}

/// The numbers of all existing tasks.
pub fn live(board: &Board) -> NumberSet {
    let mut live = NumberSet::default();
    live.extend(board.tasks.iter().filter_map(|task| task.id).map(|id| id.0));
    live
}
