//! Edits `task.md`, changing as few bytes as possible. Every result is parsed
//! again and checked: the task must be as requested, and all others must be
//! unchanged.

use std::sync::Arc;

use jiff::civil::Date;

use super::{
    Status, TaskId,
    board::{Board, Task, TaskLookup},
    lines::{self, Edit, eol_at, slice},
    one_line, placement,
    placement::Destination,
    rewrite,
    subtasks::{self, SubtaskSpec},
    task_text::{Link, Tag, TaskText},
};

/// Why a change cannot be written into this text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditError {
    /// With this title the line would be parsed as something else.
    Title,
    /// The new text would be swallowed, for example by a code fence that is
    /// never closed.
    Swallowed,
}

pub struct NewTask<'a> {
    pub id: TaskId,
    pub title: &'a str,
    pub category: &'a str,
    pub subtasks: &'a [String],
    pub due: Option<Date>,
}

pub fn create(board: &Board, new: &NewTask<'_>) -> Result<Board, EditError> {
    let model = board
        .in_category(new.category)
        .last()
        .or_else(|| board.tasks.last());
    let prefix = model.map_or_else(
        || "- ".to_owned(),
        |task| {
            let (indent, bullet) = subtasks::prefix_of(board, task.lines.start);
            format!("{indent}{bullet} ")
        },
    );
    let eol = eol_at(&board.text, &board.lines, None);
    let mut rest = rewrite::with_title(&format!("#{}", new.id), &one_line(new.title))
        .ok_or(EditError::Title)?;
    if let Some(due) = new.due {
        rest = rewrite::with_due(&rest, Some(due));
    }
    let (columns, _) = lines::indent(&prefix);
    let content = columns + prefix.trim_start().len();
    let indent = subtasks::prevailing_indent(board, content);
    let indent = indent.unwrap_or_else(|| " ".repeat(content));
    let block = format!(
        "{prefix}[ ] {rest}{}",
        subtasks::fresh(&indent, new.subtasks, eol)
    );
    apart_if_needed(|apart| {
        let mut edit = placement::insert(board, Destination::EndOf(new.category), &block, apart);
        if board.lines.is_empty() {
            edit.text.insert_str(0, "# Task\n\n");
        }
        finish(board, vec![edit], None, Some(new.id), |after, task| {
            after.category(task) == new.category
                && task.subtasks.len() == new.subtasks.len()
                && after.block(task) == block
        })
    })
}

/// What to change in one task. `None`: keep.
#[derive(Default)]
pub struct TaskChange<'a> {
    pub title: Option<&'a str>,
    pub status: Option<Status>,
    pub due: Option<Option<Date>>,
    pub links: Option<(Link, &'a [u16])>,
    pub subtasks: Option<&'a [SubtaskSpec]>,
}

/// Changes the lines of one task. A task without an id gets `id`.
pub fn change(
    board: &Board,
    task: &Task,
    id: TaskId,
    change: &TaskChange<'_>,
) -> Result<Board, EditError> {
    let block = match change.subtasks {
        Some(wanted) => subtasks::replace(board, task, wanted),
        None => board.block(task).to_owned(),
    };
    let line = board.line(task.lines.start);
    let item = board.item(task.lines.start).ok_or(EditError::Swallowed)?;
    let tail = slice(&block, line.len()..block.len());

    let old_rest = slice(line, item.rest..line.len());
    let mut rest = old_rest.to_owned();
    if task.id.is_none() {
        rest = rewrite::with_id(&rest, id);
    }
    if let Some(title) = change.title {
        rest = rewrite::with_title(&rest, &one_line(title)).ok_or(EditError::Title)?;
    }
    if let Some(due) = change.due {
        rest = rewrite::with_due(&rest, due);
    }
    if let Some((link, targets)) = change.links {
        rest = rewrite::with_links(&rest, link, targets);
    }
    let head = slice(line, 0..item.rest);
    let mut head = subtasks::with_status(board, task.lines.start, head, change.status);
    if old_rest.is_empty() && !rest.is_empty() && head.ends_with(']') {
        head.push(' ');
    }
    let new = format!("{head}{rest}{tail}");
    let eol = eol_at(&board.text, &board.lines, Some(task.lines.start));
    apart_if_needed(|apart| {
        let gap = if apart { eol } else { "" };
        let edit = Edit::new(board.bytes(&task.lines), format!("{new}{gap}"));
        finish(board, vec![edit], Some(task), Some(id), |after, changed| {
            as_wanted(changed, change) && after.block(changed) == new
        })
    })
}

/// Tries the edit without a blank line below the task first. The blank line is
/// only needed if the next line would be parsed as part of the task.
fn apart_if_needed(edit: impl Fn(bool) -> Result<Board, EditError>) -> Result<Board, EditError> {
    match edit(false) {
        Err(EditError::Swallowed) => edit(true),
        result => result,
    }
}

fn as_wanted(changed: &Task, change: &TaskChange<'_>) -> bool {
    change.status.is_none_or(|status| changed.status == status)
        && change.due.is_none_or(|due| changed.due == due)
        && change
            .subtasks
            .is_none_or(|wanted| changed.subtasks.len() == wanted.len())
}

