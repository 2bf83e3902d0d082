//! Numbers that a repeated attempt uses again, and a refused call gives back.

use std::time::Instant;

use crate::{
    files::{Folder, lock::PATIENCE, numbers::NumberLedger},
    model::numbers::NumberSet,
};

/// Numbers issued to an attempt, for use by the next attempt.
#[derive(Default)]
pub(super) struct ReservedNumbers {
    pub tasks: Reserved,
    pub adrs: Reserved,
    /// Whether files with these numbers may be in place, also after an error.
    pub are_placed: bool,
}

#[derive(Default)]
pub(super) struct Reserved {
    numbers: Vec<u16>,
    used: usize,
}

impl ReservedNumbers {
    pub fn start_attempt(&mut self) {
        self.tasks.used = 0;
        self.adrs.used = 0;
    }

    /// Takes the numbers of a refused change back.
    pub fn withdraw(&self, folder: &Folder, change_id: &str) {
        if self.are_placed || (self.tasks.numbers.is_empty() && self.adrs.numbers.is_empty()) {
            return;
        }
        let ledger = NumberLedger::of(folder);
        let changed = ledger.change(Instant::now() + PATIENCE, |issued| {
            issued.tasks.withdraw(&self.tasks.numbers);
            issued.adrs.withdraw(&self.adrs.numbers);
            let is_other = |change: &Option<String>| change.as_deref() != Some(change_id);
            issued
                .requests
                .retain(|request| is_other(&request.change_id));
        });
        // The key may be on the disk already, and the number is free for others.
        if let Err(error) = changed.and_then(|_| ledger.sync()) {
            tracing::info!(%error, "the numbers of a refused call stay unused");
        }
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
