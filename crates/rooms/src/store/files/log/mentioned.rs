//! Which messages mention whom. An agent that enters later must find its earlier
//! mentions, and callers can mention any number of unused names. So every mention
//! is kept, as a few bits of the name's hash.

use super::packed::{Ascending, Packed};

const TAG_BITS: u32 = 16;

/// For each mention, in the order of the messages, the message's number and a
/// few bits of the name's hash.
pub struct Mentioned {
    messages: Ascending,
    tags: Packed,
}

impl Default for Mentioned {
    fn default() -> Self {
        Self {
            messages: Ascending::default(),
            tags: Packed::new(TAG_BITS),
        }
    }
}

impl Mentioned {
    pub fn add(&mut self, message: u32, name_hash: u64) {
        self.messages.push(message);
        self.tags.push(tag(name_hash));
    }

    /// The messages from `position` on that may mention the name, each once.
    pub fn of(&self, name_hash: u64, position: usize) -> impl Iterator<Item = usize> {
        let wanted = tag(name_hash);
        let first = self.messages.below(number(position));
        let mentions = self.messages.from(first).zip(self.tags.iter(first));
        let mut last = None;
        mentions.filter_map(move |(message, tag)| {
            let is_new = tag == wanted && last.replace(message) != Some(message);
            is_new.then_some(message as usize)
        })
    }

    /// Forgets the messages from `count` on.
    pub fn truncate(&mut self, count: usize) {
        let kept = self.messages.below(number(count));
        self.messages.truncate(kept);
        self.tags.truncate(kept);
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.messages.bytes() + self.tags.bytes()
    }
}

fn tag(name_hash: u64) -> u32 {
    (name_hash >> (u64::BITS - TAG_BITS)) as u32
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
