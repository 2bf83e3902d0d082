//! Takes a document apart, line by line.

/// Deeper lists are shown at this depth, however far they are indented.
const DEEPEST: usize = 12;

#[derive(Debug, PartialEq, Eq)]
pub enum Block<'a> {
    /// Its level, from 1, and its text.
    Heading(usize, &'a str),
    Paragraph(String),
    Quote(String),
    Code(String),
    Rule,
    List(Vec<ListLine<'a>>),
}

#[derive(Debug, PartialEq, Eq)]
pub struct ListLine<'a> {
    pub indent: usize,
    pub is_numbered: bool,
    pub text: std::borrow::Cow<'a, str>,
}

impl ListLine<'_> {
    /// Whether it belongs to the list that these lines began. Numbers after bullets begin
    /// another.
    fn continues(&self, lines: &[ListLine<'_>]) -> bool {
        lines
            .first()
            .is_none_or(|first| self.indent > first.indent || self.is_numbered == first.is_numbered)
    }
}

pub fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut lines = text.trim_start_matches('\u{feff}').lines().peekable();
    if lines.peek().is_some_and(|line| line.trim_end() == "---") {
        lines.next();
        let fields: Vec<&str> = lines
            .by_ref()
            .take_while(|line| line.trim_end() != "---")
            .collect();
        blocks.push(Block::Code(fields.join("\n")));
    }
    while let Some(line) = lines.next() {
        if let Some(fence) = fence(line) {
            let is_inside = |line: &&str| !line.trim().starts_with(fence);
            let code: Vec<&str> = lines.by_ref().take_while(is_inside).collect();
            blocks.push(Block::Code(code.join("\n")));
        } else {
            add(&mut blocks, line);
        }
    }
    blocks.retain(|block| *block != Block::Paragraph(String::new()));
    blocks
}

fn fence(line: &str) -> Option<&'static str> {
    let line = line.trim_start();
    ["```", "~~~"]
        .into_iter()
        .find(|fence| line.starts_with(fence))
}

/// Adds a line to the last block, or begins another.
fn add<'a>(blocks: &mut Vec<Block<'a>>, line: &'a str) {
    let trimmed = line.trim();
    if let Some(heading) = heading(line) {
        blocks.push(heading);
    } else if is_rule(trimmed) {
        blocks.push(Block::Rule);
    } else if let Some(item) = list_line(line) {
        match blocks.last_mut() {
            Some(Block::List(lines)) if item.continues(lines) => lines.push(item),
            _ => blocks.push(Block::List(vec![item])),
        }
    } else if let Some(quoted) = trimmed.strip_prefix('>') {
        match blocks.last_mut() {
            Some(Block::Quote(text)) => append(text, quoted.trim()),
            _ => blocks.push(Block::Quote(quoted.trim().to_owned())),
        }
    } else if trimmed.is_empty() {
        // Ends a paragraph; a list goes on below an empty line.
        if !matches!(blocks.last(), Some(Block::List(_))) {
            blocks.push(Block::Paragraph(String::new()));
        }
    } else {
        match blocks.last_mut() {
            Some(Block::Paragraph(text)) if !text.is_empty() => append(text, trimmed),
            Some(Block::List(lines)) if line.starts_with([' ', '\t']) => {
                if let Some(last) = lines.last_mut() {
                    append(last.text.to_mut(), trimmed);
                }
            }
            _ => blocks.push(Block::Paragraph(trimmed.to_owned())),
        }
    }
}

fn append(text: &mut String, line: &str) {
    text.push('\n');
    text.push_str(line);
}

fn heading(line: &str) -> Option<Block<'_>> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    let text = rest.trim().trim_end_matches('#').trim_end();
    let is_heading = (1..=6).contains(&level) && rest.starts_with([' ', '\t']);
    (is_heading && !text.is_empty()).then_some(Block::Heading(level, text))
}

fn is_rule(line: &str) -> bool {
    ['-', '*', '_'].into_iter().any(|sign| {
        let signs = line.chars().filter(|c| *c == sign).count();
        signs >= 3 && line.chars().all(|c| c == sign || c == ' ')
    })
}

fn list_line(line: &str) -> Option<ListLine<'_>> {
    let rest = line.trim_start_matches([' ', '\t']);
    let indent = line.len() - rest.len();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (is_numbered, text) = match digits {
        0 => (false, rest.strip_prefix(['-', '*', '+'])?),
        1..=9 => (true, rest.get(digits..)?.strip_prefix(['.', ')'])?),
        _ => return None,
    };
    let text = text.strip_prefix([' ', '\t'])?;
    Some(ListLine {
        indent: indent.min(DEEPEST),
        is_numbered,
        text: text.trim().into(),
    })
}
