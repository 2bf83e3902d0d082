//! Columns. A Japanese letter is as wide as two others.

use kit::text::visible;
use unicode_width::UnicodeWidthStr;

use super::styled::{Look, Styled};

/// One line of a cell's text, and how it looks.
#[derive(Debug, Clone)]
pub struct Cell {
    text: String,
    look: Look,
}

impl Cell {
    pub fn new(look: Look, text: impl AsRef<str>) -> Self {
        Self {
            text: visible(text.as_ref()),
            look,
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::new(Look::Plain, text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::new(Look::Plain, text)
    }
}

/// Columns under their names.
pub fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [Cell; N]>) -> Styled {
    let head = head.map(|name| Cell::new(Look::Bold, name));
    let rows: Vec<Vec<Cell>> = std::iter::once(head).chain(rows).map(Vec::from).collect();
    aligned(&rows)
}

/// Columns as wide as their widest cell. The last cell of a row may be longer.
pub fn aligned(rows: &[Vec<Cell>]) -> Styled {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        let all_but_last = row.len().saturating_sub(1);
        for (column, cell) in row.iter().take(all_but_last).enumerate() {
            let width = cell.text.width();
            match widths.get_mut(column) {
                Some(widest) => *widest = width.max(*widest),
                None => widths.push(width),
            }
        }
    }
    let mut text = Styled::default();
    for (number, row) in rows.iter().enumerate() {
        if number > 0 {
            text.plain("\n");
        }
        // Empty cells at the end leave no blanks behind.
        let filled = row.iter().rposition(|cell| !cell.text.is_empty());
        for (column, cell) in row.iter().take(filled.map_or(0, |at| at + 1)).enumerate() {
            text.add(cell.look, &cell.text);
            if Some(column) != filled {
                let width = widths.get(column).copied().unwrap_or_default();
                let blanks = width.saturating_sub(cell.text.width()) + 2;
                text.plain(&" ".repeat(blanks));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_as_a_terminal_shows_them() {
        let rows = [["田中", "x"], ["a", ""], ["abc", "y\nz"]];
        let rows = rows.iter().map(|row| row.map(Cell::from));
        let text = anstream::adapter::strip_str(table(["name", "b"], rows).text()).to_string();
        assert_eq!(text, "name  b\n田中  x\na\nabc   y⟨U+000A⟩z");
    }

    #[test]
    fn the_last_cell_of_a_row_takes_the_room_it_needs() {
        let row = |cells: &[&str]| {
            cells
                .iter()
                .map(|text| (*text).into())
                .collect::<Vec<Cell>>()
        };
        let rows = [row(&["a", "a long sentence"]), row(&["b", "c", "d"])];
        assert_eq!(aligned(&rows).text(), "a  a long sentence\nb  c  d");
    }
}
