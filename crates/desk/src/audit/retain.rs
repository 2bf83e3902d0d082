//! Drops segments that are older than the retention time, and the oldest ones of a
//! trail that is too large. A checkpoint says what each contained, so that `verify` can
//! tell this from tampering. Segments that are not sealed stay.

use std::collections::HashSet;

use kit::Result;

use super::{
    record::{Record, parse, segment_name},
    store::AuditStore,
};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Drops segments that ended so many days ago; 0: none. Returns how many.
pub fn drop_old(store: &dyn AuditStore, keep_days: u32, now: i64) -> Result<u64> {
    if keep_days == 0 {
        return Ok(0);
    }
    let before = now - i64::from(keep_days) * DAY_MS;
    // Names sort by the time at which segments began, and none ends before that.
    let oldest = segment_name(before);
    let there = store.segments()?;
    if there.first().is_none_or(|first| *first > oldest) {
        return Ok(0);
    }
    let mut old = Sealed::read(store)?;
    old.segments.retain(|record| {
        let last = record.last.as_deref().and_then(|at| at.parse().ok());
        last.is_some_and(|at: jiff::Timestamp| at.as_millisecond() < before)
    });
    old.remove(store, &format!("older than {keep_days} days"), now)
}

/// Drops the oldest segments until the trail takes at most so many bytes; 0: no limit.
/// Returns how many.
pub fn drop_excess(store: &dyn AuditStore, max_bytes: u64, now: i64) -> Result<u64> {
    if max_bytes == 0 || store.bytes()? <= max_bytes {
        return Ok(0);
    }
    let sizes = store.sizes()?;
    let mut excess = sizes.values().sum::<u64>().saturating_sub(max_bytes);
    if excess == 0 {
        return Ok(0);
    }
    let mut oldest = Sealed::read(store)?;
    // By their ends, in the order of the checkpoints: names are only exact to the second.
    oldest.segments.sort_by(|a, b| a.last.cmp(&b.last));
    oldest.segments.retain(|record| {
        let is_excess = excess > 0;
        let segment = record.segment.as_deref().unwrap_or_default();
        let size = sizes.get(segment).copied().unwrap_or_default();
        excess = excess.saturating_sub(size);
        is_excess
    });
    oldest.remove(store, &format!("more than {max_bytes} bytes"), now)
}

/// The sealed segments that exist.
struct Sealed {
    /// The checkpoints that seal them.
    segments: Vec<Record<'static>>,
    /// The names of those that are recorded as dropped.
    dropped: HashSet<String>,
}

impl Sealed {
    fn read(store: &dyn AuditStore) -> Result<Self> {
        let there: HashSet<String> = store.segments()?.into_iter().collect();
        let mut sealed = Self {
            segments: Vec::new(),
            dropped: HashSet::new(),
        };
        let checkpoints = store.checkpoints()?;
        for record in checkpoints.iter().filter_map(|line| parse(line).ok()) {
            let Some(segment) = record.segment.as_deref() else {
                continue;
            };
            match &*record.kind {
                "dropped" => drop(sealed.dropped.insert(segment.to_owned())),
                "sealed" if there.contains(segment) => sealed.segments.push(record),
                _ => {}
            }
        }
        Ok(sealed)
    }

    /// Recorded before it is done: if this process dies in between, the next round
    /// removes the rest.
    fn remove(&self, store: &dyn AuditStore, why: &str, now: i64) -> Result<u64> {
        let name = |record: &Record<'static>| record.segment.clone().unwrap_or_default();
        let checkpoints: Vec<_> = self
            .segments
            .iter()
            .filter(|record| !self.dropped.contains(&*name(record)))
            .map(|record| {
                let dropped = Record {
                    kind: "dropped".into(),
                    what: Some(why.to_owned().into()),
                    torn: None,
                    ..record.clone()
                };
                (dropped, now)
            })
            .collect();
        if !checkpoints.is_empty() {
            store.checkpoint(checkpoints, None)?;
        }
        for record in &self.segments {
            store.remove(&name(record))?;
        }
        Ok(self.segments.len() as u64)
    }
}
