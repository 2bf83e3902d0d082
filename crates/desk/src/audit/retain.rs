//! Dropping what is older than it has to be kept: whole segments, each with a
//! checkpoint that says what it held, so that `verify` can tell a rule from a
//! hand.

use std::collections::HashSet;

use kit::Result;

use super::{
    record::{Record, parse, segment_name},
    store::Shelf,
};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Returns how many segments went.
pub fn drop_old(shelf: &dyn Shelf, keep_days: u32, now: i64) -> Result<u64> {
    if keep_days == 0 {
        return Ok(0);
    }
    let before = now - i64::from(keep_days) * DAY_MS;
    let there = shelf.segments()?;
    // Names sort by the time a segment began, and none ends before that.
    let oldest = segment_name(before);
    if there.first().is_none_or(|first| *first > oldest) {
        return Ok(0);
    }
    let there: HashSet<String> = there.into_iter().collect();
    let checkpoints = shelf.checkpoints()?;
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
    // Said first, done after: should we die in between, the next round removes
    // what was said to be gone.
    let said: Vec<_> = old
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
    if !said.is_empty() {
        shelf.checkpoint(said, None)?;
    }
    for record in &old {
        shelf.remove(record.segment.as_deref().unwrap_or_default())?;
    }
    Ok(old.len() as u64)
}
