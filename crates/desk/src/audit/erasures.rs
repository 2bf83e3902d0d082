//! Which records the trail says were erased.

use std::collections::HashMap;

use kit::Result;

use super::{
    erasure_scope::ErasureScope,
    ranges::RecordRanges,
    record::{Record, parse},
    store::AuditStore,
};

#[derive(Default)]
pub struct Erasures {
    by_segment: HashMap<String, RecordRanges>,
    /// Earlier versions recorded a description in place of record numbers. They
    /// erased all records that matched it at that time.
    by_description: Vec<(i64, ErasureScope)>,
}

impl Erasures {
    pub fn in_checkpoints(lines: &[String]) -> Self {
        let mut erasures = Self::default();
        for record in lines.iter().filter_map(|line| recorded(line)) {
            if let (Some(segment), Some(ranges)) = (record.segment, record.records) {
                let known = erasures.by_segment.entry(segment.into_owned());
                known.or_default().extend(ranges.iter());
            }
        }
        erasures
            .by_segment
            .values_mut()
            .for_each(RecordRanges::join);
        erasures
    }

    /// Includes the erasures that earlier versions recorded. Reads every segment.
    pub fn everywhere(store: &dyn AuditStore) -> Result<Self> {
        let mut erasures = Self::in_checkpoints(&store.checkpoints()?);
        for segment in store.segments()? {
            let stored = store.read(&segment)?.unwrap_or_default();
            for record in stored.lines.iter().filter_map(|(line, _)| recorded(line)) {
                let which = record.what.as_deref().and_then(ErasureScope::parse);
                let which = which.map(|which| (record.at_ms(), which));
                erasures.by_description.extend(which);
            }
        }
        Ok(erasures)
    }

    pub fn by_segment(&self) -> impl Iterator<Item = (&str, &RecordRanges)> {
        let segments = self.by_segment.iter();
        segments.map(|(segment, ranges)| (segment.as_str(), ranges))
    }

    /// Whether the arguments of this record were erased.
    pub fn include(&self, segment: &str, record: &Record<'_>) -> bool {
        let ranges = self.by_segment.get(segment);
        let mut described = self.by_description.iter();
        ranges.is_some_and(|ranges| ranges.contains(record.seq))
            || described.any(|(at, which)| record.at_ms() <= *at && which.matches(record))
    }
}

/// The record of an erasure, if the line is one. Few lines are, so the text is
/// searched before it is parsed.
pub fn recorded(line: &str) -> Option<Record<'static>> {
    let may_be = line.contains("\"kind\":\"erased\"");
    let record = may_be.then(|| parse(line).ok()).flatten()?;
    (record.kind == "erased").then_some(record)
}
