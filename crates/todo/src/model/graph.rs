//! Dependencies between tasks.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;

use super::{
    Status, TaskId,
    board::{Board, Task},
    task_text::Link,
};

/// Which tasks each task waits for, from its own `after:` and the `blocks:` of
/// others.
pub struct Graph {
    waits_for: BTreeMap<u16, BTreeSet<u16>>,
    open: BTreeSet<u16>,
}

/// Whether a task can be worked on.
pub struct TaskReadiness {
    /// The unfinished tasks that it waits for; empty for a finished task.
    pub blocked_by: Vec<TaskId>,
    /// It is not begun and waits for nothing.
    pub ready: bool,
    pub overdue: bool,
}

impl Graph {
    pub fn of(board: &Board) -> Self {
        let mut graph = Self {
            waits_for: BTreeMap::new(),
            open: BTreeSet::new(),
        };
        for task in &board.tasks {
            let Some(id) = task.id else { continue };
            if task.status != Status::Done {
                graph.open.insert(id.0);
            }
            for other in task.linked(Link::After) {
                graph.waits_for.entry(id.0).or_default().insert(other);
            }
            for other in task.linked(Link::Blocks) {
                graph.waits_for.entry(other).or_default().insert(id.0);
            }
        }
        graph
    }

    /// The unfinished tasks that this one waits for. Deleted tasks block
    /// nothing.
    pub fn blockers(&self, id: TaskId) -> impl Iterator<Item = TaskId> + '_ {
        self.waits_for
            .get(&id.0)
            .into_iter()
            .flatten()
            .filter(|other| self.open.contains(other))
            .map(|other| TaskId(*other))
    }

    pub fn standing(&self, task: &Task, today: Date) -> TaskReadiness {
        let is_open = task.status != Status::Done;
        let blocked_by: Vec<TaskId> = match task.id {
            Some(id) if is_open => self.blockers(id).collect(),
            _ => Vec::new(),
        };
        TaskReadiness {
            ready: task.status == Status::Todo && blocked_by.is_empty(),
            overdue: is_open && task.due.is_some_and(|due| due < today),
            blocked_by,
        }
    }

    /// Unfinished tasks that wait for each other, each circle from its lowest id.
    pub fn circles(&self) -> Vec<Vec<TaskId>> {
        let mut circles: Vec<Vec<TaskId>> = Vec::new();
        for id in self.open.iter().map(|id| TaskId(*id)) {
            if circles.iter().any(|circle| circle.contains(&id)) {
                continue;
            }
            let circle = self
                .blockers(id)
                .find_map(|first| self.open_path(first, id));
            if let Some(mut circle) = circle {
                circle.insert(0, id);
                circles.push(circle);
            }
        }
        circles
    }

    /// All tasks that this one waits for, finished or not.
    pub fn waits_for(&self, id: TaskId) -> impl Iterator<Item = TaskId> + '_ {
        let others = self.waits_for.get(&id.0).into_iter().flatten();
        others.map(|other| TaskId(*other))
    }

    /// The tasks that wait for this one.
    pub fn waiting(&self, id: TaskId) -> impl Iterator<Item = TaskId> + '_ {
        self.waits_for
            .iter()
            .filter(move |(_, others)| others.contains(&id.0))
            .map(|(waiting, _)| TaskId(*waiting))
    }

    /// The chain of tasks by which `from` waits for `to`, if there is one.
    pub fn path(&self, from: TaskId, to: TaskId) -> Option<Vec<TaskId>> {
        self.path_through(from, to, |_| true)
    }

    fn open_path(&self, from: TaskId, to: TaskId) -> Option<Vec<TaskId>> {
        self.path_through(from, to, |id| self.open.contains(&id))
    }

    fn path_through(
        &self,
        from: TaskId,
        to: TaskId,
        may_pass: impl Fn(u16) -> bool,
    ) -> Option<Vec<TaskId>> {
        let mut came_from: BTreeMap<u16, u16> = BTreeMap::new();
        let mut next = vec![from.0];
        while let Some(at) = next.pop() {
            if at == to.0 {
                let mut path = vec![to];
                let mut step = to.0;
                while step != from.0
                    && let Some(before) = came_from.get(&step)
                {
                    path.push(TaskId(*before));
                    step = *before;
                }
                path.reverse();
                return Some(path);
            }
            for other in self.waits_for.get(&at).into_iter().flatten() {
                let is_new = *other != from.0 && !came_from.contains_key(other);
                if is_new && may_pass(*other) {
                    came_from.insert(*other, at);
                    next.push(*other);
                }
            }
        }
        None
    }
}
