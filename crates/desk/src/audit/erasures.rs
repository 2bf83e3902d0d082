//! What the trail says was erased.

use std::collections::HashMap;

use kit::Result;

use super::{
    record::{Record, parse},
    runs::Runs,
    selection::Which,
    store::Shelf,
};

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
                known.or_default().extend(runs.iter());
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
