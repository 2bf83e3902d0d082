//! Turns text into the terms that are indexed and looked up.
//!
//! Different spellings of the same word become one: width, case, hiragana and
//! katakana, small and large kana, `ヴ` and `ブ`, long-vowel marks, middle dots,
//! accents.
//!
//! Unlike `kit::text::fold`, this keeps words apart.

use std::sync::LazyLock;

use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed, options::WordBreakInvariantOptions};

use crate::{
    letters::{fold, fold_keeping_long_vowels, is_kana},
    parts::{Part, parts},
};

/// Longer words are cut, so that they do not fill the dictionary.
const LONGEST_WORD: usize = 32;
/// Atoms of one compound that are indexed, so that a URL does not become
/// hundreds of words.
const MOST_ATOMS: usize = 8;

static WORDS: LazyLock<WordSegmenterBorrowed<'static>> =
    LazyLock::new(|| WordSegmenter::new_dictionary(WordBreakInvariantOptions::default()));

/// The terms of a text, each followed by [`END`].
#[derive(Debug, Default)]
pub(crate) struct Terms {
    /// Words as they are in the dictionary.
    pub words: String,
    /// Letter groups: single kanji, pairs and triples. They reach over spaces,
    /// since ランニング シューズ and ランニングシューズ are the same, but not over commas or
    /// Latin words.
    pub grams: String,
}

/// Ends a term. No term contains it.
pub(crate) const END: char = '\n';

pub(crate) fn terms(text: &str) -> Terms {
    let mut terms = Terms::default();
    let mut word = |word: &str| push(&mut terms.words, word);
    let mut gram = |gram: &str| push(&mut terms.grams, gram);
    let mut together = String::new();
    for part in parts(text).into_iter().chain([Part::Gap]) {
        if let Part::Japanese(stretch) = part {
            words_of(&stretch, &mut word);
            together.push_str(&stretch);
            continue;
        }
        if let Part::Word(atoms) = part {
            compound(&atoms, &mut word);
        }
        grams_of(&together, &mut gram);
        together.clear();
    }
    terms
}

fn push(terms: &mut String, term: &str) {
    terms.push_str(term);
    terms.push(END);
}

fn words_of(stretch: &str, found: &mut impl FnMut(&str)) {
    let mut pieces = vec![stretch];
    pieces.extend(pieces_of(stretch).filter(|piece| *piece != stretch));
    pieces.extend(runs(stretch));
    for piece in pieces {
        let word = dictionary_form(piece);
        if is_meaningful(&word) && word.chars().count() <= LONGEST_WORD {
            found(&word);
            if let Some(short) = without_long_vowels(&word) {
                found(&short);
            }
        }
    }
}

/// A word as it is in the dictionary: folded. A short word keeps its long-vowel
/// marks; otherwise カレー would be カレ, and ビール would be ビル.
pub(crate) fn dictionary_form(stretch: &str) -> String {
    let folded = fold(stretch);
    if stretch.contains('ー') && folded.chars().count() < 3 {
        fold_keeping_long_vowels(stretch)
    } else {
        folded
    }
}

/// The extra term for a word that kept its long-vowel marks, to find it if they
/// were typed in the wrong place. The mark in front distinguishes it from words
/// without any.
pub(crate) fn without_long_vowels(word: &str) -> Option<String> {
    let letters = word.replace('ー', "");
    (letters.len() < word.len() && letters.chars().count() > 1).then(|| format!("ー{letters}"))
}

/// Every suffix of a compound, and each of its atoms: `wh1000xm5`, `1000xm5`,
/// `xm5`, `5`, `wh`, `1000`, `xm`.
fn compound(atoms: &[String], found: &mut impl FnMut(&str)) {
    let atoms = atoms.get(..MOST_ATOMS).unwrap_or(atoms);
    for at in 0..atoms.len() {
        found(&joined(atoms.get(at..).unwrap_or_default()));
    }
    for atom in atoms.iter().rev().skip(1) {
        found(&joined(std::slice::from_ref(atom)));
    }
}

pub(crate) fn joined(atoms: &[String]) -> String {
    let mut word = atoms.concat();
    if let Some((end, _)) = word.char_indices().nth(LONGEST_WORD) {
        word.truncate(end);
    }
    word
}

/// A Japanese stretch as the segmenter's dictionary cuts it.
fn pieces_of(stretch: &str) -> impl Iterator<Item = &str> {
    let mut start = 0;
    WORDS.segment_str(stretch).filter_map(move |end| {
        let piece = stretch.get(start..end);
        start = end;
        piece.filter(|piece| !piece.is_empty())
    })
}

/// Splits where the script changes, since a word usually ends there:
/// むぎぼー|カレンダー.
fn runs(stretch: &str) -> Vec<&str> {
    let mut runs = Vec::new();
    let (mut start, mut last) = (0, None);
    for (at, character) in stretch.char_indices() {
        let script = Script::of(character).or(last);
        if (script != last && last.is_some()) || character == '・' {
            runs.extend(stretch.get(start..at));
            start = at;
        }
        last = script;
    }
    if !runs.is_empty() {
        runs.extend(stretch.get(start..));
    }
    runs
}

