//! Makes Japanese and Latin text comparable.
//!
//! Every counter searches by [`fold`]ed text; [`similarity`] finds what was meant
//! when nothing matches, and [`sound()`] compares kana with romaji. [`visible()`] makes an
//! agent's text safe to show to a person.

mod clean;
mod sound;
mod visible;

pub use clean::clean;
pub use sound::sound;
pub use visible::{Piece, cut, pieces, visible, visible_lines};

use unicode_normalization::UnicodeNormalization;

/// Removes differences of width, case, kana, long-vowel marks, middle dots and white
/// space: `ﾄｯﾌﾟ･ガン`, `とっぷがん` and `トップ ガン` become the same.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for character in text.nfkc().flat_map(char::to_lowercase) {
        match character {
            // Hiragana and its iteration marks lie 0x60 below katakana.
            'ぁ'..='ゖ' | 'ゝ' | 'ゞ' => {
                folded.extend(char::from_u32(character as u32 + 0x60));
            }
            'ー' | '‐' | '‑' | '–' | '—' | '―' | '-' | '~' | '〜' | '～' => {}
            '・' | '·' | '･' | ':' | '：' | '!' | '?' | '’' | '\'' | '"' | ',' | '.' | '、'
            | '。' | '「' | '」' | '『' | '』' | '(' | ')' => {}
            c if c.is_whitespace() => {}
            c => folded.push(c),
        }
    }
    folded
}

/// Turns full-width digits, letters and signs into ASCII, and trims the text.
pub fn narrow(text: &str) -> String {
    text.nfkc().collect::<String>().trim().to_owned()
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: impl AsRef<[u8]>) -> String {
    let mut text = String::with_capacity(bytes.as_ref().len() * 2);
    for byte in bytes.as_ref() {
        for digit in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(digit.into(), 16));
        }
    }
    text
}

/// How similar two folded texts are, 0 to 1.
pub fn similarity(a: &str, b: &str) -> f64 {
    if a.is_empty() || b.is_empty() || far_apart(a, b) {
        return 0.0;
    }
    strsim::normalized_damerau_levenshtein(a, b).max(strsim::sorensen_dice(a, b))
}

/// The most similar name, if one is similar enough to be a misspelling.
pub fn nearest<'a>(name: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    among
        .into_iter()
        .map(|candidate| (likeness(name, candidate), candidate))
        .filter(|(score, _)| *score > 0.75)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

/// Texts of very different lengths are not similar, and comparing a very long one
/// would take very long.
fn far_apart(a: &str, b: &str) -> bool {
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
    long > short * 4 + 16
}

/// Jaro-Winkler tolerates missing letters. In short words it counts two swapped
/// letters, the most common typo, as two wrong ones.
fn likeness(a: &str, b: &str) -> f64 {
    if far_apart(a, b) {
        return 0.0;
    }
    let swapped = a.len() == b.len() && strsim::damerau_levenshtein(a, b) == 1;
    if swapped {
        return 0.9;
    }
    strsim::jaro_winkler(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_width_case_kana_long_vowels_and_dots() {
        for spelling in [
            "トップガン・マーヴェリック",
            "ﾄｯﾌﾟｶﾞﾝ･ﾏｰｳﾞｪﾘｯｸ",
            "とっぷがん まーゔぇりっく",
            "トップガンマーヴェリック",
        ] {
            assert_eq!(fold(spelling), "トップガンマヴェリック", "{spelling}");
        }
        assert_eq!(fold("ＴＯＰ　Gun"), "topgun");
    }

    #[test]
    fn narrows_full_width() {
        assert_eq!(narrow(" Ａ５ "), "A5");
        assert_eq!(narrow("２０２６－１１－１５"), "2026-11-15");
    }

    #[test]
    fn writes_bytes_as_hexadecimal() {
        assert_eq!(hex([0, 0x0f, 0xa0, 0xff]), "000fa0ff");
    }

    #[test]
    fn finds_the_nearest_name() {
        assert_eq!(nearest("cinma", ["rooms", "cinema"]), Some("cinema"));
        assert_eq!(nearest("ulr", ["key", "url"]), Some("url"));
        assert_eq!(nearest("zzz", ["rooms", "cinema"]), None);
    }
}
