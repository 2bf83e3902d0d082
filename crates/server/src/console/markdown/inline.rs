//! The text of a block: code, emphasis, and links as text.

use maud::{Markup, html};

use super::super::text::shown;

pub fn inline(text: &str) -> Markup {
    html! {
        @for span in spans(text) {
            @match span {
                Span::Plain(text) => (shown(text)),
                Span::Code(text) => code { (shown(text)) },
                Span::Strong(text) => strong { (shown(text)) },
                Span::Emphasis(text) => em { (shown(text)) },
                Span::Link(text, to) => { (shown(text)) " (" (shown(to)) ")" },
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Span<'a> {
    Plain(&'a str),
    Code(&'a str),
    Strong(&'a str),
    Emphasis(&'a str),
    Link(&'a str, &'a str),
}

/// How far the end of a span is looked for.
const LONGEST_SPAN: usize = 1000;

fn spans(text: &str) -> Vec<Span<'_>> {
    let mut spans = Vec::new();
    let (mut rest, mut plain) = (text, 0);
    while let Some(found) = rest.get(plain..).and_then(|it| it.find(['`', '*', '['])) {
        let at = plain + found;
        let (before, from) = rest.split_at(at);
        match span(from) {
            Some((span, length)) => {
                spans.push(Span::Plain(before));
                spans.push(span);
                rest = from.get(length..).unwrap_or_default();
                plain = 0;
            }
            // The signs that begin nothing are passed over together.
            None => {
                let sign = from.chars().next().unwrap_or(' ');
                plain = at + (from.len() - from.trim_start_matches(sign).len());
            }
        }
    }
    spans.push(Span::Plain(rest));
    spans.retain(|span| *span != Span::Plain(""));
    spans
}

/// The span that a text begins with, and its length.
fn span(text: &str) -> Option<(Span<'_>, usize)> {
    if let Some(rest) = text.strip_prefix('`') {
        let code = until(rest, "`")?;
        return Some((Span::Code(code), code.len() + 2));
    }
    if let Some(rest) = text.strip_prefix("**") {
        let strong = until(rest, "**").filter(|it| is_word(it))?;
        return Some((Span::Strong(strong), strong.len() + 4));
    }
    if let Some(rest) = text.strip_prefix('*') {
        let emphasis = until(rest, "*").filter(|it| is_word(it))?;
        return Some((Span::Emphasis(emphasis), emphasis.len() + 2));
    }
    let label = until(text.strip_prefix('[')?, "](")?;
    let to = until(text.get(label.len() + 3..)?, ")")?;
    Some((Span::Link(label, to), label.len() + to.len() + 4))
}

/// `2 * 3 * 4` emphasises nothing.
fn is_word(text: &str) -> bool {
    text.trim() == text
}

/// The text before the end of a span, if that is near and there is any text.
fn until<'a>(text: &'a str, end: &str) -> Option<&'a str> {
    let mut near = text.len().min(LONGEST_SPAN);
    while !text.is_char_boundary(near) {
        near -= 1;
    }
    let (found, _) = text.get(..near)?.split_once(end)?;
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_found() {
        for (text, expected) in [
            (
                "a `b*c*` d",
                vec![Span::Plain("a "), Span::Code("b*c*"), Span::Plain(" d")],
            ),
            (
                "**a** *b*",
                vec![Span::Strong("a"), Span::Plain(" "), Span::Emphasis("b")],
            ),
            ("2 * 3 * 4", vec![Span::Plain("2 * 3 * 4")]),
            (
                "[a](b) [c]",
                vec![Span::Link("a", "b"), Span::Plain(" [c]")],
            ),
            ("日本*語*", vec![Span::Plain("日本"), Span::Emphasis("語")]),
            ("`", vec![Span::Plain("`")]),
            ("", vec![]),
        ] {
            assert_eq!(spans(text), expected, "{text}");
        }
    }
}
