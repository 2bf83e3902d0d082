//! Words that differ from another by a slip or two: a letter too many, too few,
//! another one, or two that changed places.
//!
//! A table of all states, as is usual for this, is megabytes for two slips in a
//! Japanese word and takes longer to make than to use. Here a state is worked out
//! when the dictionary leads to it: which beginnings of the word have been read
//! with how many slips, a bit each.

use tantivy_fst::Automaton;

/// Slips that can be forgiven.
const MOST: usize = 2;
/// Letters of a word that slips are looked for in: one bit is the end.
const LONGEST: usize = 63;

/// Reads UTF-8, byte by byte.
#[derive(Debug, Clone)]
pub(crate) struct Slips {
    letters: Vec<char>,
    allowed: usize,
    first_is_right: bool,
}

/// After some letters. Bit `i` stands for the first `i` letters of the word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct State {
    /// What may have been read with at most so many slips.
    read: [u64; MOST + 1],
    /// What had been read with at most one slip less, when the letter after next
    /// came: if the next one follows, they changed places.
    swapped: [u64; MOST + 1],
    /// Of a letter that is not all there yet.
    letter: u32,
    bytes_left: u8,
    at_start: bool,
}

impl Slips {
    /// `None` for a word in which slips are not looked for.
    pub fn new(word: &str, allowed: u8, first_is_right: bool) -> Option<Slips> {
        let letters: Vec<char> = word.chars().collect();
        let allowed = usize::from(allowed).min(MOST);
        (allowed > 0 && letters.len() <= LONGEST).then_some(Slips {
            letters,
            allowed,
            first_is_right,
        })
    }

    fn end(&self) -> u64 {
        1 << self.letters.len()
    }

    /// After one more letter.
    fn read(&self, state: &State, letter: u32) -> State {
        if state.at_start && self.first_is_right && !self.begins_with(letter) {
            return State::after([0; MOST + 1], [0; MOST + 1]);
        }
        let mut here = 0;
        for (at, own) in self.letters.iter().enumerate() {
            here |= u64::from(u32::from(*own) == letter) << at;
        }
        let word = self.end() | (self.end() - 1);
        let (mut read, mut swapped) = ([0; MOST + 1], [0; MOST + 1]);
        let mut fewer = (0, 0);
        let all = state.read.iter().zip(&state.swapped);
        let into = read.iter_mut().zip(&mut swapped);
        for ((before, was_swapped), (after, now_swapped)) in all.zip(into).take(self.allowed + 1) {
            let (fewer_before, fewer_after): (u64, u64) = fewer;
            let as_it_is = (before & here) << 1;
            let too_many = fewer_before;
            let another = fewer_before << 1;
            let too_few = fewer_after << 1;
            let second_of_two = (was_swapped & here) << 2;
            *after = (as_it_is | too_many | another | too_few | second_of_two) & word;
            *now_swapped = fewer_before & (here >> 1);
            fewer = (*before, *after);
        }
        State::after(read, swapped)
    }

    fn begins_with(&self, letter: u32) -> bool {
        self.letters.first().map(|first| u32::from(*first)) == Some(letter)
    }

    fn most_read(&self, state: &State) -> u64 {
        state.read.get(self.allowed).copied().unwrap_or(0)
    }
}

impl State {
    fn after(read: [u64; MOST + 1], swapped: [u64; MOST + 1]) -> State {
        State {
            read,
            swapped,
            letter: 0,
            bytes_left: 0,
            at_start: false,
        }
    }
}

impl Automaton for Slips {
    type State = State;

    fn start(&self) -> State {
        // Nothing has come; so many letters may be missing.
        State {
            at_start: true,
            ..State::after([0b1, 0b11, 0b111], [0; MOST + 1])
        }
    }

    fn is_match(&self, state: &State) -> bool {
        let is_begun = !(state.at_start && self.first_is_right);
        is_begun && state.bytes_left == 0 && self.most_read(state) & self.end() != 0
    }

    fn can_match(&self, state: &State) -> bool {
        self.most_read(state) != 0
    }

    fn accept(&self, state: &State, byte: u8) -> State {
        let (letter, bytes_left) = match byte {
            0x80..=0xBF => (
                state.letter << 6 | u32::from(byte & 0x3F),
                state.bytes_left.saturating_sub(1),
            ),
            0xC0..=0xDF => (u32::from(byte & 0x1F), 1),
            0xE0..=0xEF => (u32::from(byte & 0x0F), 2),
            0xF0.. => (u32::from(byte & 0x07), 3),
            ..0x80 => (u32::from(byte), 0),
        };
        match bytes_left {
            0 => self.read(state, letter),
            _ => State {
                letter,
                bytes_left,
                ..*state
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn accepts(slips: &Slips, text: &str) -> bool {
        let state = text.bytes().try_fold(slips.start(), |state, byte| {
            slips.can_match(&state).then(|| slips.accept(&state, byte))
        });
        state.is_some_and(|state| slips.is_match(&state))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn accepts_what_a_table_of_distances_says(
            word in "[abカé]{1,9}",
            text in "[abカé]{0,9}",
            allowed in 1_u8..=2,
        ) {
            let expected = strsim::osa_distance(&word, &text) <= usize::from(allowed);
            let slips = Slips::new(&word, allowed, false).unwrap();
            prop_assert_eq!(accepts(&slips, &text), expected);
            let begins_alike = word.chars().next() == text.chars().next();
            let slips = Slips::new(&word, allowed, true).unwrap();
            prop_assert_eq!(accepts(&slips, &text), expected && begins_alike);
        }
    }

    #[test]
    fn the_longest_word_has_an_end() {
        let word = "ア".repeat(LONGEST);
        let slips = Slips::new(&word, 2, false).unwrap();
        for (letters, expected) in [(60, false), (61, true), (63, true), (65, true), (66, false)] {
            assert_eq!(
                accepts(&slips, &"ア".repeat(letters)),
                expected,
                "{letters}"
            );
        }
        assert!(Slips::new(&format!("{word}ア"), 2, false).is_none());
        assert!(Slips::new("ア", 0, false).is_none());
    }
}
