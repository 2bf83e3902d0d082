//! The words of a segment, to find those that a mistyped word may stand for: an
//! extra, missing, wrong or swapped letter.
//!
//! The usual automaton needs a table of megabytes for two typos in a Japanese
//! word, and walks most of the dictionary. Scanning a list is faster: length
//! and letters rule out nearly all words.

use tantivy::termdict::TermDictionary;
use tantivy_fst::Automaton;

use crate::error::Error;

/// The most typos that can be allowed.
const MOST: usize = 2;
/// The longest word in which typos are allowed: one bit for each letter, and
/// one for the end.
const LONGEST: usize = 63;

/// Sorted by length. Words with digits are left out, since another number is
/// another product.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    text: String,
    words: Vec<Word>,
}

#[derive(Debug)]
struct Word {
    start: u32,
    bytes: u16,
    shape: Shape,
}

/// Properties of a word that are fast to compare.
#[derive(Debug, Clone, Copy)]
struct Shape {
    letters: u16,
    /// A bit for each letter that occurs; different letters may share one.
    which: u64,
}

impl Shape {
    fn of(word: &str) -> Shape {
        let mut shape = Shape {
            letters: 0,
            which: 0,
        };
        for letter in word.chars() {
            shape.letters = shape.letters.saturating_add(1);
            shape.which |= 1 << (u32::from(letter) % 64);
        }
        shape
    }

    /// Whether two words of similar length may differ by this many typos.
    /// Each typo adds and removes at most one letter.
    fn may_be(self, other: Shape, typos: usize) -> bool {
        has_at_most(typos, self.which & !other.which)
            && has_at_most(typos, other.which & !self.which)
    }
}

/// Faster than counting bits without a processor instruction for it.
fn has_at_most(most: usize, mut bits: u64) -> bool {
    for _ in 0..most {
        bits &= bits.wrapping_sub(1);
    }
    bits == 0
}

impl Vocabulary {
    pub fn of(terms: &TermDictionary) -> Result<Vocabulary, Error> {
        let mut all = Vocabulary {
            text: String::new(),
            words: Vec::new(),
        };
        let mut stream = terms.search(WithoutDigits).into_stream()?;
        while stream.advance() {
            let Ok(word) = std::str::from_utf8(stream.key()) else {
                continue;
            };
            // Cannot overflow with real dictionaries.
            let place = (u32::try_from(all.text.len()), u16::try_from(word.len()));
            let (Ok(start), Ok(bytes)) = place else {
                break;
            };
            all.text.push_str(word);
            all.words.push(Word {
                start,
                bytes,
                shape: Shape::of(word),
            });
        }
        all.text.shrink_to_fit();
        all.words.shrink_to_fit();
        all.words.sort_by_key(|word| word.shape.letters);
        Ok(all)
    }

    /// The words that the matcher accepts.
    pub fn similar<'a>(&'a self, typos: &'a TypoMatcher) -> impl Iterator<Item = &'a str> {
        let (letters, allowed) = (usize::from(typos.shape.letters), typos.allowed);
        let are_fewer = |than: usize| {
            self.words
                .partition_point(|word| usize::from(word.shape.letters) < than)
        };
        let range = are_fewer(letters.saturating_sub(allowed))..are_fewer(letters + allowed + 1);
        let of_fitting_length = self.words.get(range).unwrap_or_default().iter();
        of_fitting_length
            .filter(move |word| typos.shape.may_be(word.shape, allowed))
            .filter_map(|word| {
                self.text
                    .get(word.start as usize..)?
                    .get(..word.bytes.into())
            })
            .filter(|word| typos.accepts(word))
    }
}

/// Matches words that differ from one by a few typos.
#[derive(Debug, Clone)]
pub(crate) struct TypoMatcher {
    letters: Vec<char>,
    shape: Shape,
    allowed: usize,
    first_is_right: bool,
}

/// Bit `i` stands for the first `i` letters of the word.
#[derive(Debug, Clone, Copy, Default)]
struct MatcherState {
    /// Prefixes that match with at most this many typos.
    read: [u64; MOST + 1],
    /// Prefixes that match with one typo less, where the letter read was
    /// the one after the next. If the next one follows, the two are
    /// swapped.
    swapped: [u64; MOST + 1],
}

