//! Erasing what is kept of arguments. The chain stays as it is: it holds only
//! commitments, which say nothing without the salts that are erased too.
//!
//! The chain of checkpoints names every erased record, before it is erased, so
//! that `verify` can tell an erasure from a deletion by hand. Checkpoints outlive
//! every segment, so an erased record never outlives the record of its erasure.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use kit::Result;

use super::{
    erasures::Erasures,
    record::{Beside, Record, parse},
    runs::Runs,
    selection::Which,
    store::Shelf,
};

/// Runs in one checkpoint, so that its line stays short.
const RUNS_IN_ONE: usize = 1000;

/// Returns how many records had arguments that are gone now.
pub fn erase(shelf: &dyn Shelf, which: &Which, now: i64) -> Result<u64> {
    let mut erased = finish_erasures(shelf)?;
    let mut wanted: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for (segment, _) in shelf.touched(which.since.unwrap_or(i64::MIN))? {
        let Some(stored) = shelf.read(&segment)? else {
            continue;
        };
        for (line, beside) in &stored.lines {
            let beside = beside.as_deref().map(serde_json::from_str::<Beside>);
            let Some(Ok(Beside { erased: false, .. })) = beside else {
                continue;
            };
            if let Ok(record) = parse(line)
                && which.matches(&record)
            {
                let records = wanted.entry(segment.clone()).or_default();
                records.insert(record.seq);
            }
        }
    }
    let wanted: Vec<(String, Runs)> = wanted
        .into_iter()
        .map(|(segment, records)| (segment, Runs::of(&records)))
        .collect();
    let said: Vec<_> = wanted
        .iter()
        .flat_map(|(segment, runs)| {
            runs.chunks(RUNS_IN_ONE).map(|some| {
                let record = Record {
                    kind: "erased".into(),
                    what: Some(which.to_string().into()),
                    count: Some(some.count()),
                    segment: Some(segment.clone().into()),
                    records: Some(some),
                    ..Record::default()
                };
                (record, now)
            })
        })
        .collect();
    // Said first, done after: should we die in between, `finish_erasures` does
    // the rest.
    if !said.is_empty() {
        shelf.checkpoint(said, None)?;
    }
    for (segment, runs) in &wanted {
        erased += shelf.erase(segment, runs)?;
    }
    Ok(erased)
}

/// Erases what was recorded as erased and is still there, because the process
/// that erased it died. Returns how many records that were.
pub fn finish_erasures(shelf: &dyn Shelf) -> Result<u64> {
    let there: HashSet<String> = shelf.segments()?.into_iter().collect();
    let mut erased = 0;
    for (segment, runs) in Erasures::in_checkpoints(&shelf.checkpoints()?).by_segment() {
        if there.contains(segment) {
            erased += shelf.erase(segment, runs)?;
        }
    }
    Ok(erased)
}
