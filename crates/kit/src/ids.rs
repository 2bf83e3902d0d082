//! Random ids that can't be guessed.

use std::fmt;

use rand::RngExt;

/// Crockford's alphabet, lower case: no i, l, o, u to misread over the phone.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// `prefix` followed by `length` random characters, 5 bits each.
pub fn random(prefix: &str, length: usize) -> String {
    let mut rng = rand::rng();
    let mut id = String::with_capacity(prefix.len() + length);
    id.push_str(prefix);
    let mut bits = 0u64;
    for at in 0..length {
        if at % 12 == 0 {
            bits = rng.random();
        }
        // The mask keeps the index below 32, the alphabet's length.
        let letter = ALPHABET.get((bits & 31) as usize).copied().unwrap_or(b'0');
        id.push(char::from(letter));
        bits >>= 5;
    }
    id
}

/// The id of a call, in the log and in errors.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CallId(u64);

impl CallId {
    #[expect(clippy::new_without_default, reason = "each one is different")]
    pub fn new() -> Self {
        Self(rand::rng().random())
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // By hand, because every answer and every record has it.
        let digit = |half: u8| {
            if half < 10 {
                b'0' + half
            } else {
                b'a' - 10 + half
            }
        };
        let bytes = self.0.to_be_bytes();
        let digits = bytes.map(|byte| [digit(byte >> 4), digit(byte & 15)]);
        f.write_str(std::str::from_utf8(digits.as_flattened()).unwrap_or_default())
    }
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallId({self})")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_have_their_length_and_use_the_whole_alphabet() {
        let ids: HashSet<String> = (0..200).map(|_| random("x_", 26)).collect();
        assert_eq!(ids.len(), 200, "no two are the same");
        let mut seen = [const { String::new() }; 26];
        for id in &ids {
            let letters = id.strip_prefix("x_").unwrap();
            assert_eq!(letters.len(), 26);
            assert!(letters.bytes().all(|letter| ALPHABET.contains(&letter)));
            for (seen, letter) in seen.iter_mut().zip(letters.chars()) {
                seen.push(letter);
            }
        }
        // Each place takes many values, and no two places always the same.
        let places: HashSet<&String> = seen.iter().collect();
        assert_eq!(places.len(), 26);
        for letters in &seen {
            let different: HashSet<char> = letters.chars().collect();
            assert!(different.len() > 16, "{letters}");
        }
    }

    #[test]
    fn ids_of_calls_have_sixteen_digits_and_differ() {
        let (one, other) = (CallId::new(), CallId::new());
        assert!(one != other);
        assert_eq!(one.to_string().len(), 16);
        assert_eq!(CallId(0xab).to_string(), "00000000000000ab");
    }
}
