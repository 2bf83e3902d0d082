//! Drops segments that are older than the retention time. A checkpoint says what
//! each contained, so that `verify` can tell this from tampering.

use std::collections::HashSet;

use kit::Result;

use super::{
    record::{Record, parse, segment_name},
    store::AuditStore,
};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Returns how many segments were dropped.
pub fn drop_old(store: &dyn AuditStore, keep_days: u32, now: i64) -> Result<u64> {
    if keep_days == 0 {
        return Ok(0);
    }
    let before = now - i64::from(keep_days) * DAY_MS;
    let there = store.segments()?;
    // Names sort by the time at which segments began, and none ends before that.
    let oldest = segment_name(before);
    if there.first().is_none_or(|first| *first > oldest) {
        return Ok(0);
    }
    let there: HashSet<String> = there.into_iter().collect();
    let checkpoints = store.checkpoints()?;
    let mut dropped: HashSet<String> = HashSet::new();
    let mut old: Vec<Record<'static>> = Vec::new();
    for record in checkpoints.iter().filter_map(|line| parse(line).ok()) {
        let Some(segment) = record.segment.as_deref().map(str::to_owned) else {
            continue;
        };
        let last = record.last.as_deref().and_then(|at| at.parse().ok());
        let last = last.map_or(now, |at: jiff::Timestamp| at.as_millisecond());
        match &*record.kind {
            "dropped" => drop(dropped.insert(segment)),
            "sealed" if last < before && there.contains(&segment) => old.push(record),
            _ => {}
        }
    }
    // Recorded before it is done: if this process dies in between, the next round
    // removes the rest.
    let checkpoints_to_add: Vec<_> = old
        .iter()
        .filter(|record| !dropped.contains(record.segment.as_deref().unwrap_or_default()))
        .map(|record| {
            let dropped = Record {
                kind: "dropped".into(),
                what: Some(format!("older than {keep_days} days").into()),
                torn: None,
                ..record.clone()
            };
            (dropped, now)
        })
        .collect();
    if !checkpoints_to_add.is_empty() {
        store.checkpoint(checkpoints_to_add, None)?;
    }
    for record in &old {
        store.remove(record.segment.as_deref().unwrap_or_default())?;
    }
    Ok(old.len() as u64)
}
