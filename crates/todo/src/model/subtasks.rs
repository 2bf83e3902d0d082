//! Replaces the sub-tasks of a task. Sub-tasks that stay keep their lines, and
//! the text between them is kept too.

use std::ops::Range;

use super::{
    Status,
    board::{Board, Task},
    lines::{self, eol_at, slice},
    markdown_blocks::BlockKind,
    one_line,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubtaskSpec {
    pub title: String,
    /// `None` keeps the status of a sub-task with that title; a new one is
    /// todo.
    pub status: Option<Status>,
}

/// A piece of the task's block: a sub-task with its notes, or other text.
struct Piece {
    subtask: Option<usize>,
    lines: Range<usize>,
}

/// The task's block with other sub-tasks, without a final line ending.
pub fn replace<'a>(board: &'a Board, task: &Task, wanted: &[SubtaskSpec]) -> String {
    let old: Vec<String> = task
        .subtasks
        .iter()
        .map(|sub| one_line(&sub.title))
        .collect();
    let new: Vec<String> = wanted.iter().map(|sub| one_line(&sub.title)).collect();
    let kept = common(&old, &new);
    let pieces = pieces(board, task);

    let partner_of = |sub: usize| kept.iter().find(|(i, _)| *i == sub).map(|(_, j)| *j);
    let mut moved: Vec<usize> = (0..old.len())
        .filter(|sub| partner_of(*sub).is_none())
        .collect();
    let mut result = Joined::new(board, task);
    let mut next = 0;
    // Writes the new ones up to this one.
    let mut write_new = |result: &mut Joined<'a>, next: &mut usize, until: usize| {
        while *next < until {
            result.new_one(board, task, wanted.get(*next), &mut moved, &old);
            *next += 1;
        }
    };
    let mut placed_first = false;
    for piece in &pieces {
        let Some(sub) = piece.subtask else {
            result.push(board, &piece.lines, None);
            continue;
        };
        let partner = partner_of(sub);
        // New ones before all kept ones go where the first one was.
        let until = match partner {
            Some(partner) => partner,
            None if !placed_first => kept.first().map_or(new.len(), |(_, j)| *j),
            None => next,
        };
        placed_first = true;
        write_new(&mut result, &mut next, until);
        if let Some(partner) = partner {
            let status = wanted.get(partner).and_then(|wanted| wanted.status);
            result.push(board, &piece.lines, status);
            next = partner + 1;
            // New ones follow the kept one before them.
            let later = kept.iter().map(|(_, j)| *j).find(|j| *j > partner);
            write_new(&mut result, &mut next, later.unwrap_or(new.len()));
        }
    }
    write_new(&mut result, &mut next, new.len());
    // Drops blank lines that separated removed sub-tasks.
    let end = result.text.trim_end_matches(['\r', '\n', ' ', '\t']).len();
    let kept = slice(&result.text, end..result.text.len());
    let last_line = kept.find(['\r', '\n']).unwrap_or(kept.len());
    result.text.truncate(end + last_line);
    result.text
}

/// The sub-task lines of a new task.
pub fn fresh(indent: &str, subtasks: &[String], eol: &str) -> String {
    let mut text = String::new();
    for title in subtasks {
        text.push_str(&format!("{eol}{indent}- [ ] {}", one_line(title)));
    }
    text
}

struct Joined<'a> {
    text: String,
    /// The line ending of the last piece; written when another piece
    /// follows.
    eol: Option<&'a str>,
    default_eol: &'a str,
    indent: String,
    bullet: char,
}

impl<'a> Joined<'a> {
    fn new(board: &'a Board, task: &Task) -> Self {
        let default_eol = eol_at(&board.text, &board.lines, Some(task.lines.start));
        let (indent, bullet) = match task.subtasks.first() {
            Some(sub) => prefix_of(board, sub.line),
            None => (indent_for(board, task), '-'),
        };
        Self {
            text: String::new(),
            eol: None,
            default_eol,
            indent,
            bullet,
        }
    }

    fn add(&mut self, text: &str, eol: &'a str) {
        if let Some(eol) = self.eol {
            self.text.push_str(eol);
        }
        self.text.push_str(text);
        self.eol = Some(if eol.is_empty() {
            self.default_eol
        } else {
            eol
        });
    }

    fn push(&mut self, board: &'a Board, lines: &Range<usize>, status: Option<Status>) {
        let text = slice(&board.text, board.bytes(lines));
        let eol = lines
            .end
            .checked_sub(1)
            .and_then(|last| board.lines.get(last))
            .map_or("", |line| line.eol(&board.text));
        self.add(&with_status(board, lines.start, text, status), eol);
    }

