//! Text that agents wrote, shown to a person who decides by it: never as HTML,
//! and without characters that make it look like another text.

use std::fmt::Write;

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
    let mut before = ' ';
    for character in text.chars() {
        if hides(before, character) {
            let code = u32::from(character);
            // Writing to a string does not fail.
            let _ = write!(html, "<span class=\"hidden-character\">U+{code:04X}</span>");
        } else {
            push(&mut html, character);
        }
        before = character;
    }
    html
}

/// Whether a character can't be seen where it stands, after `before`.
pub fn hides(before: char, character: char) -> bool {
    is_hidden(character) && !belongs(before, character)
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

/// Controls, marks of direction, and whatever takes part in a text without
/// being seen.
fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => {
            true
        }
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' => true,
        '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' => true,
        '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' => true,
        '\u{e0000}'..='\u{e0fff}' => true,
        other => other.is_control(),
    }
}

/// Characters that are at home after some others: the parts of a joined emoji,
/// the variant of a kanji in somebody's name.
fn belongs(before: char, character: char) -> bool {
    let is_symbol = matches!(before, '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}');
    let is_kanji = matches!(before, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
    match character {
        '\u{fe0f}' => is_symbol || matches!(before, '0'..='9' | '#' | '*'),
        '\u{200d}' => {
            before == '\u{fe0f}'
                || matches!(before, '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}')
        }
        '\u{fe00}'..='\u{fe0e}' | '\u{e0100}'..='\u{e01ef}' => is_kanji,
        _ => false,
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
        let mark = |code: &str| format!("<span class=\"hidden-character\">U+{code}</span>");
        for (text, code) in [
            ("\u{202e}", "202E"),
            ("\u{2066}", "2066"),
            ("\u{200b}", "200B"),
            ("\u{0}", "0000"),
            ("\u{1b}", "001B"),
            ("\r", "000D"),
            ("\u{feff}", "FEFF"),
            ("\u{e0041}", "E0041"),
            ("\u{200d}", "200D"),
            ("\u{85}", "0085"),
        ] {
            assert_eq!(shown(&format!("a{text}b")), format!("a{}b", mark(code)));
        }
    }

    #[test]
    fn names_and_emoji_stay_whole() {
        for text in [
            "葛\u{e0100}城",
            "👨\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}",
            "日本語\u{3000}テスト",
            "שלום",
        ] {
            assert_eq!(shown(text), text);
        }
    }
}
