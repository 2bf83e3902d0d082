//! The text of a task's line: `要件定義を作成 #T001 due:2026-12-01 after:#T002`.
//!
//! | words | meaning |
//! |---|---|
//! | `#T001` | the task's id, anywhere in the line |
//! | `due:2026-12-01` | the day it is due |
//! | `after:#T002,#T003` | it waits for these |
//! | `blocks:#T004` | these wait for it |
//! | `see:#T005` | these belong with it |
//! | `adr:001` | decided by this ADR |
//!
//! Everything else is the title. A tag inside `code` does not count.

use std::ops::Range;

use jiff::civil::Date;

use super::{TaskId, lines::slice};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Link {
    After,
    Blocks,
    See,
    Adr,
}

impl Link {
    pub const ALL: [Self; 4] = [Self::After, Self::Blocks, Self::See, Self::Adr];

    pub fn key(self) -> &'static str {
        match self {
            Self::After => "after:",
            Self::Blocks => "blocks:",
            Self::See => "see:",
            Self::Adr => "adr:",
        }
    }

    /// A target as it is written: `#T001`, or `001` for an ADR.
    pub fn target(self, number: u16) -> String {
        match self {
            Self::Adr => format!("{number:03}"),
            _ => format!("#{}", TaskId(number)),
        }
    }

    fn read_target(self, text: &str) -> Option<u16> {
        match self {
            Self::Adr => {
                let digits =
                    (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
                digits.then(|| text.parse().ok()).flatten()
            }
            _ => TaskId::parse(text.strip_prefix('#')?).map(|id| id.0),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tag {
    Id(TaskId),
    Due(Date),
    Links(Link, Vec<u16>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub range: Range<usize>,
    pub tag: Tag,
}

/// A line's text after its checkbox, parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskText {
    pub title: String,
    pub tokens: Vec<Token>,
}

impl TaskText {
    pub fn parse(rest: &str) -> Self {
        let tokens = tokens(rest);
        Self {
            title: title(rest, &tokens),
            tokens,
        }
    }

    pub fn id(&self) -> Option<TaskId> {
        self.tokens.iter().find_map(|token| match token.tag {
            Tag::Id(id) => Some(id),
            _ => None,
        })
    }

    pub fn due(&self) -> Option<Date> {
        self.tokens.iter().find_map(|token| match token.tag {
            Tag::Due(date) => Some(date),
            _ => None,
        })
    }

    pub fn links(&self, wanted: Link) -> impl Iterator<Item = u16> + '_ {
        self.tokens
            .iter()
            .flat_map(move |token| match &token.tag {
                Tag::Links(link, targets) if *link == wanted => targets.as_slice(),
                _ => &[],
            })
            .copied()
    }
}

fn tokens(rest: &str) -> Vec<Token> {
    // Most lines have neither, so this check saves time.
    let hash = rest.contains('#');
    let colon = rest.contains(':');
    if !hash && !colon {
        return Vec::new();
    }
    let code = code_spans(rest);
    let in_code = |at: usize| code.iter().any(|span| span.contains(&at));
    let mut tokens = Vec::new();
    if colon {
        for (at, word) in words(rest) {
            if !in_code(at)
                && let Some(tag) = keyed(word)
            {
                tokens.push(Token {
                    range: at..at + word.len(),
                    tag,
                });
            }
        }
    }
    if hash && let Some(token) = id_token(rest, &in_code) {
        tokens.push(token);
    }
    tokens.sort_by_key(|token| token.range.start);
    tokens
}

/// The task's id. If the line has several ids, it is the one at its start, else
/// the last one. The others belong to the title.
fn id_token(rest: &str, in_code: &impl Fn(usize) -> bool) -> Option<Token> {
    let found: Vec<Token> = rest
        .match_indices('#')
        .filter_map(|(at, _)| {
            let id = TaskId::parse(rest.get(at + 1..at + 5)?)?;
            let before = rest.get(..at)?.chars().next_back();
            let after = rest.get(at + 5..)?.chars().next();
            let free = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_');
            let apart =
                before.is_none_or(|c| !matches!(c, ':' | '#' | '&' | '/' | ',' | '=' | '\\'));
            (free(before) && free(after) && apart && id.0 > 0 && !in_code(at)).then_some(Token {
                range: at..at + 5,
                tag: Tag::Id(id),
            })
        })
        .collect();
    let leads = found
        .first()
        .is_some_and(|token| slice(rest, 0..token.range.start).trim().is_empty());
    if leads {
        found.into_iter().next()
    } else {
        found.into_iter().next_back()
    }
}

fn keyed(word: &str) -> Option<Tag> {
    if let Some(date) = word.strip_prefix("due:") {
        return date_of(date).map(Tag::Due);
    }
    Link::ALL.into_iter().find_map(|link| {
        let targets = word.strip_prefix(link.key())?;
        targets
            .split(',')
            .map(|target| link.read_target(target))
            .collect::<Option<Vec<u16>>>()
            .map(|targets| Tag::Links(link, targets))
    })
}

/// Parses `2026-12-01` and no other format.
pub fn date_of(text: &str) -> Option<Date> {
    (text.len() == 10).then(|| text.parse().ok()).flatten()
}

fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split(char::is_whitespace)
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

/// The ranges of `code`: a run of backticks up to the next run of the same
/// length.
fn code_spans(text: &str) -> Vec<Range<usize>> {
    if !text.contains('`') {
        return Vec::new();
    }
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.match_indices('`') {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    let mut spans = Vec::new();
    let mut rest = runs.as_slice();
    while let Some((open, after)) = rest.split_first() {
        rest = after;
        let close = after.iter().position(|run| run.len() == open.len());
        if let Some(at) = close
            && let Some(close) = after.get(at)
        {
            spans.push(open.start..close.end);
            rest = after.get(at + 1..).unwrap_or_default();
        }
    }
    spans
}

fn title(rest: &str, tokens: &[Token]) -> String {
    let mut title = String::with_capacity(rest.len());
    let mut at = 0;
    for token in tokens {
        push(&mut title, slice(rest, at..token.range.start));
        at = token.range.end;
    }
    push(&mut title, slice(rest, at..rest.len()));
    title.truncate(title.trim_end().len());
    title
}

/// Leaves only one of the spaces around a tag that was cut out.
fn push(title: &mut String, part: &str) {
    let spaced = title.is_empty() || title.ends_with(char::is_whitespace);
    title.push_str(if spaced { part.trim_start() } else { part });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(rest: &str) -> (String, Option<u16>) {
        let parsed = TaskText::parse(rest);
        (parsed.title.clone(), parsed.id().map(|id| id.0))
    }

    #[test]
    fn ids_are_found_anywhere_in_the_line() {
        for (rest, title, id) in [
            ("要件定義を作成 #T001", "要件定義を作成", Some(1)),
            ("#T001 first", "first", Some(1)),
            ("a #T001 b", "a b", Some(1)),
            ("要件#T001定義", "要件定義", Some(1)),
            ("follow-up of #T001 #T007", "follow-up of #T001", Some(7)),
            ("#T007 follow-up of #T001", "follow-up of #T001", Some(7)),
            ("see `#T001`", "see `#T001`", None),
            ("x#T001", "x#T001", None),
            ("#T0012", "#T0012", None),
            ("#T000", "#T000", None),
            ("/docs#T001", "/docs#T001", None),
            ("a (#T003)", "a ()", Some(3)),
            ("", "", None),
        ] {
            assert_eq!(parts(rest), (title.to_owned(), id), "{rest}");
        }
    }

    #[test]
    fn tags_are_parsed_and_removed_from_the_title() {
        let parsed =
            TaskText::parse("do it #T001 due:2026-12-01 after:#T002,#T003 adr:7 see:x due:soon");
        assert_eq!(parsed.title, "do it see:x due:soon");
        assert_eq!(parsed.due().unwrap().to_string(), "2026-12-01");
        assert_eq!(parsed.links(Link::After).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(parsed.links(Link::Adr).collect::<Vec<_>>(), [7]);
        assert_eq!(TaskText::parse("`due:2026-12-01`").due(), None);
    }
}
