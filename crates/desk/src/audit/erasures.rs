//! What the trail says was erased.

use std::collections::{BTreeSet, HashMap};

use kit::Result;
use serde::{Deserialize, Serialize};

use super::{
    erase::Which,
    record::{Record, parse},
    shelf::Shelf,
};

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
    fn join(&mut self) {
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

#[derive(Default)]
pub struct Erasures {
    by_segment: HashMap<String, Runs>,
    /// Earlier versions recorded whose arguments they erased, in a segment, and
    /// not of which records. All that matched at that time were erased.
    by_description: Vec<(i64, Which)>,
}

impl Erasures {
    pub fn in_checkpoints(lines: &[String]) -> Self {
        let mut erasures = Self::default();
        for record in lines.iter().filter_map(|line| recorded(line)) {
            if let (Some(segment), Some(runs)) = (record.segment, record.records) {
                let known = erasures.by_segment.entry(segment.into_owned());
                known.or_default().0.extend(runs.0);
            }
        }
        erasures.by_segment.values_mut().for_each(Runs::join);
        erasures
    }

    /// Also those that earlier versions recorded. Reads every segment.
    pub fn everywhere(shelf: &dyn Shelf) -> Result<Self> {
        let mut erasures = Self::in_checkpoints(&shelf.checkpoints()?);
        for segment in shelf.segments()? {
            let stored = shelf.read(&segment)?.unwrap_or_default();
            for record in stored.lines.iter().filter_map(|(line, _)| recorded(line)) {
                let which = record.what.as_deref().and_then(Which::parse);
                let which = which.map(|which| (record.at_ms(), which));
                erasures.by_description.extend(which);
            }
        }
        Ok(erasures)
    }

    pub fn by_segment(&self) -> impl Iterator<Item = (&str, &Runs)> {
        let segments = self.by_segment.iter();
        segments.map(|(segment, runs)| (segment.as_str(), runs))
    }

    /// Whether this record of a segment was erased.
    pub fn include(&self, segment: &str, record: &Record<'_>) -> bool {
        let runs = self.by_segment.get(segment);
        let mut described = self.by_description.iter();
        runs.is_some_and(|runs| runs.contains(record.seq))
            || described.any(|(at, which)| record.at_ms() <= *at && which.matches(record))
    }
}

/// The record of an erasure, if the line is one. Looked for before it is parsed,
/// for few lines are.
pub fn recorded(line: &str) -> Option<Record<'static>> {
    let may_be = line.contains("\"kind\":\"erased\"");
    let record = may_be.then(|| parse(line).ok()).flatten()?;
    (record.kind == "erased").then_some(record)
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
