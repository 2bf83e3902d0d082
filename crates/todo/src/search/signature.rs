//! A text's pairs and triples of letters as a set of bits: what is not in the
//! set is not in the text.
//!
//! Pairs of ASCII letters and digits have a bit each at the front; all others
//! share the rest, two bits each.

/// Bits for each different pair or triple: about six in a hundred look-ups say
/// yes without reason.
const BITS_EACH: usize = 7;
/// Words for the pairs of 36 letters and digits.
const PAIRS: usize = (36 * 36_usize).div_ceil(64);
/// Grams below this are such a pair; hashes are above it.
const FIRST_HASH: u32 = 36 * 36;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature(Box<[u64]>);

/// Holds what making signatures needs, so that it is allocated once.
pub struct Maker {
    /// An open hash table of the grams met so far; 0 is free.
    table: Vec<u32>,
    found: Vec<u32>,
}

impl Maker {
    pub fn new() -> Self {
        Self {
            table: Vec::new(),
            found: Vec::new(),
        }
    }

    pub fn make(&mut self, folded: &str) -> Signature {
        self.found.clear();
        // There is hardly more than one gram for each byte that is not a pair
        // with a bit of its own: the table is never much more than half full.
        let size = (folded.len() * 2 + 64).next_power_of_two();
        self.table.clear();
        self.table.resize(size, 0);
        let (table, found) = (&mut self.table, &mut self.found);
        let mut pairs = [0u64; PAIRS];
        grams(folded, |gram| {
            if gram < FIRST_HASH {
                if let Some(word) = pairs.get_mut((gram / 64) as usize) {
                    *word |= 1 << (gram % 64);
                }
                return;
            }
            let mut at = gram as usize & (size - 1);
            while let Some(cell) = table.get_mut(at) {
                if *cell == gram {
                    return;
                }
                if *cell == 0 {
                    *cell = gram;
                    found.push(gram);
                    return;
                }
                at = (at + 1) & (size - 1);
            }
        });
        let words = PAIRS + (found.len() * BITS_EACH).div_ceil(64).max(1);
        let mut bits = vec![0u64; words].into_boxed_slice();
        for (word, pair) in bits.iter_mut().zip(pairs) {
            *word = pair;
        }
        for gram in found {
            for at in places(*gram, words) {
                if let Some(word) = bits.get_mut(at / 64) {
                    *word |= 1 << (at % 64);
                }
            }
        }
        Signature(bits)
    }
}

impl Signature {
    /// `false` when the text certainly lacks a word with these grams.
    pub fn may_hold(&self, grams: &[u32]) -> bool {
        grams.iter().all(|gram| {
            places(*gram, self.0.len()).into_iter().all(|at| {
                self.0
                    .get(at / 64)
                    .is_some_and(|word| word >> (at % 64) & 1 == 1)
            })
        })
    }
}

pub fn grams_of(word: &str) -> Vec<u32> {
    let mut all = Vec::new();
    grams(word, |gram| all.push(gram));
    all.sort_unstable();
    all.dedup();
    all
}

fn places(gram: u32, words: usize) -> [usize; 2] {
    if gram < FIRST_HASH {
        return [gram as usize; 2];
    }
    let front = PAIRS * 64;
    let bits = (words * 64 - front) as u64;
    let wide = u64::from(gram).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let one = ((wide >> 32) * bits) >> 32;
    let two = ((wide & 0xffff_ffff) * bits) >> 32;
    [front + one as usize, front + two as usize]
}

/// 0 to 35 for a digit or a small letter, which is what folding leaves of all.
#[inline]
fn digit(code: u32) -> Option<u32> {
    match code {
        0x30..=0x39 => Some(code - 0x30),
        0x61..=0x7a => Some(code - 0x61 + 10),
        _ => None,
    }
}

/// Every pair, and every triple of ASCII letters.
fn grams(folded: &str, mut each: impl FnMut(u32)) {
    let mut characters = folded.chars().map(|character| character as u32);
    let Some(mut last) = characters.next() else {
        return;
    };
    let mut last_digit = digit(last);
    let mut earlier: Option<u32> = None;
    for now in characters {
        let now_digit = digit(now);
        each(match (last_digit, now_digit) {
            (Some(one), Some(other)) => one * 36 + other,
            _ => mix(last, now, 0),
        });
        if let Some(earlier) = earlier
            && now < 128
        {
            each(mix(earlier, last, now + 1));
        }
        earlier = (last < 128 && now < 128).then_some(last);
        last = now;
        last_digit = now_digit;
    }
}

fn mix(a: u32, b: u32, c: u32) -> u32 {
    let mut hash = a.wrapping_mul(0x9e37_79b1) ^ b.wrapping_mul(0x85eb_ca77);
    hash = (hash ^ hash >> 15).wrapping_add(c.wrapping_mul(0xc2b2_ae3d));
    hash = (hash ^ hash >> 13).wrapping_mul(0x2c1b_3c6d);
    (hash ^ hash >> 16).max(FIRST_HASH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_text_is_never_denied() {
        let text = "madoguchiは窓口のこと0123456789abcdefghijklmnopqrstuvwxyz認証方式";
        let signature = Maker::new().make(text);
        for (start, _) in text.char_indices() {
            for (end, _) in text.char_indices().filter(|(end, _)| *end > start) {
                let word = text.get(start..end).unwrap();
                assert!(signature.may_hold(&grams_of(word)), "{word}");
            }
        }
        let absent = ["鉄道", "zebra", "xylophone", "検索する"];
        let wrong = absent
            .iter()
            .filter(|word| signature.may_hold(&grams_of(word)))
            .count();
        assert!(wrong <= 1);
    }
}
