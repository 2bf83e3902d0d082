//! Completing what a crash cut short.
//!
//! A call that changed something left a row in `desk_writes`, committed with the
//! change. When its process died before the record was written, whoever starts
//! next records it here, and seals the dead segment. A segment is claimed first,
//! so each is completed by one process; a call that is recorded anywhere is not
//! recorded again, so it does not matter when the one who completes dies as well.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use kit::{Result, Store, sql::Budget};
use tokio::runtime::Handle;

use super::{
    entry::{Entry, RecoveredEntry},
    queue::Place,
    record::{CRASHED, Head, Record, parse},
    store::Shelf,
    trail::Trail,
};

/// A row's time is that of its call's beginning: it may be this much older than
/// the segment its record belongs to.
const BEFORE_MS: i64 = 10 * 60 * 1000;

/// A counter, and the store its rows are in.
pub type Rows = (&'static str, Arc<dyn Store>);

/// Returns how many calls were recovered.
pub fn complete(trail: &Trail, rows: &[Rows], runtime: &Handle) -> Result<u64> {
    let mut recovered = 0;
    for segment in trail.shelf.unsealed()? {
        recovered += one(trail, &segment, rows, runtime)?;
    }
    Ok(recovered)
}

fn one(trail: &Trail, segment: &str, rows: &[Rows], runtime: &Handle) -> Result<u64> {
    let shelf = &trail.shelf;
    if shelf.is_live(segment)? {
        return Ok(0);
    }
    // What is damaged is left as it is, for `verify` to name.
    let first = shelf.first(segment)?;
    let Some(Ok(start)) = first.as_deref().map(parse) else {
        return Ok(0);
    };
    let counters = start.counters.as_deref().unwrap_or_default();
    let has = |counter: &str| rows.iter().any(|(name, _)| *name == counter);
    // Some rows it may have left are out of reach here: for somebody else.
    if !counters
        .iter()
        .all(|some| some.iter().any(|name| has(name)))
    {
        return Ok(0);
    }
    let Some(_claim) = shelf.claim(segment)? else {
        return Ok(0);
    };
    let torn = shelf.put_torn_aside(segment)?;
    let Some(stored) = shelf.read(segment)? else {
        return Ok(0);
    };
    let last = stored.lines.last().map(|(line, _)| parse(line));
    let Some(Ok(last)) = last else {
        return Ok(0);
    };
    let process = start.process.as_deref().unwrap_or_default();
    let since = start.at_ms() - BEFORE_MS;
    let missing = missing(&**shelf, process, since, rows, runtime)?;
    let recovered = missing.len() as u64;
    record(trail, segment, missing)?;
    let head = Head {
        segment: segment.to_owned(),
        seq: last.seq,
        hash: last.hash.clone(),
    };
    let mut sealed = Record::sealed(&head, start.at_ms(), last.at_ms(), CRASHED);
    sealed.torn = (torn > 0).then_some(torn);
    shelf.checkpoint(vec![(sealed, trail.now())], Some(segment))?;
    tracing::warn!(
        segment,
        recovered,
        torn_bytes = torn,
        "a process ended without closing its audit segment; it is complete now"
    );
    Ok(recovered)
}

/// The calls of a process that changed something and are recorded nowhere.
fn missing(
    shelf: &dyn Shelf,
    process: &str,
    since: i64,
    rows: &[Rows],
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
        for call in shelf.recorded(&calls, since)? {
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
        let entry = Entry::Recovered(Box::new(call));
        if trail.queue.try_place() == Place::None {
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
