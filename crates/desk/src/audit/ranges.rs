//! Sets of record numbers, stored as ranges.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The first and last number of each range, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordRanges(Vec<(u64, u64)>);

impl RecordRanges {
    pub fn of(records: &BTreeSet<u64>) -> Self {
        let mut ranges = Self(records.iter().map(|record| (*record, *record)).collect());
        ranges.join();
        ranges
    }

    /// Sorts the ranges and merges those that touch.
    pub fn join(&mut self) {
        self.0.sort_unstable();
        self.0.dedup_by(|next, range| {
            let touches = next.0 <= range.1.saturating_add(1);
            if touches {
                range.1 = range.1.max(next.1);
            }
            touches
        });
    }

    pub fn contains(&self, record: u64) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= record);
        let range = after.checked_sub(1).and_then(|at| self.0.get(at));
        range.is_some_and(|(_, last)| record <= *last)
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().copied()
    }

    pub fn chunks(&self, size: usize) -> impl Iterator<Item = Self> {
        self.0.chunks(size).map(|some| Self(some.to_vec()))
    }

    /// How many records the ranges contain.
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

impl Extend<(u64, u64)> for RecordRanges {
    /// Adds ranges without sorting them: see [`RecordRanges::join`].
    fn extend<T: IntoIterator<Item = (u64, u64)>>(&mut self, ranges: T) {
        self.0.extend(ranges);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_contain_exactly_the_records_they_were_made_from() {
        let records = BTreeSet::from([2, 3, 4, 9, 11, 12]);
        let ranges = RecordRanges::of(&records);
        assert_eq!(ranges.0, [(2, 4), (9, 9), (11, 12)]);
        assert_eq!(ranges.count(), 6);
        for record in 0..20 {
            assert_eq!(ranges.contains(record), records.contains(&record));
        }
        assert_eq!(ranges.chunks(2).count(), 2);
        let mut ranges = RecordRanges(vec![(9, 12), (1, 2), (3, 3), (10, 20)]);
        ranges.join();
        assert_eq!(ranges.0, [(1, 3), (9, 20)]);
        // A forged range costs nothing to count.
        assert_eq!(RecordRanges(vec![(0, u64::MAX), (5, 1)]).count(), u64::MAX);
    }
}
