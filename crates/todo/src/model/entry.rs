//! The words of a task's line: `要件定義を作成 #T001 due:2026-12-01 after:#T002`.
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
//! Everything else is the title. What stands in `code` is never one of these.

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
pub enum Word {
    Id(TaskId),
    Due(Date),
    Links(Link, Vec<u16>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub range: Range<usize>,
    pub word: Word,
}

/// A line's text after its checkbox, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub title: String,
    pub tokens: Vec<Token>,
}

impl Entry {
    pub fn parse(rest: &str) -> Self {
        let tokens = tokens(rest);
        Self {
            title: title(rest, &tokens),
            tokens,
        }
    }

    pub fn id(&self) -> Option<TaskId> {
        self.tokens.iter().find_map(|token| match token.word {
            Word::Id(id) => Some(id),
            _ => None,
        })
    }

    pub fn due(&self) -> Option<Date> {
        self.tokens.iter().find_map(|token| match token.word {
            Word::Due(date) => Some(date),
            _ => None,
        })
    }

    pub fn links(&self, wanted: Link) -> impl Iterator<Item = u16> + '_ {
        self.tokens
            .iter()
            .flat_map(move |token| match &token.word {
                Word::Links(link, targets) if *link == wanted => targets.as_slice(),
                _ => &[],
            })
            .copied()
    }
}

