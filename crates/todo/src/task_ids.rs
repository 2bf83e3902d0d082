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

/// Ids for the items that have none, in order. They are stored in the ledger,
/// so that an item keeps its id. `None` if the ledger cannot be written.
pub fn promised<'b>(folder: &Folder, board: &'b Board) -> Vec<(&'b Task, Option<TaskId>)> {
    let items = board.keys_without_id();
    if items.is_empty() {
        return Vec::new();
    }
    let live = live(board);
    let place = NumberLedger::of(folder);
    let mut given = place.look();
    let holds = |given: &IssuedNumbers, key: &str| {
        given
            .promised
            .get(key)
            .copied()
            .filter(|number| !live.contains(*number))
    };
    if items.iter().any(|(key, _)| holds(&given, key).is_none()) {
        let promised = place.change(Instant::now() + PATIENCE, |now| {
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
        if let Ok(Some(now)) = promised {
            given = now;
        }
    }
    items
        .into_iter()
        .map(|(key, task)| (task, holds(&given, &key).map(TaskId)))
        .collect()
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
        let given = NumberLedger::of(folder).look();
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
