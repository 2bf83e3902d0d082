//! Numbers that a repeated attempt uses again.

use crate::model::numbers::NumberSet;

/// Numbers issued to an attempt, for use by the next attempt.
#[derive(Default)]
pub(super) struct ReservedNumbers {
    pub tasks: Reserved,
    pub adrs: Reserved,
}

#[derive(Default)]
pub(super) struct Reserved {
    numbers: Vec<u16>,
    used: usize,
}

impl ReservedNumbers {
    pub fn for_next_attempt(mut self) -> Self {
        self.tasks.used = 0;
        self.adrs.used = 0;
        self
    }
}

impl Reserved {
    /// A number of an earlier attempt, if nobody else uses it by now.
    pub fn reuse(&mut self, live: &NumberSet) -> Option<u16> {
        let number = self.numbers.get(self.used).copied()?;
        if live.contains(number) {
            return None;
        }
        self.used += 1;
        Some(number)
    }

    pub fn add(&mut self, number: u16) {
        self.numbers.push(number);
        self.used = self.numbers.len();
    }
}
