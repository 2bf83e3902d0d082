//! Text that agents wrote, shown to a person who decides by it: never as HTML,
//! and without characters that make it look like another text.

use kit::text::Piece;
use maud::{Markup, html};

/// Makes what can't be seen visible: a character that turns the reading
/// direction is shown as U+202E.
pub fn shown(text: &str) -> Markup {
    let mut plain = String::new();
    let mut parts = Vec::new();
    for piece in kit::text::pieces(text) {
        let hidden = match piece {
            Piece::Plain(character) => {
                plain.push(character);
                continue;
            }
            Piece::Hidden(character) => format!("U+{:04X}", u32::from(character)),
            Piece::Blanks(count) => format!("{count} ␣"),
        };
        parts.push((std::mem::take(&mut plain), hidden));
    }
    html! {
        @for (before, hidden) in parts {
            (before) span class="hidden-character" { (hidden) }
        }
        (plain)
    }
}

/// A text in which each `{name}` is replaced by its value. Nothing inside of a
/// value is replaced.
pub fn filled(template: &str, values: &[(&str, Markup)]) -> Markup {
    let mut parts = template.split('{');
    let first = parts.next().unwrap_or_default();
    html! {
        (first)
        @for part in parts {
            @let (name, rest) = part.split_once('}').unwrap_or(("", part));
            @for (_, value) in values.iter().filter(|(own, _)| *own == name) { (value) }
            (rest)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_is_text() {
        assert_eq!(
            shown("<img src=x onerror=\"a('b')\"> & co\nnext").into_string(),
            "&lt;img src=x onerror=&quot;a('b')&quot;&gt; &amp; co\nnext"
        );
    }

    #[test]
    fn hidden_characters_are_written_out() {
        let shown = |text: &str| shown(text).into_string();
        let mark = |what: &str| format!("a<span class=\"hidden-character\">{what}</span>b");
        assert_eq!(shown("a\u{202e}b"), mark("U+202E"));
        assert_eq!(shown("a\u{2800}b"), mark("U+2800"));
        assert_eq!(shown(&format!("a{}b", "\n".repeat(500))), mark("500 ␣"));
        assert_eq!(shown("葛\u{e0100}城\nb"), "葛\u{e0100}城\nb");
    }

    #[test]
    fn a_value_is_not_a_template() {
        let values = [("who", shown("{what}<b>")), ("what", shown("x"))];
        let text = filled("{who} & {what}.", &values).into_string();
        assert_eq!(text, "{what}&lt;b&gt; &amp; x.");
    }
}
