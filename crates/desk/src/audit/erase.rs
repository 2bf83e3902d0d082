//! Erases stored arguments. The chain does not change: it holds only commitments,
//! which reveal nothing without the salts, and those are erased too.
//!
//! Before arguments are erased, a checkpoint names their records. So `verify` can
//! tell an erasure from tampering. Checkpoints are kept longer than any segment, so
//! the record of an erasure is never dropped before the erased record.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use kit::Result;

use super::{
    erasure_scope::ErasureScope,
    erasures::Erasures,
    ranges::RecordRanges,
    record::{Record, StoredArguments, parse},
    store::AuditStore,
};

/// How many ranges one checkpoint names, so that its line stays short.
const RANGES_IN_ONE: usize = 1000;

/// Returns how many records lost their arguments.
pub fn erase(store: &dyn AuditStore, which: &ErasureScope, now: i64) -> Result<u64> {
    let mut erased = finish_erasures(store)?;
    let mut wanted: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for (segment, _) in store.touched(which.since.unwrap_or(i64::MIN))? {
        let Some(stored) = store.read(&segment)? else {
            continue;
        };
        for (line, arguments) in &stored.lines {
            let arguments = arguments.as_deref();
            let arguments = arguments.map(serde_json::from_str::<StoredArguments>);
            let Some(Ok(StoredArguments { erased: false, .. })) = arguments else {
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
    let wanted: Vec<(String, RecordRanges)> = wanted
        .into_iter()
        .map(|(segment, records)| (segment, RecordRanges::of(&records)))
        .collect();
    let checkpoints: Vec<_> = wanted
        .iter()
        .flat_map(|(segment, ranges)| {
            ranges.chunks(RANGES_IN_ONE).map(|some| {
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
    // Recorded before it is done: if this process dies in between,
    // `finish_erasures` does the rest.
    if !checkpoints.is_empty() {
        store.checkpoint(checkpoints, None)?;
    }
    for (segment, ranges) in &wanted {
        erased += store.erase(segment, ranges)?;
    }
    Ok(erased)
}

/// Finishes erasures that were recorded but cut short because their process died.
/// Returns how many records lost their arguments.
pub fn finish_erasures(store: &dyn AuditStore) -> Result<u64> {
    let there: HashSet<String> = store.segments()?.into_iter().collect();
    let mut erased = 0;
    for (segment, ranges) in Erasures::in_checkpoints(&store.checkpoints()?).by_segment() {
        if there.contains(segment) {
            erased += store.erase(segment, ranges)?;
        }
    }
    Ok(erased)
}
