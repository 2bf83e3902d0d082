//! Which numbers have been issued. A number is issued again only after all
//! others have been used.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::MOST;

/// A set of numbers from 1 to 999, written as `1-17,500`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NumberSet([u64; 16]);

impl NumberSet {
    pub fn insert(&mut self, number: u16) {
        if (1..=MOST).contains(&number)
            && let Some(word) = self.0.get_mut(usize::from(number / 64))
        {
            *word |= 1 << (number % 64);
        }
    }

    pub fn contains(&self, number: u16) -> bool {
        self.0
            .get(usize::from(number / 64))
            .is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    pub fn extend(&mut self, numbers: impl IntoIterator<Item = u16>) {
        for number in numbers {
            self.insert(number);
        }
    }

    pub fn join(&mut self, other: &Self) {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
    }

    fn highest(&self) -> u16 {
        let words = self.0.into_iter().enumerate().rev();
        let mut used = words.filter(|(_, word)| *word != 0);
        used.next()
            .map_or(0, |(at, word)| at as u16 * 64 + word.ilog2() as u16)
    }

    /// The next number to issue: the highest plus one, else one that was
    /// never issued, else one that is no longer in use.
    fn next(&self, in_use: &Self) -> Option<u16> {
        let above = self.highest() + 1;
        if above <= MOST {
            return Some(above);
        }
        let unused = (1..=MOST).find(|number| !self.contains(*number));
        unused.or_else(|| (1..=MOST).find(|number| !in_use.contains(*number)))
    }

    /// Issues the next number.
    pub fn issue(&mut self, in_use: &Self) -> Option<u16> {
        let number = self.next(in_use)?;
        self.insert(number);
        Some(number)
    }

    /// Takes numbers back that nobody uses.
    pub fn withdraw(&mut self, numbers: &[u16]) {
        for number in numbers {
            if let Some(word) = self.0.get_mut(usize::from(number / 64)) {
                *word &= !(1 << (number % 64));
            }
        }
    }

    fn ranges(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        let mut from = None;
        for number in 1..=self.highest() + 1 {
            match (from, self.contains(number)) {
                (None, true) => from = Some(number),
                (Some(start), false) => {
                    let last = number - 1;
                    parts.push(if start == last {
                        start.to_string()
                    } else {
                        format!("{start}-{last}")
                    });
                    from = None;
                }
                _ => {}
            }
        }
        parts.join(",")
    }

    fn parse(text: &str) -> Option<Self> {
        let mut numbers = Self::default();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            let (from, to): (u16, u16) = (from.parse().ok()?, to.parse().ok()?);
            numbers.extend(from..=to.min(MOST));
        }
        Some(numbers)
    }
}

impl Serialize for NumberSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.ranges())
    }
}

impl<'de> Deserialize<'de> for NumberSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a list of numbers"))
    }
}

/// The ledger of one project. All worktrees of a repository share it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct IssuedNumbers {
    pub tasks: NumberSet,
    pub adrs: NumberSet,
    /// Ids promised to items that have none in their line, by the item's
    /// key. An item gets its id written when an agent first changes it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub promised: BTreeMap<String, u16>,
    /// Calls with an idempotency key, oldest first, so that a retry creates
    /// nothing twice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Request>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    pub key: String,
    pub title: String,
    pub number: u16,
    pub at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_id: Option<String>,
}

/// Number of keys to remember.
const MOST_REQUESTS: usize = 200;

impl IssuedNumbers {
    pub fn note(&mut self, request: Request) {
        self.requests.retain(|other| other.key != request.key);
        let old = (self.requests.len() + 1).saturating_sub(MOST_REQUESTS);
        self.requests.drain(..old);
        self.requests.push(request);
    }
}

/// The whole file: one entry for each project in the repository, by its path.
pub type NumbersByProject = BTreeMap<String, IssuedNumbers>;

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> NumberSet {
        NumberSet::parse(text).unwrap()
    }

    #[test]
    fn number_sets_are_written_and_read_back() {
        for text in ["", "1", "1-17,500", "3,5,7-9,999", "1-999"] {
            assert_eq!(set(text).ranges(), text);
        }
        assert!(NumberSet::parse("x").is_none());
    }

    #[test]
    fn the_last_keys_are_remembered() {
        let mut given = IssuedNumbers::default();
        for number in 0..300 {
            given.note(Request {
                key: (number % 250).to_string(),
                title: String::new(),
                number,
                at: String::new(),
                change_id: None,
            });
        }
        assert_eq!(given.requests.len(), MOST_REQUESTS);
        let of = |key: &str| given.requests.iter().find(|request| request.key == key);
        assert_eq!(of("0").unwrap().number, 250);
        assert!(of("60").is_none());
        let text = serde_json::to_string(&given).unwrap();
        assert_eq!(serde_json::from_str::<IssuedNumbers>(&text).unwrap(), given);
    }

    #[test]
    fn numbers_are_reused_only_when_all_are_used() {
        assert_eq!(set("").next(&set("")), Some(1));
        assert_eq!(set("1-3").next(&set("1")), Some(4));
        assert_eq!(set("1-3,500").next(&set("")), Some(501));
        assert_eq!(set("1-3,999").next(&set("")), Some(4));
        assert_eq!(set("1-999").next(&set("1-4,6-999")), Some(5));
        assert_eq!(set("1-999").next(&set("1-999")), None);
    }
}
