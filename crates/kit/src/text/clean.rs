//! Texts of imported rows. Invisible characters could hide instructions for agents.

use super::visible::{Piece, pieces};

/// Turns white space into single spaces, removes invisible characters, and cuts what
/// is too long.
pub fn clean(text: &str, most: usize) -> String {
    let mut clean = String::with_capacity(text.len().min(most * 4));
    let mut gap = false;
    let mut count = 0;
    for piece in pieces(text) {
        let character = match piece {
            Piece::Blanks(_) => ' ',
            Piece::Hidden(character) if !character.is_whitespace() => continue,
            Piece::Hidden(character) | Piece::Plain(character) => character,
        };
        if character.is_whitespace() {
            gap = !clean.is_empty();
            continue;
        }
        if gap {
            clean.push(' ');
            count += 1;
            gap = false;
        }
        if count >= most {
            break;
        }
        clean.push(character);
        count += 1;
    }
    clean.truncate(clean.trim_end().len());
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cleaned_and_cut() {
        assert_eq!(clean(" a\r\n\tb\u{0}c ", 10), "a bc");
        assert_eq!(clean("\u{202e}evil\u{e0041}\u{e0042}", 10), "evil");
        assert_eq!(clean("\u{3164}e\u{34f}vil\u{ffa0}", 10), "evil");
        // One variation selector is part of a character; more could hide a text.
        let (kanji, heart) = ("葛\u{e0100}城", "\u{2764}\u{fe0f}");
        assert_eq!(clean(kanji, 10), kanji);
        assert_eq!(clean(heart, 10), heart);
        let disguised = format!("{heart}\u{e0159}\u{e0155} \u{fe01}{kanji}\u{fe02}\u{fe03}");
        assert_eq!(clean(&disguised, 20), format!("{heart} {kanji}\u{fe02}"));
        assert_eq!(clean("\u{fe01}\u{e0101}", 20), "");
        assert_eq!(clean("むぎぼー", 2), "むぎ");
        assert_eq!(clean("ab cd", 3), "ab");
    }
}
