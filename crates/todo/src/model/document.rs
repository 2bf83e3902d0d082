//! A Markdown file as a list of sections. Contexts and ADRs are edited section
//! by section.

use std::ops::Range;

use super::{
    lines::{self, Edit, LineSpan, eol_at, slice},
    markdown_blocks::{self, Block, BlockKind},
};

pub struct Document<'a> {
    pub text: &'a str,
    pub lines: Vec<LineSpan>,
    pub blocks: Vec<Block>,
    pub headings: Vec<Heading<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heading<'a> {
    pub level: usize,
    pub name: &'a str,
    pub line: usize,
}

impl<'a> Document<'a> {
    pub fn parse(text: &'a str) -> Self {
        let lines = lines::split(text);
        let blocks = markdown_blocks::read(text, &lines);
        let headings = lines
            .iter()
            .zip(&blocks)
            .enumerate()
            .filter_map(|(index, (line, block))| match block.kind {
                BlockKind::Heading { level, name } => Some(Heading {
                    level,
                    name: slice(line.of(text), name.0..name.1),
                    line: index,
                }),
                _ => None,
            })
            .collect();
        Self {
            text,
            lines,
            blocks,
            headings,
        }
    }

    pub fn line(&self, index: usize) -> &'a str {
        self.lines.get(index).map_or("", |line| line.of(self.text))
    }

    /// Finds a section by name. `##` headings come before others, exact
    /// matches before folded ones.
    pub fn section(&self, name: &str) -> Option<Heading<'a>> {
        let name = name.trim();
        let folded = kit::text::fold(name);
        let find = |matches: &dyn Fn(&Heading<'a>) -> bool| {
            self.headings
                .iter()
                .find(|heading| matches(heading))
                .copied()
        };
        let same = |heading: &Heading<'a>| heading.name == name;
        let alike =
            |heading: &Heading<'a>| !folded.is_empty() && kit::text::fold(heading.name) == folded;
        find(&|heading| heading.level == 2 && same(heading))
            .or_else(|| find(&|heading| heading.level == 2 && alike(heading)))
            .or_else(|| find(&same))
            .or_else(|| find(&alike))
    }

    /// The lines below a heading, up to the next of its level or above.
    pub fn body(&self, heading: Heading<'_>) -> Range<usize> {
        let end = self
            .headings
            .iter()
            .find(|other| other.line > heading.line && other.level <= heading.level)
            .map_or(self.lines.len(), |other| other.line);
        heading.line + 1..end
    }

    /// The lines without blank lines at both ends.
    pub fn content(&self, lines: &Range<usize>) -> Range<usize> {
        let blank = |line: &usize| self.line(*line).trim().is_empty();
        let first = lines.clone().find(|line| !blank(line));
        let last = lines.clone().rev().find(|line| !blank(line));
        match (first, last) {
            (Some(first), Some(last)) => first..last + 1,
            _ => lines.start..lines.start,
        }
    }

    pub fn bytes(&self, lines: &Range<usize>) -> Range<usize> {
        let end_of = |line: usize| {
            self.lines
                .get(line)
                .map_or(self.text.len(), |line| line.end)
        };
        let start = self
            .lines
            .get(lines.start)
            .map_or(self.text.len(), |line| line.start);
        match lines.end.checked_sub(1) {
            Some(last) if last >= lines.start => start..end_of(last),
            _ => start..start,
        }
    }

    pub fn content_text(&self, heading: Heading<'_>) -> &'a str {
        slice(self.text, self.bytes(&self.content(&self.body(heading))))
    }

    pub fn eol(&self) -> &'a str {
        eol_at(self.text, &self.lines, None)
    }

    /// `text` with this file's line endings, trimmed.
    pub fn in_own_lines(&self, text: &str) -> String {
        let plain = text.replace("\r\n", "\n").replace('\r', "\n");
        let plain = plain.trim_end().trim_start_matches('\n');
        plain.replace('\n', self.eol())
    }

    /// Replaces the text below a heading.
    pub fn set_body(&self, heading: Heading<'_>, text: &str) -> Edit {
        let content = self.content(&self.body(heading));
        if content.is_empty() {
            return self.below(heading, text);
        }
        Edit::new(self.bytes(&content), self.in_own_lines(text))
    }

    /// Adds to the text below a heading.
    pub fn append(&self, heading: Heading<'_>, text: &str) -> Edit {
        let content = self.content(&self.body(heading));
        match content.end.checked_sub(1) {
            Some(last) if !content.is_empty() => self.after_line(last, text),
            _ => self.below(heading, text),
        }
    }

    /// Adds to the end of the file.
    pub fn append_at_end(&self, text: &str) -> Edit {
        let content = self.content(&(0..self.lines.len()));
        match content.end.checked_sub(1) {
            Some(last) if !content.is_empty() => self.after_line(last, text),
            _ => {
                let end = self.text.len();
                Edit::new(
                    end..end,
                    format!("{}{}", self.in_own_lines(text), self.eol()),
                )
            }
        }
    }

    fn below(&self, heading: Heading<'_>, text: &str) -> Edit {
        let eol = self.eol();
        let at = self.bytes(&(heading.line..heading.line + 1)).end;
        Edit::new(at..at, format!("{eol}{eol}{}", self.in_own_lines(text)))
    }

    fn after_line(&self, line: usize, text: &str) -> Edit {
        let eol = self.eol();
        let at = self.bytes(&(line..line + 1)).end;
        let text = self.in_own_lines(text);
        // Continues a list with a list item. Anything else becomes a
        // new paragraph.
        let is_item = |line: &str| {
            let line = line.trim_start();
            line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ")
        };
        let gap = if is_item(self.line(line)) && is_item(&text) {
            ""
        } else {
            eol
        };
        Edit::new(at..at, format!("{eol}{gap}{text}"))
    }
}

