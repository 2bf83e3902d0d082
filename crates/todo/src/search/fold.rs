//! [`kit::text::fold`], optimised for ASCII and common Japanese.

/// The folded form of each ASCII character.
const ASCII: [u8; 256] = ascii();
const DROPPED: u8 = 0xff;

#[expect(clippy::indexing_slicing, reason = "checked when it is compiled")]
const fn ascii() -> [u8; 256] {
    let mut table = [DROPPED; 256];
    let mut at = 0;
    while at < 128 {
        let byte = at as u8;
        table[at] = match byte {
            b'-' | b'~' | b':' | b'!' | b'?' | b'\'' | b'"' | b',' | b'.' | b'(' | b')' => DROPPED,
            b'\t'..=b'\r' | b' ' => DROPPED,
            _ => byte.to_ascii_lowercase(),
        };
        at += 1;
    }
    table
}

/// The same as [`kit::text::fold`].
pub fn fold(text: &str) -> String {
    // The bytes are always valid UTF-8.
    String::from_utf8(fold_bytes(text)).unwrap_or_default()
}

/// The bytes of [`fold`], for searching.
pub fn fold_bytes(text: &str) -> Vec<u8> {
    let mut folded = Vec::new();
    fold_into(text, &mut folded);
    folded
}

/// Like [`fold_bytes`], but overwrites a reusable buffer.
pub fn fold_into(text: &str, folded: &mut Vec<u8>) {
    folded.clear();
    folded.reserve(text.len());
    let mut rest = text.as_bytes();
    loop {
        let run = rest.iter().take_while(|byte| byte.is_ascii()).count();
        let (ascii, after) = rest.split_at_checked(run).unwrap_or((rest, &[]));
        fold_ascii(ascii, folded);
        rest = after;
        match plain(rest) {
            None => return,
            Some((Some(letter), after)) => {
                letter.push(folded);
                rest = after;
            }
            Some((None, after)) => rest = slowly(text, rest, after, folded),
        }
    }
}

/// Writes every byte, and overwrites dropped ones with the next. This avoids a
/// branch.
fn fold_ascii(ascii: &[u8], folded: &mut Vec<u8>) {
    let start = folded.len();
    folded.resize(start + ascii.len(), 0);
    let mut kept = start;
    for byte in ascii {
        let now = ASCII.get(usize::from(*byte)).copied().unwrap_or(DROPPED);
        if let Some(place) = folded.get_mut(kept) {
            *place = now;
        }
        kept += usize::from(now != DROPPED);
    }
    folded.truncate(kept);
}

/// Folds the characters at the start of `rest` that are not plain, together
/// with the plain one before them, which a combining mark may change. A plain
/// letter never changes the one before it, so the text can be cut there.
fn slowly<'a>(text: &'a str, rest: &[u8], after: &'a [u8], folded: &mut Vec<u8>) -> &'a [u8] {
    let mut end = after;
    while let Some((None, after)) = plain(end) {
        end = after;
    }
    let start = text.len() - rest.len();
    let before = text
        .get(..start)
        .and_then(|before| before.chars().next_back());
    let mut from = start;
    if let Some(before) = before
        && let Some((Some(letter), _)) = plain(before.encode_utf8(&mut [0; 4]).as_bytes())
    {
        from -= before.len_utf8();
        folded.truncate(folded.len() - letter.length());
    }
    let part = text.get(from..text.len() - end.len()).unwrap_or_default();
    folded.extend_from_slice(kit::text::fold(part).as_bytes());
    end
}

enum Letter {
    Ascii(u8),
    Wide([u8; 3]),
    Dropped,
}

impl Letter {
    #[inline]
    fn push(self, folded: &mut Vec<u8>) {
        match self {
            Self::Ascii(byte) => folded.push(byte),
            Self::Wide(bytes) => folded.extend_from_slice(&bytes),
            Self::Dropped => {}
        }
    }

    fn length(&self) -> usize {
        match self {
            Self::Ascii(_) => 1,
            Self::Wide(_) => 3,
            Self::Dropped => 0,
        }
    }
}

/// The next character's folded form and the rest. The form is `None` if the
/// character needs the full folding.
#[inline]
fn plain(bytes: &[u8]) -> Option<(Option<Letter>, &[u8])> {
    match bytes {
        [] => None,
        [byte @ 0..=0x7f, rest @ ..] => {
            let letter = match ASCII.get(usize::from(*byte)).copied() {
                None | Some(DROPPED) => Letter::Dropped,
                Some(kept) => Letter::Ascii(kept),
            };
            Some((Some(letter), rest))
        }
        [a @ 0xe3..=0xe9, b, c, rest @ ..] => {
            let code =
                (u32::from(a & 0x0f) << 12) | (u32::from(b & 0x3f) << 6) | u32::from(c & 0x3f);
            Some((wide(code, [*a, *b, *c]), rest))
        }
        [0xc0..=0xdf, _, rest @ ..]
        | [0xe0..=0xef, _, _, rest @ ..]
        | [0xf0..=0xff, _, _, _, rest @ ..]
        | [_, rest @ ..] => Some((None, rest)),
    }
}

#[inline]
fn wide(code: u32, bytes: [u8; 3]) -> Option<Letter> {
    match code {
        // Hiragana becomes katakana, which is 0x60 higher.
        0x3041..=0x3096 => {
            let code = code + 0x60;
            Some(Letter::Wide([
                0xe0 | (code >> 12) as u8,
                0x80 | (code >> 6 & 0x3f) as u8,
                0x80 | (code & 0x3f) as u8,
            ]))
        }
        0x30a1..=0x30fa | 0x4e00..=0x9fff => Some(Letter::Wide(bytes)),
        // Long vowels, full stops, brackets, the middle dot, the wide space.
        0x30fc | 0x3000..=0x3002 | 0x300c..=0x300f | 0x30fb => Some(Letter::Dropped),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn samples_fold_like_the_kit() {
        for text in [
            "",
            "ＴＯＰ　Gun ﾄｯﾌﾟｶﾞﾝ",
            "e\u{301}cole か\u{3099} カ\u{3099}x",
            "\u{301}a",
            "㍻と①と½、ﬁn",
            "각\u{1100}\u{1161}한글",
            "a\u{1c}b\u{85}c",
        ] {
            assert_eq!(fold(text), kit::text::fold(text), "{text:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn folds_as_the_kit_does(text in "[a-zA-Z0-9 ,.ー・ぁ-んァ-ヶ一-龠ｱ-ﾝﾞﾟＡ-Ｚ\u{300}-\u{30f}\u{3099}\u{309a}é㍻\u{1100}-\u{11ff}가-각]{0,40}") {
            prop_assert_eq!(fold(&text), kit::text::fold(&text));
        }

        #[test]
        fn folds_anything(text in any::<String>()) {
            prop_assert_eq!(fold(&text), kit::text::fold(&text));
        }
    }
}
