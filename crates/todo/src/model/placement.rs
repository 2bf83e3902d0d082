//! Inserts and removes blocks of lines, with the blank lines around them.

use std::ops::Range;

use super::{
    DEFAULT_CATEGORY,
    board::{Board, Task},
    lines::{Edit, eol_at},
    markdown_blocks::BlockKind,
};

#[derive(Debug, Clone, Copy)]
pub enum Destination<'a> {
    Before(&'a Task),
    After(&'a Task),
    /// The end of a category, which need not exist yet.
    EndOf(&'a str),
}

impl<'a> Destination<'a> {
    /// The same destination in another version of the board.
    pub fn map<'b>(self, same: impl Fn(&Task) -> Option<&'b Task>) -> Option<Destination<'b>>
    where
        'a: 'b,
    {
        match self {
            Destination::Before(other) => same(other).map(Destination::Before),
            Destination::After(other) => same(other).map(Destination::After),
            Destination::EndOf(category) => Some(Destination::EndOf(category)),
        }
    }
}

/// The edit that inserts `block`, which has no final line ending. `apart` adds
/// a blank line below it.
pub fn insert(board: &Board, place: Destination<'_>, block: &str, apart: bool) -> Edit {
    let mut edit = insert_at(board, place, block);
    if apart {
        edit.text.push_str(eol_at(&board.text, &board.lines, None));
    }
    edit
}

fn insert_at(board: &Board, place: Destination<'_>, block: &str) -> Edit {
    match place {
        Destination::Before(task) => {
            let line = task.lines.start;
            let eol = eol_at(&board.text, &board.lines, Some(line));
            let gap = if is_loose(board, task) { eol } else { "" };
            let at = board.start_of(line);
            Edit::new(at..at, format!("{block}{eol}{gap}"))
        }
        Destination::After(task) => {
            let gap = is_loose(board, task);
            after_line(board, task.lines.end.saturating_sub(1), gap, block)
        }
        Destination::EndOf(category) => at_end_of(board, category, block),
    }
}

/// The edit that removes a block. It also removes a blank line if two would
/// become adjacent.
pub fn remove(board: &Board, lines: &Range<usize>) -> Edit {
    let blank = |line: usize| {
        board
            .blocks
            .get(line)
            .is_some_and(|b| b.kind == BlockKind::Blank)
    };
    let blank_before = lines.start.checked_sub(1).is_none_or(blank);
    let at_end = lines.end >= board.lines.len();
    if at_end {
        // The line above becomes the last one. It gets a final line
        // ending only if the block had one.
        let block_ends = lines
            .end
            .checked_sub(1)
            .and_then(|last| board.lines.get(last))
            .is_some_and(|line| line.end < line.next);
        let mut first = lines.start;
        if first > 0 && blank_before {
            first -= 1;
        }
        let from = match first
            .checked_sub(1)
            .and_then(|above| board.lines.get(above))
        {
            Some(above) if !block_ends => above.end,
            Some(above) => above.next,
            None => board.start_of(0),
        };
        return Edit::new(from..board.text.len(), "");
    }
    let mut end = lines.end;
    if blank_before && blank(end) {
        end += 1;
    }
    Edit::new(board.start_of(lines.start)..board.start_of(end), "")
}

/// Whether blank lines separate this task from its neighbours.
fn is_loose(board: &Board, task: &Task) -> bool {
    let gap = |from: usize, to: usize| {
        from < to
            && board
                .blocks
                .get(from..to)
                .is_some_and(|blocks| blocks.iter().all(|block| block.kind == BlockKind::Blank))
    };
    let mut neighbours = board
        .tasks
        .iter()
        .filter(|other| other.section == task.section && other.lines != task.lines);
    neighbours.any(|other| {
        gap(other.lines.end, task.lines.start) || gap(task.lines.end, other.lines.start)
    })
}

fn after_line(board: &Board, line: usize, gap: bool, block: &str) -> Edit {
    let eol = eol_at(&board.text, &board.lines, Some(line));
    let blank = if gap { eol } else { "" };
    match board.lines.get(line) {
        Some(last) if last.end == last.next => {
            Edit::new(last.end..last.end, format!("{eol}{blank}{block}"))
        }
        Some(last) => Edit::new(last.next..last.next, format!("{blank}{block}{eol}")),
        None => Edit::new(board.text.len()..board.text.len(), format!("{block}{eol}")),
    }
}

fn at_end_of(board: &Board, category: &str, block: &str) -> Edit {
    let last = board.in_category(category).last();
    if let Some(last) = last {
        return insert_at(board, Destination::After(last), block);
    }
    let section = board
        .sections
        .iter()
        .rev()
        .find(|section| section.heading.is_some() && section.name == category);
    let Some(section) = section else {
        return new_category(board, category, block);
    };
    let content = section.lines.clone().rev().find(|line| {
        board
            .blocks
            .get(*line)
            .is_some_and(|block| block.kind != BlockKind::Blank)
    });
    let line = content.unwrap_or(section.lines.start);
    // Separates the list from a paragraph, but not from the heading.
    let gap = section.heading != Some(line);
    after_line(board, line, gap, block)
}

fn new_category(board: &Board, category: &str, block: &str) -> Edit {
    let eol = eol_at(&board.text, &board.lines, None);
    let end = board.text.len();
    if board.lines.is_empty() {
        return Edit::new(end..end, format!("## {category}{eol}{block}{eol}"));
    }
    let ended = board.lines.last().is_none_or(|line| line.end < line.next);
    let blank = board
        .blocks
        .last()
        .is_some_and(|last| last.kind == BlockKind::Blank);
    let mut text = String::new();
    if !ended {
        text.push_str(eol);
    }
    if !blank {
        text.push_str(eol);
    }
    text.push_str("## ");
    text.push_str(category);
    text.push_str(eol);
    text.push_str(block);
    if ended {
        text.push_str(eol);
    }
    Edit::new(end..end, text)
}

/// The category's name, if it would be parsed as given.
pub fn readable_category(name: &str) -> Option<String> {
    let trimmed = name.trim();
    let one_line =
        !trimmed.contains(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'));
    let heading = format!("## {trimmed}");
    let reads = super::markdown_blocks::heading(&heading).is_some_and(|(level, (start, end))| {
        level == 2 && heading.get(start..end) == Some(trimmed)
    });
    (one_line && reads && !trimmed.is_empty()).then(|| trimmed.to_owned())
}

/// The category of a new task if the caller names none.
pub fn default_category() -> &'static str {
    DEFAULT_CATEGORY
}
