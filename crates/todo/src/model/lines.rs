//! Splits text into lines with their byte positions, for edits.

use std::ops::Range;

/// The start and end of a line's text, and the start of the next line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineSpan {
    pub start: usize,
    pub end: usize,
    pub next: usize,
}

impl LineSpan {
    pub fn of(self, text: &str) -> &str {
        slice(text, self.start..self.end)
    }

    pub fn eol(self, text: &str) -> &str {
        slice(text, self.end..self.next)
    }
}

/// Splits at `\n`, `\r\n` and a lone `\r`. A byte-order mark belongs to no line.
pub fn split(text: &str) -> Vec<LineSpan> {
    let bytes = text.as_bytes();
    let mut start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut lines = Vec::with_capacity(bytes.len() / 32);
    for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
        if at < start {
            // The `\n` of a `\r\n` that is already counted.
            continue;
        }
        let crlf = bytes.get(at) == Some(&b'\r') && bytes.get(at + 1) == Some(&b'\n');
        let next = at + 1 + usize::from(crlf);
        lines.push(LineSpan {
            start,
            end: at,
            next,
        });
        start = next;
    }
    if start < bytes.len() {
        lines.push(LineSpan {
            start,
            end: bytes.len(),
            next: bytes.len(),
        });
    }
    lines
}

/// The line ending for new lines: that of the line before, else that of the
/// first line.
pub fn eol_at<'a>(text: &'a str, lines: &[LineSpan], before: Option<usize>) -> &'a str {
    before
        .and_then(|index| lines.get(index))
        .map(|line| line.eol(text))
        .filter(|eol| !eol.is_empty())
        .or_else(|| lines.first().map(|line| line.eol(text)))
        .filter(|eol| !eol.is_empty())
        .unwrap_or("\n")
}

/// Like `&text[range]`, but empty instead of a panic.
pub fn slice(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}

/// Replaces `range` by `text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub range: Range<usize>,
    pub text: String,
}

impl Edit {
    pub fn new(range: Range<usize>, text: impl Into<String>) -> Self {
        Self {
            range,
            text: text.into(),
        }
    }
}

/// Applies edits that do not overlap, given in any order. Edits at the same
/// position keep their order.
pub fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let grown: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let mut result = String::with_capacity(text.len() + grown);
    let mut at = 0;
    for edit in edits {
        result.push_str(slice(text, at..edit.range.start));
        result.push_str(&edit.text);
        at = edit.range.end;
    }
    result.push_str(slice(text, at..text.len()));
    result
}

/// The indentation of a line in columns (a tab goes to the next multiple of
/// four) and in bytes.
pub fn indent(line: &str) -> (usize, usize) {
    let mut columns = 0;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns += 4 - columns % 4,
            _ => return (columns, at),
        }
    }
    (columns, line.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_belongs_to_one_line() {
        for text in [
            "",
            "a",
            "a\n",
            "a\r\nb\rc\n\n",
            "\u{feff}a\r\n",
            "\r\r\n\n\r",
            "\u{feff}",
        ] {
            let lines = split(text);
            let mut at = if text.starts_with('\u{feff}') { 3 } else { 0 };
            for line in &lines {
                assert_eq!(line.start, at);
                assert!(line.end <= line.next);
                at = line.next;
            }
            assert_eq!(at, text.len(), "{text:?}");
        }
    }

    #[test]
    fn edits_are_applied_in_any_order() {
        let edits = vec![
            Edit::new(4..5, "E"),
            Edit::new(0..0, ">"),
            Edit::new(1..3, ""),
        ];
        assert_eq!(apply("abcde", edits), ">adE");
    }

    #[test]
    fn tabs_count_as_columns() {
        assert_eq!(indent("\t- x"), (4, 1));
        assert_eq!(indent("  \t- x"), (4, 3));
        assert_eq!(indent("   x"), (3, 3));
    }
}
