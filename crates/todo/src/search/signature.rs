//! A Bloom filter of a text's letter pairs. If a pair of a word is not in it,
//! the word is not in the text, and the text need not be read.

/// About one bit for each byte of the text. An absent pair seems present in one
/// text out of five, an absent word of several pairs in hardly any.
const BYTES_EACH: usize = 64;
/// Limits the filter of a very long text, which is then scanned more often.
const MOST_WORDS: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature(Box<[u64]>);

impl Signature {
    /// The signature of a folded text.
    pub fn of(folded: &[u8]) -> Self {
        let words = (folded.len() / BYTES_EACH).next_power_of_two();
        let mut bits = vec![0; words.min(MOST_WORDS)].into_boxed_slice();
        let mask = bits.len() - 1;
        pairs(folded, |pair| {
            if let Some(word) = bits.get_mut(pair as usize >> 6 & mask) {
                *word |= 1 << (pair & 63);
            }
        });
        Self(bits)
    }

    /// `false` if the text cannot contain a word with these pairs.
    pub fn may_hold(&self, pairs: &[u32]) -> bool {
        let mask = self.0.len() - 1;
        pairs.iter().all(|pair| {
            let word = self.0.get(*pair as usize >> 6 & mask);
            word.is_some_and(|word| word >> (pair & 63) & 1 == 1)
        })
    }
}

pub fn pairs_of(word: &str) -> Vec<u32> {
    let mut all = Vec::new();
    pairs(word.as_bytes(), |pair| all.push(pair));
    all.sort_unstable();
    all.dedup();
    all
}

fn pairs(folded: &[u8], mut each: impl FnMut(u32)) {
    let Some((mut last, mut rest)) = next(folded) else {
        return;
    };
    while let Some((now, after)) = next(rest) {
        let hash = last.wrapping_mul(0x9e37_79b1) ^ now.wrapping_mul(0x85eb_ca77);
        // The high bits depend on all bits of both letters.
        each(hash >> 11);
        (last, rest) = (now, after);
    }
}

/// The next character of a folded text, as a unique number.
#[inline]
fn next(bytes: &[u8]) -> Option<(u32, &[u8])> {
    Some(match bytes {
        [] => return None,
        [one @ 0..=0x7f, rest @ ..] => (u32::from(*one), rest),
        [one @ 0xe0..=0xef, two, three, rest @ ..] => {
            (u32::from_be_bytes([0, *one, *two, *three]), rest)
        }
        [one @ 0xc0..=0xdf, two, rest @ ..] => (u32::from_be_bytes([0, 0, *one, *two]), rest),
        [one, two, three, four, rest @ ..] => {
            (u32::from_be_bytes([*one, *two, *three, *four]), rest)
        }
        [one, rest @ ..] => (u32::from(*one), rest),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_never_rules_out_a_word_of_its_text() {
        let text = "madoguchiは窓口のこと0123456789abcdefghijklmnopqrstuvwxyzéß認証方式🦀絵";
        for length in [1, 100] {
            let signature = Signature::of(text.repeat(length).as_bytes());
            for (start, _) in text.char_indices() {
                for (end, _) in text.char_indices().filter(|(end, _)| *end > start) {
                    let word = text.get(start..end).unwrap();
                    assert!(signature.may_hold(&pairs_of(word)), "{word}");
                }
            }
        }
        let signature = Signature::of(text.repeat(100).as_bytes());
        let absent = ["鉄道", "zebra", "xylophone", "検索する"];
        let wrong = absent
            .iter()
            .filter(|word| signature.may_hold(&pairs_of(word)))
            .count();
        assert!(wrong <= 1);
    }
}
