//! Classifies each line of a Markdown file: a heading, a list item, text, or
//! opaque content (code, comments, front matter).
//!
//! Follows CommonMark's block structure as far as it decides what is a task.
//! One exception: a checkbox that is indented too deeply for the list above is
//! still an item, since people mean it as one.

use super::lines::{self, LineSpan};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    Blank,
    /// An ATX heading outside any list; the name is `name.0..name.1` of the line.
    Heading {
        level: usize,
        name: (usize, usize),
    },
    Item(Item),
    Text,
    /// Code, a comment or front matter; ignored.
    Opaque,
}

/// Offsets are bytes from the start of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// 0 for an item of a list that is not inside another item.
    pub depth: usize,
    /// Position of the bullet.
    pub bullet: usize,
    /// The column at which the item's content starts.
    pub content: usize,
    /// Position of the character between the brackets.
    pub mark: Option<usize>,
    /// Start of the text after the checkbox.
    pub rest: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    pub kind: BlockKind,
    /// The line of the outermost list item this line is part of.
    pub owner: Option<usize>,
    /// The column an item's content must reach to be inside this line's item.
    pub inner: usize,
}

struct Fence {
    mark: u8,
    length: usize,
    container: usize,
}

#[derive(Clone, Copy)]
struct Html {
    until: &'static str,
    container: usize,
}

/// An open list item.
struct OpenItem {
    content: usize,
    line: usize,
}

#[derive(Default)]
struct BlockReader {
    open: Vec<OpenItem>,
    fence: Option<Fence>,
    html: Option<Html>,
    /// The last line was part of a paragraph, which a lazy line may
    /// continue.
    paragraph: bool,
    /// The last line was blank, or there was none.
    after_blank: bool,
}

pub fn read(text: &str, all: &[LineSpan]) -> Vec<Block> {
    let mut reader = BlockReader {
        after_blank: true,
        ..BlockReader::default()
    };
    let matter = front_matter(text, all);
    let mut blocks = Vec::with_capacity(all.len());
    for (index, line) in all.iter().enumerate() {
        let kind = if index < matter {
            BlockKind::Opaque
        } else {
            reader.line(line.of(text), index)
        };
        blocks.push(Block {
            kind,
            owner: reader.open.first().map(|open| open.line),
            inner: reader.open.last().map_or(0, |open| open.content),
        });
    }
    blocks
}

/// Number of lines of YAML front matter at the top.
fn front_matter(text: &str, all: &[LineSpan]) -> usize {
    let is = |line: &LineSpan, what: &str| line.of(text).trim_end() == what;
    match all.split_first() {
        Some((first, rest)) if is(first, "---") => rest
            .iter()
            .position(|line| is(line, "---") || is(line, "..."))
            .map_or(0, |end| end + 2),
        _ => 0,
    }
}

impl BlockReader {
    fn line(&mut self, line: &str, index: usize) -> BlockKind {
        let (indent, at) = lines::indent(line);
        let rest = lines::slice(line, at..line.len());
        if rest.is_empty() {
            return self.blank();
        }
        if self.inside_opaque(indent, rest) {
            return BlockKind::Opaque;
        }
        let depth = self
            .open
            .iter()
            .take_while(|open| open.content <= indent)
            .count();
        let container = depth
            .checked_sub(1)
            .and_then(|last| self.open.get(last))
            .map_or(0, |open| open.content);
        let parts = LineParts {
            index,
            line,
            rest,
            indent,
            at,
            depth,
        };
        let kind = if indent - container >= 4 {
            self.deep(parts)
        } else {
            self.shallow(parts, container)
        };
        self.after_blank = false;
        kind
    }

    fn blank(&mut self) -> BlockKind {
        if self.fence.is_some() || self.html.is_some() {
            return BlockKind::Opaque;
        }
        self.paragraph = false;
        self.after_blank = true;
        BlockKind::Blank
    }