/// `old` with the lines of `new`. The lines at the start and at the end that are the same
/// stay as they are, with their line endings.
pub fn with_lines(old: &str, new: &str) -> String {
    let lines = lines::split(old);
    let new: Vec<&str> = new.lines().collect();
    let is_same = |(line, new): &(&LineSpan, &&str)| line.of(old) == **new;
    let start = lines.iter().zip(&new).take_while(is_same).count();
    let most = lines.len().min(new.len()) - start;
    let from_end = lines.iter().rev().zip(new.iter().rev());
    let end = from_end.take(most).take_while(is_same).count();
    let eol = eol_at(old, &lines, None);
    let mut text = String::new();
    let is_torn = start
        .checked_sub(1)
        .and_then(|last| lines.get(last))
        .is_some_and(|last| last.eol(old).is_empty());
    let middle = new.get(start..new.len() - end).unwrap_or_default();
    if is_torn && !middle.is_empty() {
        text.push_str(eol);
    }
    for line in middle {
        text.push_str(line);
        text.push_str(eol);
    }
    let from = match lines.get(start) {
        Some(line) => line.start,
        None => old.len(),
    };
    let to = lines
        .get(lines.len() - end)
        .map_or(old.len(), |line| line.start);
    lines::apply(old, vec![Edit::new(from..to, text)])
}

/// Whether the text closes every code fence and comment that it opens.
/// Otherwise it would swallow the text after it.
pub fn is_closed(text: &str) -> bool {
    let probe = format!("{text}\n\n# end");
    let document = Document::parse(&probe);
    document
        .headings
        .last()
        .is_some_and(|last| last.line + 1 == document.lines.len())
}

#[cfg(test)]
mod tests {
    use super::with_lines;

    #[test]
    fn lines_that_nobody_changed_keep_their_line_endings() {
        for (old, new, expected) in [
            ("a\r\nb\nc", "a\nx\nc", "a\r\nx\r\nc"),
            ("a\r\nb\nc", "a\nb\nc\n", "a\r\nb\nc"),
            ("a\nb", "a\nb\nc", "a\nb\nc\n"),
            ("\u{feff}a\n", "b\n", "\u{feff}b\n"),
            ("a\nb\nc\n", "a\nc", "a\nc\n"),
            ("a\na\n", "a\na\na\n", "a\na\na\n"),
            ("", "x\ny", "x\ny\n"),
            ("a\n", "", ""),
            ("a\n\n", "a\n\n", "a\n\n"),
        ] {
            assert_eq!(with_lines(old, new), expected, "{old:?} {new:?}");
        }
    }
}