impl TypoMatcher {
    /// `None` if no typos are allowed in the word.
    pub fn new(word: &str, allowed: u8, first_is_right: bool) -> Option<TypoMatcher> {
        let letters: Vec<char> = word.chars().collect();
        let allowed = usize::from(allowed).min(MOST);
        (allowed > 0 && letters.len() <= LONGEST).then_some(TypoMatcher {
            shape: Shape::of(word),
            letters,
            allowed,
            first_is_right,
        })
    }

    fn accepts(&self, word: &str) -> bool {
        if self.first_is_right && self.letters.first().copied() != word.chars().next() {
            return false;
        }
        // Before the first letter, this many letters may be missing.
        let mut state = MatcherState {
            read: [0b1, 0b11, 0b111],
            ..MatcherState::default()
        };
        for letter in word.chars() {
            state = self.read(&state, letter);
            if self.farthest(&state) == 0 {
                return false;
            }
        }
        self.farthest(&state) & self.end() != 0
    }

    fn end(&self) -> u64 {
        1 << self.letters.len()
    }

    fn farthest(&self, state: &MatcherState) -> u64 {
        state.read.get(self.allowed).copied().unwrap_or(0)
    }

    /// The state after one more letter.
    fn read(&self, state: &MatcherState, letter: char) -> MatcherState {
        let mut here = 0;
        for (at, own) in self.letters.iter().enumerate() {
            here |= u64::from(*own == letter) << at;
        }
        let word = self.end() | (self.end() - 1);
        let mut next = MatcherState::default();
        let (mut fewer_before, mut fewer_after) = (0, 0);
        let all = state.read.iter().zip(&state.swapped);
        let into = next.read.iter_mut().zip(&mut next.swapped);
        for ((before, was_swapped), (after, swapped)) in all.zip(into).take(self.allowed + 1) {
            let as_it_is = (before & here) << 1;
            let too_many: u64 = fewer_before;
            let another = fewer_before << 1;
            let too_few: u64 = fewer_after << 1;
            let second_of_two = (was_swapped & here) << 2;
            *after = (as_it_is | too_many | another | too_few | second_of_two) & word;
            *swapped = fewer_before & (here >> 1);
            (fewer_before, fewer_after) = (*before, *after);
        }
        next
    }
}

struct WithoutDigits;

impl Automaton for WithoutDigits {
    type State = bool;

    fn start(&self) -> bool {
        true
    }

    fn is_match(&self, so_far: &bool) -> bool {
        *so_far
    }

    fn can_match(&self, so_far: &bool) -> bool {
        *so_far
    }

    fn accept(&self, so_far: &bool, byte: u8) -> bool {
        *so_far && !byte.is_ascii_digit()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 4_000,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn accepts_words_within_the_edit_distance(
            word in "[abカé]{1,9}",
            text in "[abカé]{0,9}",
            allowed in 1_u8..=2,
        ) {
            let expected = strsim::osa_distance(&word, &text) <= usize::from(allowed);
            let typos = TypoMatcher::new(&word, allowed, false).unwrap();
            prop_assert_eq!(typos.accepts(&text), expected);
            let other = Shape::of(&text);
            let may_be = typos.shape.may_be(other, allowed.into())
                && typos.shape.letters.abs_diff(other.letters) <= allowed.into();
            prop_assert!(may_be || !expected);
            let begins_alike = word.chars().next() == text.chars().next();
            let typos = TypoMatcher::new(&word, allowed, true).unwrap();
            prop_assert_eq!(typos.accepts(&text), expected && begins_alike);
        }
    }

    #[test]
    fn typos_are_allowed_up_to_the_longest_word() {
        let word = "ア".repeat(LONGEST);
        let typos = TypoMatcher::new(&word, 2, false).unwrap();
        for (letters, expected) in [(60, false), (61, true), (63, true), (65, true), (66, false)] {
            assert_eq!(typos.accepts(&"ア".repeat(letters)), expected, "{letters}");
        }
        assert!(TypoMatcher::new(&format!("{word}ア"), 2, false).is_none());
        assert!(TypoMatcher::new("ア", 0, false).is_none());
    }
}