    /// Whether this line is inside an open code fence or HTML block. A line
    /// outside the surrounding list item ends the block.
    fn inside_opaque(&mut self, indent: usize, rest: &str) -> bool {
        if let Some(fence) = &self.fence {
            if indent < fence.container {
                self.fence = None;
                return false;
            }
            let run = rest.bytes().take_while(|byte| *byte == fence.mark).count();
            let tail = lines::slice(rest, run..rest.len());
            if run >= fence.length && indent - fence.container < 4 && tail.trim().is_empty() {
                self.fence = None;
            }
            return true;
        }
        if let Some(html) = self.html {
            if indent < html.container {
                self.html = None;
                return false;
            }
            if ends_html(rest, html.until) {
                self.html = None;
            }
            return true;
        }
        false
    }

    /// A line indented by four or more columns: code after a blank line,
    /// else part of the paragraph, or an item that is indented too deeply.
    fn deep(&mut self, parts: LineParts<'_>) -> BlockKind {
        if !self.after_blank
            && !self.open.is_empty()
            && let Some(item) = parts.item()
            && item.mark.is_some()
        {
            return self.enter(item, &parts);
        }
        if self.paragraph {
            return BlockKind::Text;
        }
        self.open.truncate(parts.depth);
        BlockKind::Opaque
    }

    fn shallow(&mut self, parts: LineParts<'_>, container: usize) -> BlockKind {
        let LineParts {
            rest, at, depth, ..
        } = parts;
        if let Some((level, name)) = heading(rest) {
            self.open.truncate(depth);
            self.paragraph = false;
            if depth > 0 {
                return BlockKind::Text;
            }
            return BlockKind::Heading {
                level,
                name: (at + name.0, at + name.1),
            };
        }
        if self.opens_opaque(rest, container) {
            self.open.truncate(depth);
            return BlockKind::Opaque;
        }
        if is_break(rest) {
            self.open.truncate(depth);
            self.paragraph = false;
            return BlockKind::Text;
        }
        if let Some(item) = parts.item()
            && (!self.paragraph || !self.open.is_empty() || starts_a_list(rest))
        {
            return self.enter(item, &parts);
        }
        let quote = rest.starts_with('>');
        let lazy = self.paragraph && depth < self.open.len() && !quote;
        if !lazy {
            self.open.truncate(depth);
        }
        self.paragraph = !quote;
        BlockKind::Text
    }

    fn enter(&mut self, item: Item, parts: &LineParts<'_>) -> BlockKind {
        self.open.truncate(item.depth);
        self.open.push(OpenItem {
            content: item.content,
            line: parts.index,
        });
        let rest = lines::slice(parts.line, item.rest..parts.line.len());
        self.after_blank = false;
        // An empty checkbox counts as text.
        self.paragraph = item.mark.is_some() || !rest.trim().is_empty();
        if item.mark.is_none() {
            self.opens_opaque(rest, item.content);
        }
        BlockKind::Item(item)
    }

    fn opens_opaque(&mut self, rest: &str, container: usize) -> bool {
        if let Some((mark, length)) = fence(rest) {
            self.fence = Some(Fence {
                mark,
                length,
                container,
            });
        } else if let Some(until) = html(rest) {
            if !ends_html(lines::slice(rest, 2..rest.len()), until) {
                self.html = Some(Html { until, container });
            }
        } else {
            return false;
        }
        self.paragraph = false;
        true
    }
}

/// The level, and the range of the name in `rest`: SPEC for `## SPEC ##`.
pub fn heading(rest: &str) -> Option<(usize, (usize, usize))> {
    let level = rest.bytes().take_while(|byte| *byte == b'#').count();
    let tail = rest.get(level..)?;
    if !(1..=6).contains(&level) || !(tail.is_empty() || tail.starts_with([' ', '\t'])) {
        return None;
    }
    let start = level + (tail.len() - tail.trim_start().len());
    let name = tail.trim();
    let closed = name.trim_end_matches('#');
    let name = if closed.is_empty() || closed.ends_with([' ', '\t']) {
        closed.trim_end()
    } else {
        name
    };
    Some((level, (start, start + name.len())))
}

