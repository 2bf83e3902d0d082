//! Sets of record numbers.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Numbers of records, as the first and the last of each run, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Runs(Vec<(u64, u64)>);

impl Runs {
    pub fn of(records: &BTreeSet<u64>) -> Self {
        let mut runs = Self(records.iter().map(|record| (*record, *record)).collect());
        runs.join();
        runs
    }

    /// Puts them in order, and those together that touch.
    pub fn join(&mut self) {
        self.0.sort_unstable();
        self.0.dedup_by(|next, run| {
            let touches = next.0 <= run.1.saturating_add(1);
            if touches {
                run.1 = run.1.max(next.1);
            }
            touches
        });
    }

    pub fn contains(&self, record: u64) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= record);
        let run = after.checked_sub(1).and_then(|at| self.0.get(at));
        run.is_some_and(|(_, last)| record <= *last)
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().copied()
    }

    pub fn chunks(&self, size: usize) -> impl Iterator<Item = Self> {
        self.0.chunks(size).map(|some| Self(some.to_vec()))
    }

    /// How many records these are.
    pub fn count(&self) -> u64 {
        let lengths = self
            .0
            .iter()
            .map(|(first, last)| last.saturating_sub(*first));
        lengths.fold(0, |sum, length| {
            sum.saturating_add(length.saturating_add(1))
        })
    }
}

impl Extend<(u64, u64)> for Runs {
    /// Leaves them out of order: see [`Runs::join`].
    fn extend<T: IntoIterator<Item = (u64, u64)>>(&mut self, runs: T) {
        self.0.extend(runs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_hold_the_records_they_are_made_of() {
        let records = BTreeSet::from([2, 3, 4, 9, 11, 12]);
        let runs = Runs::of(&records);
        assert_eq!(runs.0, [(2, 4), (9, 9), (11, 12)]);
        assert_eq!(runs.count(), 6);
        for record in 0..20 {
            assert_eq!(runs.contains(record), records.contains(&record));
        }
        assert_eq!(runs.chunks(2).count(), 2);
        let mut runs = Runs(vec![(9, 12), (1, 2), (3, 3), (10, 20)]);
        runs.join();
        assert_eq!(runs.0, [(1, 3), (9, 20)]);
        // One that somebody made up costs nothing to look at.
        assert_eq!(Runs(vec![(0, u64::MAX), (5, 1)]).count(), u64::MAX);
    }
}
