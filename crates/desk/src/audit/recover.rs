//! Completes the trail after a crash.
//!
//! A call that changed something left a row in `desk_writes`, committed with the
//! change. If its process died before the record was written, another process
//! records the call here and seals the dead segment. It claims the segment first, so
//! only one process recovers it. A call that has a record anywhere is not recorded
//! again, so the recovering process may die as well.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use kit::{Result, Store, sql::Budget};
use tokio::runtime::Handle;

use super::{
    entry::{AuditEntry, RecoveredEntry},
    queue::Reservation,
    record::{CRASHED, Head, Record, parse},
    store::{AuditStore, StoredSegment},
    trail::Trail,
};

/// A row has the time at which its call began. That may be this much earlier than
/// the segment of its record.
const BEFORE_MS: i64 = 10 * 60 * 1000;

/// A counter and the store of its rows.
pub type CounterStore = (&'static str, Arc<dyn Store>);

/// Returns how many calls were recovered.
pub fn recover(trail: &Trail, rows: &[CounterStore], runtime: &Handle) -> Result<u64> {
    let mut recovered = 0;
    for segment in trail.store.unsealed()? {
        recovered += one(trail, &segment, rows, runtime)?;
    }
    Ok(recovered)
}

fn one(trail: &Trail, segment: &str, rows: &[CounterStore], runtime: &Handle) -> Result<u64> {
    let store = &trail.store;
    if store.is_live(segment)? {
        return Ok(0);
    }
    // A damaged segment stays as it is, for `verify` to report.
    let first = store.first(segment)?;
    let Some(Ok(start)) = first.as_deref().map(parse) else {
        return Ok(0);
    };
    let counters = start.counters.as_deref().unwrap_or_default();
    let has = |counter: &str| rows.iter().any(|(name, _)| *name == counter);
    // Some of its rows may be in a store that this process has not opened. Another
    // process has to recover it.
    if !counters
        .iter()
        .all(|some| some.iter().any(|name| has(name)))
    {
        return Ok(0);
    }
    let Some(_claim) = store.claim(segment)? else {
        return Ok(0);
    };
    let torn = store.quarantine_torn_line(segment)?;
    // Its process may have died before it synced. What is sealed must stay.
    store.durable_head(segment)?;
    let Some(stored) = store.read(segment)? else {
        return Ok(0);
    };
    let last = stored.lines.last().map(|(line, _)| parse(line));
    let Some(Ok(last)) = last else {
        return Ok(0);
    };
    let process = start.process.as_deref().unwrap_or_default();
    let since = start.at_ms() - BEFORE_MS;
    let missing = missing(&**store, process, since, rows, runtime)?;
    let recovered = missing.len() as u64;
    record(trail, segment, missing)?;
    let head = last_written(&**store, segment, &stored)?;
    let head = head.unwrap_or_else(|| Head {
        segment: segment.to_owned(),
        seq: last.seq,
        hash: last.hash.clone(),
    });
    let mut sealed = Record::sealed(&head, start.at_ms(), last.at_ms(), CRASHED);
    sealed.bytes = Some(stored.bytes());
    sealed.torn = (torn > 0).then_some(torn);
    store.checkpoint(vec![(sealed, trail.now())], Some(segment))?;
    tracing::warn!(
        segment,
        recovered,
        torn_bytes = torn,
        "recovered the audit segment of a process that had crashed"
    );
    Ok(recovered)
}

/// The head that the process kept, if records up to it are missing or were changed. The
/// segment is sealed with it, so that `verify` goes on reporting them.
fn last_written(
    store: &dyn AuditStore,
    segment: &str,
    stored: &StoredSegment,
) -> Result<Option<Head>> {
    let kept = store.kept_heads()?;
    let Some(kept) = kept.into_iter().find(|head| head.segment == segment) else {
        return Ok(None);
    };
    let at = usize::try_from(kept.seq.saturating_sub(1)).unwrap_or(usize::MAX);
    let there = stored.lines.get(at).map(|(line, _)| parse(line));
    if there.is_some_and(|it| it.is_ok_and(|it| it.hash == kept.hash)) {
        return Ok(None);
    }
    tracing::error!(
        segment,
        records = kept.seq,
        found = stored.lines.len(),
        "the audit segment of a process that had crashed has lost records"
    );
    Ok(Some(kept))
}

/// The calls of a process that changed something and have no record.
fn missing(
    audit: &dyn AuditStore,
    process: &str,
    since: i64,
    rows: &[CounterStore],
    runtime: &Handle,
) -> Result<Vec<RecoveredEntry>> {
    let mut found: HashMap<String, RecoveredEntry> = HashMap::new();
    let mut asked: Vec<&Arc<dyn Store>> = Vec::new();
    for (_, store) in rows {
        if asked.iter().any(|other| Arc::ptr_eq(other, store)) {
            continue;
        }
        asked.push(store);
        let process = process.to_owned();
        let calls: Vec<RecoveredEntry> =
            runtime.block_on(store.query(Budget::default(), move |sql| {
                sql.query(
                    "SELECT written.call_id, written.at_ms, caller, counter, tool,
                         arguments_digest, used.approval
                     FROM desk_writes AS written
                     LEFT JOIN desk_redemptions AS used ON used.call_id = written.call_id
                     WHERE written.at_ms >= $1 AND process = $2",
                    &[since.into(), (&process).into()],
                )?
                .iter()
                .map(|row| {
                    Ok(RecoveredEntry {
                        at: row.int(1)?,
                        call: row.text(0)?,
                        caller: row.text(2)?,
                        counter: row.text(3)?,
                        tool: row.text(4)?,
                        segment: String::new(),
                        digest: row.text(5)?,
                        approval: row.opt_text(6)?,
                    })
                })
                .collect()
            }))?;
        found.extend(calls.into_iter().map(|call| (call.call.clone(), call)));
    }
    if !found.is_empty() {
        let calls: HashSet<String> = found.keys().cloned().collect();
        for call in audit.recorded(&calls, since)? {
            found.remove(&call);
        }
    }
    let mut missing: Vec<RecoveredEntry> = found.into_values().collect();
    missing.sort_by(|a, b| (a.at, &a.call).cmp(&(b.at, &b.call)));
    Ok(missing)
}

fn record(trail: &Trail, segment: &str, calls: Vec<RecoveredEntry>) -> Result<()> {
    let Some(last) = calls.len().checked_sub(1) else {
        return Ok(());
    };
    for (at, mut call) in calls.into_iter().enumerate() {
        call.segment = segment.to_owned();
        let entry = AuditEntry::Recovered(Box::new(call));
        if trail.queue.try_reserve() == Reservation::Full {
            return Err(kit::Error::internal("too many records wait to be written"));
        }
        if at < last {
            trail.push(entry);
        } else if trail.push_durable(entry).blocking_recv() != Ok(true) {
            return Err(kit::Error::internal("recovered records were not written"));
        }
    }
    Ok(())
}
