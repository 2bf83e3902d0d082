//! A task's line with other words in it, and everything else where it was.

use std::ops::Range;

use jiff::civil::Date;

use super::{
    entry::{Entry, Link, Token, Word},
    lines::slice,
};

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
