//! Text that agents wrote, shown to a person who decides by it: never as HTML,
//! and without characters that make it look like another text.

use std::fmt::Write;

use kit::text::Piece;

const HIDDEN: &str = "<span class=\"hidden-character\">";

/// As text of an element or of a quoted attribute.
pub fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in text.chars() {
        push(&mut html, character);
    }
    html
}

/// As text of an element, with what can't be seen made visible: a character that
/// turns the reading direction stands there as U+202E.
pub fn shown(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for piece in kit::text::pieces(text) {
        // Writing to a string does not fail.
        let _ = match piece {
            Piece::Plain(character) => {
                push(&mut html, character);
                continue;
            }
            Piece::Hidden(character) => {
                write!(html, "{HIDDEN}U+{:04X}</span>", u32::from(character))
            }
            Piece::Blanks(count) => write!(html, "{HIDDEN}{count} ␣</span>"),
        };
    }
    html
}

fn push(html: &mut String, character: char) {
    match character {
        '&' => html.push_str("&amp;"),
        '<' => html.push_str("&lt;"),
        '>' => html.push_str("&gt;"),
        '"' => html.push_str("&quot;"),
        '\'' => html.push_str("&#39;"),
        other => html.push(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_is_text() {
        assert_eq!(
            shown("<img src=x onerror=\"a('b')\"> & co\nnext"),
            "&lt;img src=x onerror=&quot;a(&#39;b&#39;)&quot;&gt; &amp; co\nnext"
        );
        assert_eq!(escape("\"><b>"), "&quot;&gt;&lt;b&gt;");
    }

    #[test]
    fn what_is_hidden_is_shown() {
        let mark = |what: &str| format!("a<span class=\"hidden-character\">{what}</span>b");
        assert_eq!(shown("a\u{202e}b"), mark("U+202E"));
        assert_eq!(shown("a\u{2800}b"), mark("U+2800"));
        assert_eq!(shown(&format!("a{}b", "\n".repeat(500))), mark("500 ␣"));
        assert_eq!(shown("葛\u{e0100}城\nb"), "葛\u{e0100}城\nb");
    }
}