pub fn remove(board: &Board, task: &Task) -> Result<Board, EditError> {
    let eol = eol_at(&board.text, &board.lines, Some(task.lines.start));
    apart_if_needed(|apart| {
        let mut edit = placement::remove(board, &task.lines);
        if apart {
            edit.text.push_str(eol);
        }
        finish(board, vec![edit], Some(task), None, |_, _| true)
    })
}

/// Moves a task with its sub-tasks and notes, and gives it `id` if it has none.
pub fn relocate(
    board: &Board,
    task: &Task,
    id: TaskId,
    place: Destination<'_>,
) -> Result<Board, EditError> {
    let target = match place {
        Destination::Before(other) | Destination::After(other) => board.category(other),
        Destination::EndOf(category) => category,
    };
    if task.id.is_none() {
        let named = change(board, task, id, &TaskChange::default())?;
        let TaskLookup::One(task) = named.find(id) else {
            return Err(EditError::Swallowed);
        };
        // Only one line was edited, so line numbers are unchanged.
        let same = |other: &Task| {
            let at = other.lines.start;
            named.tasks.iter().find(|task| task.lines.start == at)
        };
        let place = place.map(same).ok_or(EditError::Swallowed)?;
        return relocate(&named, task, id, place);
    }
    let block = board.block(task).to_owned();
    // Removes the task first and inserts it into the rest, so that the
    // blank lines of both places are handled correctly.
    let without = remove(board, task)?;
    let same = |other: &Task| {
        let index = board
            .tasks
            .iter()
            .position(|task| task.lines == other.lines)?;
        let own = board
            .tasks
            .iter()
            .position(|other| other.lines == task.lines)?;
        without
            .tasks
            .get(if index > own { index - 1 } else { index })
    };
    let place = place.map(same).ok_or(EditError::Swallowed)?;
    apart_if_needed(|apart| {
        let edit = placement::insert(&without, place, &block, apart);
        finish(&without, vec![edit], None, Some(id), |after, moved| {
            after.category(moved) == target && after.block(moved) == block
        })
    })
}

/// Applies the edits and checks the result.
fn finish(
    before: &Board,
    edits: Vec<Edit>,
    old: Option<&Task>,
    id: Option<TaskId>,
    wanted: impl Fn(&Board, &Task) -> bool,
) -> Result<Board, EditError> {
    let text: Arc<str> = lines::apply(&before.text, edits).into();
    let after = Board::parse(text).map_err(|_| EditError::Title)?;
    if let Some(id) = id {
        match after.find(id) {
            TaskLookup::One(task) if wanted(&after, task) => {}
            _ => return Err(EditError::Swallowed),
        }
    }
    let others_before = before
        .tasks
        .iter()
        .filter(|task| old.is_none_or(|old| old.lines != task.lines));
    let others_after = after
        .tasks
        .iter()
        .filter(|task| id.is_none() || task.id != id);
    let same = others_before
        .map(|task| (before.category(task), before.block(task)))
        .eq(others_after.map(|task| (after.category(task), after.block(task))));
    if same {
        Ok(after)
    } else {
        Err(EditError::Swallowed)
    }
}

/// Gives an id to every task that has none.
pub fn number(board: &Board, ids: &[TaskId]) -> Result<Board, EditError> {
    let mut edits = Vec::new();
    let nameless = board.tasks.iter().filter(|task| task.id.is_none());
    for (task, id) in nameless.zip(ids) {
        let line = board.line(task.lines.start);
        let item = board.item(task.lines.start).ok_or(EditError::Swallowed)?;
        let rest = slice(line, item.rest..line.len());
        let mut named = rewrite::with_id(rest, *id);
        if rest.is_empty() && !line.ends_with([' ', '\t']) {
            named.insert(0, ' ');
        }
        let start = board.start_of(task.lines.start);
        edits.push(Edit::new(start + item.rest..start + line.len(), named));
    }
    let text: Arc<str> = lines::apply(&board.text, edits).into();
    let after = Board::parse(text).map_err(|_| EditError::Swallowed)?;
    let all = ids
        .iter()
        .all(|id| matches!(after.find(*id), TaskLookup::One(_)));
    if all && after.tasks.len() == board.tasks.len() {
        Ok(after)
    } else {
        Err(EditError::Swallowed)
    }
}

/// The targets of one kind of link, with one added or removed.
pub fn relinked(task: &Task, link: Link, target: u16, remove: bool) -> Vec<u16> {
    let mut targets: Vec<u16> = task
        .linked(link)
        .filter(|number| *number != target)
        .collect();
    if !remove {
        targets.push(target);
    }
    targets
}

/// Whether a title consists of tags only, so that the task would have no title.
pub fn is_only_tags(title: &str) -> bool {
    let parsed = TaskText::parse(title);
    parsed.title.is_empty()
        && parsed
            .tokens
            .iter()
            .all(|token| !matches!(token.tag, Tag::Id(_)))
}
