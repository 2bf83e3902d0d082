//! Folds spellings letter by letter, and classifies letters.

use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// Turns hiragana into katakana and small kana into large ones. Drops
/// long-vowel marks and middle dots.
pub(crate) fn fold(stretch: &str) -> String {
    let mut folded = fold_keeping_long_vowels(stretch);
    folded.retain(|character| character != 'ー');
    // ヘッドフォン and ヘッドホン, スマートフォン and スマートホン.
    if folded.contains("フオン") {
        folded = folded.replace("フオン", "ホン");
    }
    folded
}

pub(crate) fn fold_keeping_long_vowels(stretch: &str) -> String {
    let mut folded = String::with_capacity(stretch.len());
    let mut characters = stretch.chars().map(katakana).peekable();
    while let Some(character) = characters.next() {
        let plain = match character {
            '・' => continue,
            'ヴ' => {
                let syllable = match characters.peek() {
                    Some('ァ') => Some('バ'),
                    Some('ィ') => Some('ビ'),
                    Some('ェ') => Some('ベ'),
                    Some('ォ') => Some('ボ'),
                    _ => None,
                };
                if syllable.is_some() {
                    characters.next();
                }
                syllable.unwrap_or('ブ')
            }
            'ァ' | 'ィ' | 'ゥ' | 'ェ' | 'ォ' | 'ッ' | 'ャ' | 'ュ' | 'ョ' | 'ヮ' => {
                // The large kana comes right after its small one.
                char::from_u32(character as u32 + 1).unwrap_or(character)
            }
            'ヵ' => 'カ',
            'ヶ' => 'ケ',
            'ヂ' => 'ジ',
            'ヅ' => 'ズ',
            'ヲ' => 'オ',
            other => other,
        };
        folded.push(plain);
    }
    folded
}

fn katakana(character: char) -> char {
    match character {
        'ぁ'..='ゖ' | 'ゝ' | 'ゞ' => {
            char::from_u32(character as u32 + 0x60).unwrap_or(character)
        }
        other => other,
    }
}

/// A letter without its accents.
pub(crate) fn push_plain(word: &mut String, character: char) {
    if character.is_ascii() {
        word.push(character);
    } else {
        decompose_canonical(character, |part| {
            if !is_combining_mark(part) {
                word.push(part);
            }
        });
    }
}

pub(crate) fn is_japanese(character: char) -> bool {
    is_kana(character)
        || matches!(character,
            'ゝ' | 'ゞ' | 'ヽ' | 'ヾ' | '々' | '〆' | '〇'
            | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}' | '\u{ac00}'..='\u{d7a3}')
}

pub(crate) fn is_kana(character: char) -> bool {
    matches!(character, 'ぁ'..='ゖ' | 'ァ'..='ヺ' | 'ー' | 'ㇰ'..='ㇿ')
}

pub(crate) fn is_dash(character: char) -> bool {
    matches!(
        character,
        '-' | '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' | '~' | '〜' | '─' | '━'
    )
}

pub(crate) fn is_dot(character: char) -> bool {
    matches!(character, '・' | '·' | '•' | '‧')
}

pub(crate) fn is_joint(character: char) -> bool {
    is_dash(character) || matches!(character, '_' | '.' | '/' | '\'' | '’' | '&' | '+')
}