fn fence(rest: &str) -> Option<(u8, usize)> {
    let mark = rest.bytes().next().filter(|byte| b"`~".contains(byte))?;
    let length = rest.bytes().take_while(|byte| *byte == mark).count();
    let info = rest.get(length..)?;
    (length >= 3 && !(mark == b'`' && info.contains('`'))).then_some((mark, length))
}

/// The end marker of the HTML block that starts here, if one does.
fn html(rest: &str) -> Option<&'static str> {
    let marks = [("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>")];
    if let Some((_, until)) = marks.iter().find(|(start, _)| rest.starts_with(start)) {
        return Some(until);
    }
    let tags = [
        ("<pre", "</pre>"),
        ("<script", "</script>"),
        ("<style", "</style>"),
        ("<textarea", "</textarea>"),
    ];
    tags.into_iter().find_map(|(tag, until)| {
        let start = rest.get(..tag.len())?;
        let after = rest.get(tag.len()..)?;
        (start.eq_ignore_ascii_case(tag)
            && (after.is_empty() || after.starts_with([' ', '\t', '>'])))
        .then_some(until)
    })
}

fn ends_html(rest: &str, until: &str) -> bool {
    rest.to_ascii_lowercase().contains(until)
}

fn is_break(rest: &str) -> bool {
    let mut marks = rest.bytes().filter(|byte| !b" \t".contains(byte));
    match marks.next() {
        Some(mark @ (b'-' | b'*' | b'_')) => {
            let mut count = 1;
            marks.all(|other| {
                count += 1;
                other == mark
            }) && count >= 3
        }
        _ => false,
    }
}

/// Only an ordered list that starts with 1 may interrupt a paragraph.
fn starts_a_list(rest: &str) -> bool {
    rest.starts_with(['-', '*', '+']) || rest.starts_with("1.") || rest.starts_with("1)")
}

/// A line that is not blank.
struct LineParts<'a> {
    index: usize,
    line: &'a str,
    /// The line without its indentation.
    rest: &'a str,
    /// The indentation in columns, and in bytes.
    indent: usize,
    at: usize,
    /// Number of open items whose content this line may belong to.
    depth: usize,
}

impl LineParts<'_> {
    fn item(&self) -> Option<Item> {
        let rest = self.rest;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let marker = match digits {
            0 if rest.starts_with(['-', '*', '+']) => 1,
            1..=9 if matches!(rest.as_bytes().get(digits), Some(b'.' | b')')) => digits + 1,
            _ => return None,
        };
        let after = rest.get(marker..)?;
        if !(after.is_empty() || after.starts_with([' ', '\t'])) {
            return None;
        }
        let (columns, width) = gap(after, self.indent + marker);
        let inside = after.get(width..)?;
        let content = match columns {
            1..=4 if !inside.is_empty() => self.indent + marker + columns,
            _ => self.indent + marker + 1,
        };
        let text = self.at + marker + width;
        let (mark, rest) = match checkbox(inside) {
            Some(length) => (Some(text + 1), text + length),
            None => (None, text),
        };
        debug_assert!(rest <= self.line.len());
        Some(Item {
            depth: self.depth,
            bullet: self.at,
            content,
            mark,
            rest,
        })
    }
}

/// White space after a bullet at `column`: its width in columns and in bytes.
fn gap(after: &str, column: usize) -> (usize, usize) {
    let mut columns = 0;
    for (at, byte) in after.bytes().enumerate() {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns += 4 - (column + columns) % 4,
            _ => return (columns, at),
        }
    }
    (columns, after.len())
}

/// The length of `[ ] `, `[x] ` or `[-] ` with the white space after it.
fn checkbox(inside: &str) -> Option<usize> {
    let mut characters = inside.strip_prefix('[')?.char_indices();
    let (_, mark) = characters.next()?;
    let (close, bracket) = characters.next()?;
    if bracket != ']' || matches!(mark, '[' | ']' | '\\' | '(') {
        return None;
    }
    let end = close + 2;
    let after = inside.get(end..)?;
    let space = after.len() - after.trim_start_matches([' ', '\t']).len();
    // `[x](address)` is a link, `[x]text` is text.
    (after.is_empty() || space > 0).then_some(end + space)
}
