//! Changes the title and tags of a task's line, and nothing else in it.

use std::ops::Range;

use jiff::civil::Date;

use super::{
    TaskId,
    lines::slice,
    task_text::{Link, Tag, TaskText, Token},
};

/// `rest` with another title. Tags keep their order. `None` if the line would
/// be parsed as something else.
pub fn with_title(rest: &str, new: &str) -> Option<String> {
    let parsed = TaskText::parse(rest);
    let wanted = TaskText::parse(new);
    let reads = |text: &str| {
        let read = TaskText::parse(text);
        read.id() == parsed.id()
            && (read.title == wanted.title || (wanted.id().is_some() && read.title == new))
    };
    let text = titled(rest, &parsed.tokens, new);
    if reads(&text) {
        return Some(text);
    }
    // If the new title begins with an id, the task's own id must come
    // first.
    let id = parsed.id()?;
    let bare = remove(rest, |word| *word == Tag::Id(id));
    let mut tokens = TaskText::parse(&bare).tokens;
    tokens.retain(|token| !matches!(token.tag, Tag::Id(_)));
    let text = format!("#{id} {}", titled(&bare, &tokens, new));
    reads(&text).then_some(text)
}

/// Puts `new` in place of the old title. Tags inside the old title move behind
/// it.
fn titled(rest: &str, tokens: &[Token], new: &str) -> String {
    let (mut first, mut last, mut at) = (rest.len(), 0, 0);
    let end = Token {
        range: rest.len()..rest.len(),
        tag: Tag::Links(Link::See, Vec::new()),
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

/// `rest` with an id at the end, or at the start if it would not count there.
pub fn with_id(rest: &str, id: TaskId) -> String {
    let named = with_tag(rest, &format!("#{id}"));
    if TaskText::parse(&named).id() == Some(id) {
        return named;
    }
    format!("#{id} {rest}")
}

/// `rest` with `tag` added at the end.
pub fn with_tag(rest: &str, word: &str) -> String {
    let kept = rest.trim_end();
    let tail = slice(rest, kept.len()..rest.len());
    if kept.is_empty() {
        return format!("{word}{tail}");
    }
    format!("{kept} {word}{tail}")
}

/// `rest` without the tags that `unwanted` selects and the space before each.
pub fn remove(rest: &str, unwanted: impl Fn(&Tag) -> bool) -> String {
    let mut text = String::with_capacity(rest.len());
    let mut at = 0;
    for token in TaskText::parse(rest).tokens {
        if unwanted(&token.tag) {
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

/// `rest` with another due date, in place of the old one.
pub fn with_due(rest: &str, due: Option<Date>) -> String {
    let is_due = |word: &Tag| matches!(word, Tag::Due(_));
    let Some(due) = due else {
        return remove(rest, is_due);
    };
    let word = format!("due:{due}");
    let parsed = TaskText::parse(rest);
    match parsed.tokens.iter().find(|token| is_due(&token.tag)) {
        Some(token) => replace(rest, &token.range, &word),
        None => with_tag(rest, &word),
    }
}

/// `rest` with exactly these targets for one kind of link.
pub fn with_links(rest: &str, link: Link, targets: &[u16]) -> String {
    let is_link = |word: &Tag| matches!(word, Tag::Links(of, _) if *of == link);
    if targets.is_empty() {
        return remove(rest, is_link);
    }
    let names: Vec<String> = targets.iter().map(|number| link.target(*number)).collect();
    let word = format!("{}{}", link.key(), names.join(","));
    let parsed = TaskText::parse(rest);
    let mut places = parsed.tokens.iter().filter(|token| is_link(&token.tag));
    match (places.next(), places.next()) {
        (Some(token), None) => replace(rest, &token.range, &word),
        (None, _) => with_tag(rest, &word),
        // Joins several tags of one kind.
        (Some(_), Some(_)) => with_tag(&remove(rest, is_link), &word),
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
    fn titles_are_replaced_in_place() {
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
    fn due_dates_and_links_are_added_and_removed() {
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