fn tokens(rest: &str) -> Vec<Token> {
    // Most lines have neither; looking for the signs first is the quick way.
    let hash = rest.contains("#T");
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
                && let Some(word_is) = keyed(word)
            {
                tokens.push(Token {
                    range: at..at + word.len(),
                    word: word_is,
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

/// The id, when several ids stand in the line: the one it begins with, else the
/// last. The others are mentions in the title.
fn id_token(rest: &str, in_code: &impl Fn(usize) -> bool) -> Option<Token> {
    let found: Vec<Token> = rest
        .match_indices("#T")
        .filter_map(|(at, _)| {
            let id = TaskId::parse(rest.get(at + 1..at + 5)?)?;
            let before = rest.get(..at)?.chars().next_back();
            let after = rest.get(at + 5..)?.chars().next();
            let free = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_');
            let apart =
                before.is_none_or(|c| !matches!(c, ':' | '#' | '&' | '/' | ',' | '=' | '\\'));
            (free(before) && free(after) && apart && id.0 > 0 && !in_code(at)).then_some(Token {
                range: at..at + 5,
                word: Word::Id(id),
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

fn keyed(word: &str) -> Option<Word> {
    if let Some(date) = word.strip_prefix("due:") {
        return date_of(date).map(Word::Due);
    }
    Link::ALL.into_iter().find_map(|link| {
        let targets = word.strip_prefix(link.key())?;
        targets
            .split(',')
            .map(|target| link.read_target(target))
            .collect::<Option<Vec<u16>>>()
            .map(|targets| Word::Links(link, targets))
    })
}

/// `2026-12-01`, and nothing looser.
pub fn date_of(text: &str) -> Option<Date> {
    (text.len() == 10).then(|| text.parse().ok()).flatten()
}

fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split(char::is_whitespace)
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

/// Where `code` is: a run of backticks up to the next run of the same length.
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

/// White space on both sides of a word that was taken out is white space once.
fn push(title: &mut String, part: &str) {
    let spaced = title.is_empty() || title.ends_with(char::is_whitespace);
    title.push_str(if spaced { part.trim_start() } else { part });
}

/// `rest` with another title. Words of ours keep their order and what stands
/// around the title stays; `None` when the line would then read as something else.
pub fn with_title(rest: &str, new: &str) -> Option<String> {
    let entry = Entry::parse(rest);
    let wanted = Entry::parse(new);
    let reads = |text: &str| {
        let read = Entry::parse(text);
        read.id() == entry.id()
            && (read.title == wanted.title || (wanted.id().is_some() && read.title == new))
    };
    let text = titled(rest, &entry.tokens, new);
    if reads(&text) {
        return Some(text);
    }
    // A title that begins with an id would take the line over; ours then leads.
    let id = entry.id()?;
    let bare = remove(rest, |word| *word == Word::Id(id));
    let mut tokens = Entry::parse(&bare).tokens;
    tokens.retain(|token| !matches!(token.word, Word::Id(_)));
    let text = format!("#{id} {}", titled(&bare, &tokens, new));
    reads(&text).then_some(text)
}

/// `new` from where the old title begins to where it ends; words that stand in
/// between go behind it.
fn titled(rest: &str, tokens: &[Token], new: &str) -> String {
    let (mut first, mut last, mut at) = (rest.len(), 0, 0);
    let end = Token {
        range: rest.len()..rest.len(),
        word: Word::Links(Link::See, Vec::new()),
    };
    for token in tokens.iter().chain([&end]) {
        let part = slice(rest, at..token.range.start);
        let trimmed = part.trim();
        if !trimmed.is_empty() {
            let start = at + (part.len() - part.trim_start().len());
            first = first.min(start);
            last = start + trimmed.len();
        }
        at = token.range.end;
    }
    if last == 0 {
        let gap = if rest.is_empty() { "" } else { " " };
        return format!("{new}{gap}{rest}");
    }
    let mut text = slice(rest, 0..first).to_owned();
    text.push_str(new);
    for token in tokens {
        if token.range.start > first && token.range.end < last {
            text.push(' ');
            text.push_str(slice(rest, token.range.clone()));
        }
    }
    let tail = slice(rest, last..rest.len());
    if tail.starts_with('#') {
        text.push(' ');
    }
    text.push_str(tail);
    text
}

/// `rest` with `word` added behind everything else.
pub fn with_word(rest: &str, word: &str) -> String {
    let kept = rest.trim_end();
    let tail = slice(rest, kept.len()..rest.len());
    if kept.is_empty() {
        return format!("{word}{tail}");
    }
    format!("{kept} {word}{tail}")
}

/// `rest` without the words that `unwanted` picks, each with one space before it.
pub fn remove(rest: &str, unwanted: impl Fn(&Word) -> bool) -> String {
    let mut text = String::with_capacity(rest.len());
    let mut at = 0;
    for token in Entry::parse(rest).tokens {
        if unwanted(&token.word) {
            let before = slice(rest, at..token.range.start);
            text.push_str(before.strip_suffix([' ', '\t']).unwrap_or(before));
            at = token.range.end;
        }
    }
    let tail = slice(rest, at..rest.len());
    text.push_str(if text.is_empty() {
        tail.trim_start()
    } else {
        tail
    });
    text
}

/// `rest` with another due date, at the place of the old one.
pub fn with_due(rest: &str, due: Option<Date>) -> String {
    let is_due = |word: &Word| matches!(word, Word::Due(_));
    let Some(due) = due else {
        return remove(rest, is_due);
    };
    let word = format!("due:{due}");
    let entry = Entry::parse(rest);
    match entry.tokens.iter().find(|token| is_due(&token.word)) {
        Some(token) => replace(rest, &token.range, &word),
        None => with_word(rest, &word),
    }
}

/// `rest` with exactly these targets of one kind of link.
pub fn with_links(rest: &str, link: Link, targets: &[u16]) -> String {
    let is_link = |word: &Word| matches!(word, Word::Links(of, _) if *of == link);
    if targets.is_empty() {
        return remove(rest, is_link);
    }
    let names: Vec<String> = targets.iter().map(|number| link.target(*number)).collect();
    let word = format!("{}{}", link.key(), names.join(","));
    let entry = Entry::parse(rest);
    let mut places = entry.tokens.iter().filter(|token| is_link(&token.word));
    match (places.next(), places.next()) {
        (Some(token), None) => replace(rest, &token.range, &word),
        (None, _) => with_word(rest, &word),
        // Several words of one kind are put together.
        (Some(_), Some(_)) => with_word(&remove(rest, is_link), &word),
    }
}

fn replace(rest: &str, range: &Range<usize>, word: &str) -> String {
    let (before, after) = (
        slice(rest, 0..range.start),
        slice(rest, range.end..rest.len()),
    );
    format!("{before}{word}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(rest: &str) -> (String, Option<u16>) {
        let entry = Entry::parse(rest);
        (entry.title.clone(), entry.id().map(|id| id.0))
    }

    #[test]
    fn ids_anywhere_in_the_line() {
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
    fn words_of_ours() {
        let entry =
            Entry::parse("do it #T001 due:2026-12-01 after:#T002,#T003 adr:7 see:x due:soon");
        assert_eq!(entry.title, "do it see:x due:soon");
        assert_eq!(entry.due().unwrap().to_string(), "2026-12-01");
        assert_eq!(entry.links(Link::After).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(entry.links(Link::Adr).collect::<Vec<_>>(), [7]);
        assert_eq!(Entry::parse("`due:2026-12-01`").due(), None);
    }

    #[test]
    fn titles_are_replaced_where_they_stand() {
        for (rest, new, wanted) in [
            ("old #T001", "new", "new #T001"),
            ("old #T001  ", "new", "new #T001  "),
            (
                "#T001 old due:2026-12-01",
                "new",
                "#T001 new due:2026-12-01",
            ),
            ("old #T001 text", "new", "new #T001"),
            ("古い#T001", "新しい", "新しい #T001"),
            ("#T001", "new", "new #T001"),
            ("old #T001", "#T002 again", "#T001 #T002 again"),
            ("old #T001", "after #T002", "after #T002 #T001"),
            ("old", "new", "new"),
            ("", "new", "new"),
        ] {
            assert_eq!(with_title(rest, new).as_deref(), Some(wanted), "{rest}");
        }
    }

    #[test]
    fn dates_and_links_come_and_go() {
        let date = |text: &str| text.parse().ok();
        let dated = with_due("a #T001", date("2026-12-01"));
        assert_eq!(dated, "a #T001 due:2026-12-01");
        assert_eq!(
            with_due(&dated, date("2027-01-02")),
            "a #T001 due:2027-01-02"
        );
        assert_eq!(with_due(&dated, None), "a #T001");
        let linked = with_links("a #T001", Link::After, &[2, 3]);
        assert_eq!(linked, "a #T001 after:#T002,#T003");
        assert_eq!(
            with_links(&linked, Link::After, &[3]),
            "a #T001 after:#T003"
        );
        assert_eq!(with_links(&linked, Link::After, &[]), "a #T001");
        assert_eq!(with_links("a #T001", Link::Adr, &[1]), "a #T001 adr:001");
    }
}