    fn new_one(
        &mut self,
        board: &'a Board,
        task: &Task,
        wanted: Option<&SubtaskSpec>,
        moved: &mut Vec<usize>,
        old: &[String],
    ) {
        let Some(wanted) = wanted else { return };
        let title = one_line(&wanted.title);
        // A sub-task that only moves keeps its lines.
        let same = moved.iter().position(|sub| old.get(*sub) == Some(&title));
        if let Some(at) = same {
            let sub = moved.remove(at);
            if let Some(sub) = task.subtasks.get(sub) {
                let lines = own_lines(board, task, sub.line);
                self.push(board, &lines, wanted.status);
                return;
            }
        }
        let mark = wanted.status.unwrap_or(Status::Todo).mark();
        let line = format!("{}{} [{mark}] {title}", self.indent, self.bullet);
        let eol = self.default_eol;
        self.add(&line, eol);
    }
}

/// `text`, which starts with the item in `line`, with another mark in its
/// checkbox.
pub fn with_status(board: &Board, line: usize, text: &str, status: Option<Status>) -> String {
    let mark = board.item(line).and_then(|item| item.mark);
    let (Some(status), Some(mark)) = (status, mark) else {
        return text.to_owned();
    };
    let old = text
        .get(mark..)
        .and_then(|rest| rest.chars().next())
        .unwrap_or(' ');
    if Status::of_mark(old) == status {
        return text.to_owned();
    }
    let after = slice(text, mark + old.len_utf8()..text.len());
    format!("{}{}{after}", slice(text, 0..mark), status.mark())
}

fn pieces(board: &Board, task: &Task) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut at = task.lines.start;
    for (index, sub) in task.subtasks.iter().enumerate() {
        if at < sub.line {
            pieces.push(Piece {
                subtask: None,
                lines: at..sub.line,
            });
        }
        let lines = own_lines(board, task, sub.line);
        at = lines.end;
        pieces.push(Piece {
            subtask: Some(index),
            lines,
        });
    }
    if at < task.lines.end {
        pieces.push(Piece {
            subtask: None,
            lines: at..task.lines.end,
        });
    }
    pieces
}

/// A sub-task's line and the text below it, up to the next checkbox.
fn own_lines(board: &Board, task: &Task, line: usize) -> Range<usize> {
    let Some(own) = board.item(line) else {
        return line..line + 1;
    };
    let mut end = line + 1;
    for index in line + 1..task.lines.end {
        let Some(block) = board.blocks.get(index) else {
            break;
        };
        let inside = match block.kind {
            BlockKind::Item(item) => item.mark.is_none() && item.depth > own.depth,
            BlockKind::Blank => true,
            // A less indented line may belong to the task instead.
            _ => lines::indent(board.line(index)).0 >= own.content,
        };
        if !inside {
            break;
        }
        if block.kind != BlockKind::Blank {
            end = index + 1;
        }
    }
    line..end
}

/// The indentation and bullet of an item's line.
pub fn prefix_of(board: &Board, line: usize) -> (String, char) {
    let text = board.line(line);
    let at = board.item(line).map_or(0, |item| item.bullet);
    let bullet = text.get(at..).and_then(|rest| rest.chars().next());
    let bullet = bullet.filter(|c| "-*+".contains(*c)).unwrap_or('-');
    (slice(text, 0..at).to_owned(), bullet)
}

/// The indentation of a task's first sub-task: as elsewhere in the file if that
/// is deep enough, else up to the task's text.
pub fn indent_for(board: &Board, task: &Task) -> String {
    let content = board.item(task.lines.start).map_or(2, |item| item.content);
    prevailing_indent(board, content).unwrap_or_else(|| " ".repeat(content))
}

/// The indentation of the file's first sub-task, if it fits a task whose text
/// starts at column `content`.
pub fn prevailing_indent(board: &Board, content: usize) -> Option<String> {
    let sub = board.tasks.iter().find_map(|task| task.subtasks.first())?;
    let (indent, _) = prefix_of(board, sub.line);
    let (columns, _) = lines::indent(&indent);
    (columns >= content && columns < content + 4).then_some(indent)
}

/// The longest common subsequence of titles, as pairs of indices.
fn common(old: &[String], new: &[String]) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    let mut best = vec![0usize; (old.len() + 1) * width];
    let at = |best: &[usize], i: usize, j: usize| best.get(i * width + j).copied().unwrap_or(0);
    for (i, one) in old.iter().enumerate().rev() {
        for (j, other) in new.iter().enumerate().rev() {
            let length = if one == other {
                at(&best, i + 1, j + 1) + 1
            } else {
                at(&best, i + 1, j).max(at(&best, i, j + 1))
            };
            if let Some(cell) = best.get_mut(i * width + j) {
                *cell = length;
            }
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while let (Some(one), Some(other)) = (old.get(i), new.get(j)) {
        if one == other {
            pairs.push((i, j));
            i += 1;
            j += 1;
        } else if at(&best, i + 1, j) >= at(&best, i, j + 1) {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}