/// A single kana is a particle or an ending, and is not searched.
pub(crate) fn is_meaningful(word: &str) -> bool {
    let mut characters = word.chars();
    match (characters.next(), characters.next()) {
        (None, _) => false,
        (Some(only), None) => !is_kana(only),
        _ => true,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Hiragana,
    Katakana,
    Other,
}

impl Script {
    /// `None` for marks that belong to the character before them.
    fn of(character: char) -> Option<Script> {
        match character {
            'ー' | '・' => None,
            'ぁ'..='ゖ' => Some(Script::Hiragana),
            'ァ'..='ヺ' | 'ㇰ'..='ㇿ' => Some(Script::Katakana),
            _ => Some(Script::Other),
        }
    }
}

fn grams_of(stretch: &str, found: &mut impl FnMut(&str)) {
    let folded: Vec<char> = fold(stretch).chars().collect();
    let mut gram = String::with_capacity(16);
    for (at, &character) in folded.iter().enumerate() {
        gram.clear();
        gram.push(character);
        if !is_kana(character) {
            found(&gram);
        }
        for next in folded.iter().skip(at + 1).take(2) {
            gram.push(*next);
            found(&gram);
        }
    }
    if stretch.contains('ー') {
        for gram in long_grams(stretch) {
            found(&gram);
        }
    }
}

/// Triples with long-vowel marks, to look up words that are too short without
/// them: カレ is in カレンダー too.
fn long_grams(stretch: &str) -> Vec<String> {
    let kept: Vec<char> = fold_keeping_long_vowels(stretch).chars().collect();
    kept.windows(3)
        .filter(|triple| triple.contains(&'ー'))
        .map(|triple| triple.iter().collect())
        .collect()
}

/// The letter groups that a document must have to contain `stretch`.
pub(crate) fn grams_to_look_up(stretch: &str) -> Vec<String> {
    let folded: Vec<char> = fold(stretch).chars().collect();
    if folded.len() < 3 {
        let long = long_grams(stretch);
        if !long.is_empty() {
            return long;
        }
    }
    let mut grams: Vec<String> = folded
        .windows(folded.len().clamp(1, 3))
        .map(|group| group.iter().collect())
        .collect();
    grams.sort_unstable();
    grams.dedup();
    grams
}

/// Pairs of letters. A word with a typo keeps most of them.
pub(crate) fn pairs(folded: &str) -> Vec<String> {
    let folded: Vec<char> = folded.chars().collect();
    let mut pairs: Vec<String> = folded
        .windows(2)
        .map(|pair| pair.iter().collect())
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words: Vec<String> = terms(text).words.lines().map(str::to_owned).collect();
        words.sort_unstable();
        words.dedup();
        words
    }

    fn grams(text: &str) -> Vec<String> {
        terms(text).grams.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_compound_is_indexed_by_each_of_its_suffixes() {
        assert_eq!(
            words("WH-1000XM5"),
            ["1000", "1000xm5", "5", "wh", "wh1000xm5", "xm", "xm5"]
        );
    }

    #[test]
    fn unknown_words_end_where_the_script_changes() {
        let words = words("むぎぼーカレンダー2025");
        for word in ["ムギボカレンダ", "ムギボ", "カレンダ", "2025"] {
            assert!(words.contains(&word.to_owned()), "{word}: {words:?}");
        }
    }

    #[test]
    fn short_words_keep_their_long_vowels() {
        assert_eq!(dictionary_form("ビール"), "ビール");
        assert_eq!(dictionary_form("ビル"), "ビル");
        assert_eq!(dictionary_form("カレンダー"), "カレンダ");
        assert!(words("コーヒー").contains(&"ーコヒ".to_owned()));
        assert_eq!(grams_to_look_up("カレー"), ["カレー"]);
        assert!(grams("カレー").contains(&"カレー".to_owned()));
    }

    #[test]
    fn letter_groups_span_spaces_but_no_other_separators() {
        assert!(grams("青い 鳥").contains(&"イ鳥".to_owned()));
        assert!(!grams("青い、鳥").contains(&"イ鳥".to_owned()));
        assert!(!grams("青いa鳥").contains(&"イ鳥".to_owned()));
        assert_eq!(grams("茶"), ["茶"]);
        assert_eq!(grams("の"), Vec::<String>::new());
    }

    #[test]
    fn every_letter_group_that_is_looked_up_is_indexed() {
        for text in [
            "ワイヤレスイヤホン",
            "茶",
            "急須",
            "ノート",
            "ーー",
            "ヴァー",
            "お茶",
        ] {
            let indexed = grams(text);
            for gram in grams_to_look_up(text) {
                let lone_kana = gram.chars().all(is_kana) && gram.chars().count() == 1;
                assert!(lone_kana || indexed.contains(&gram), "{text}: {gram}");
            }
        }
    }
}
