//! Checks that the trail is what was written.
//!
//! Each segment is checked record by record. Whether it is complete, or exists at
//! all, is known from the checkpoint that seals it, from the first records of
//! processes that started later, from the head that its writer keeps apart until it
//! is sealed, and from heads that were stored elsewhere. Arguments that are missing
//! must be named by an erasure.

mod arguments;
mod report;

use std::collections::{HashMap, HashSet};

use arguments::{ExpectedArguments, check_arguments};
use kit::Result;
use report::{Broken, broken};

pub use report::Report;

use super::{
    erasures::Erasures,
    progress::{TrailProgress, Watch},
    record::{CRASHED, Head, NOTHING, Record, parse},
    store::{AuditStore, CHECKPOINTS, StoredSegment},
    trail_head::TrailHead,
};

type Checked<T> = std::result::Result<T, Broken>;

pub fn verify(store: &dyn AuditStore, watch: Watch<'_>) -> Result<Report> {
    verify_against(store, &[], watch)
}

/// Also checks that the trail still contains what these heads name.
pub fn verify_against(
    store: &dyn AuditStore,
    heads: &[TrailHead],
    watch: Watch<'_>,
) -> Result<Report> {
    let mut report = Report {
        heads: heads.len() as u64,
        ..Report::default()
    };
    report.broken = check(store, heads, &mut report, watch)?.err();
    report.ok = report.broken.is_none();
    Ok(report)
}

/// What other records say about segments.
#[derive(Default)]
struct Expected {
    sealed: HashMap<String, Record<'static>>,
    dropped: HashSet<String>,
    /// By segment: who saw it, and up to which record.
    seen: HashMap<String, Vec<(String, Head)>>,
    /// The segments whose writers keep a head.
    with_head: HashSet<String>,
    erasures: Erasures,
}

impl Expected {
    fn see(&mut self, who: impl Into<String>, head: Head) {
        let seen = self.seen.entry(head.segment.clone()).or_default();
        seen.push((who.into(), head));
    }
}

fn check(
    store: &dyn AuditStore,
    heads: &[TrailHead],
    report: &mut Report,
    watch: Watch<'_>,
) -> Result<Checked<()>> {
    // Expectations are read before the segments. What a running desk adds in between
    // can only be more than expected.
    let kept = store.kept_heads()?;
    let names = store.segments()?;
    let checkpoints = store.checkpoints()?;
    let mut expected = match expected(store, &names, &checkpoints, kept, heads)? {
        Ok(expected) => expected,
        Err(broken) => return Ok(Err(broken)),
    };
    report.dropped = expected.dropped.len() as u64;
    let mut there = HashSet::new();
    for (segments_done, name) in names.iter().enumerate() {
        watch(TrailProgress {
            segments_done,
            segments: names.len(),
            records: report.records,
        });
        let live = store.is_live(name)?;
        let Some(stored) = store.read(name)? else {
            continue;
        };
        there.insert(name.clone());
        report.segments += 1;
        report.live += u64::from(live);
        let before = report.clone();
        if segment(name, &stored, live, &expected, report).is_err() {
            // Missing arguments may have been erased since the checkpoints were
            // read, or by an earlier version.
            *report = before;
            expected.erasures = Erasures::everywhere(store)?;
            if let Err(broken) = segment(name, &stored, live, &expected, report) {
                return Ok(Err(broken));
            }
        }
    }
    check_missing(store, &there, &expected)
}

/// What checkpoints, heads and the first records of processes say.
fn expected(
    store: &dyn AuditStore,
    names: &[String],
    checkpoints: &[String],
    kept: Vec<Head>,
    heads: &[TrailHead],
) -> Result<Checked<Expected>> {
    let mut expected = match sealed_and_dropped(checkpoints) {
        Ok(expected) => expected,
        Err(broken) => return Ok(Err(broken)),
    };
    let mut by_hash: HashSet<(u64, String)> = HashSet::new();
    for record in checkpoints.iter().filter_map(|line| parse(line).ok()) {
        by_hash.insert((record.seq, record.hash));
    }
    let mut seen_checkpoints = Vec::new();
    for head in kept {
        expected.with_head.insert(head.segment.clone());
        expected.see("the head that its process kept", head);
    }
    for stored in heads {
        let who = format!("the head of {}", stored.at);
        for head in &stored.segments {
            expected.see(&who, head.clone());
        }
        seen_checkpoints.extend(stored.checkpoints.clone().map(|head| (who, head)));
    }
    for name in names {
        let first = store.first(name)?;
        // A damaged first record is found below.
        let Some(Ok(start)) = first.as_deref().map(parse) else {
            continue;
        };
        for head in start.seen.unwrap_or_default() {
            expected.see(name, head);
        }
        if let Some(before) = start.continues {
            let head = Head {
                segment: before.into_owned(),
                seq: 0,
                hash: start.prev.into_owned(),
            };
            expected.see(name, head);
        }
        if let Some(head) = start.checkpoint {
            seen_checkpoints.push((name.clone(), head));
        }
    }
    for (who, head) in seen_checkpoints {
        if !by_hash.contains(&(head.seq, head.hash)) {
            let what = format!(
                "{who} saw a checkpoint {} that is not there or was changed",
                head.seq
            );
            return Ok(Err(broken(CHECKPOINTS, head.seq, what)));
        }
    }
    Ok(Ok(expected))
}

fn sealed_and_dropped(lines: &[String]) -> Checked<Expected> {
    let mut expected = Expected {
        erasures: Erasures::in_checkpoints(lines),
        ..Expected::default()
    };
    let mut prev = NOTHING.to_owned();
    for (line, number) in lines.iter().zip(1..) {
        let record = linked(CHECKPOINTS, line, number, &prev)?;
        prev.clone_from(&record.hash);
        let segment = record.segment.as_deref().unwrap_or_default().to_owned();
        match &*record.kind {
            "sealed" => drop(expected.sealed.insert(segment, record)),
            "dropped" => drop(expected.dropped.insert(segment)),
            "erased" => {}
            kind => {
                let what = format!("a record of kind {kind} can't be here");
                return Err(broken(CHECKPOINTS, number, what));
            }
        }
    }
    Ok(expected)
}

/// Parses a record and checks its number and `prev`.
fn linked(segment: &str, line: &str, number: u64, prev: &str) -> Checked<Record<'static>> {
    let record = parse(line).map_err(|what| broken(segment, number, what))?;
    if record.seq != number {
        let what = format!("record {} is where {number} should be", record.seq);
        return Err(broken(segment, number, what));
    }
    if record.prev != prev {
        return Err(broken(
            segment,
            number,
            "it does not follow the record before it",
        ));
    }
    Ok(record)
}

fn segment(
    name: &str,
    stored: &StoredSegment,
    live: bool,
    expected: &Expected,
    report: &mut Report,
) -> Checked<()> {
    let hashes = records(name, stored, expected, report)?;
    match expected.sealed.get(name) {
        Some(seal) => {
            if seal.torn.is_some() {
                report.torn.push(name.to_owned());
            }
            matches_seal(name, &hashes, stored.torn, seal)?;
        }
        None if !live => {
            report.unfinished.push(name.to_owned());
            if !expected.with_head.contains(name) {
                report.without_head.push(name.to_owned());
            }
        }
        None => {}
    }
    matches_sightings(name, &hashes, expected)?;
    if hashes.is_empty() {
        return Err(broken(name, 1, "it has no complete record"));
    }
    Ok(())
}

/// The hashes of all records, each of which follows the one before.
fn records(
    name: &str,
    stored: &StoredSegment,
    expected: &Expected,
    report: &mut Report,
) -> Checked<Vec<String>> {
    let seal = expected.sealed.get(name);
    // All that a process wrote before its own seal is on disk.
    let ended_in_order = seal.is_some_and(|seal| seal.what.as_deref() != Some(CRASHED));
    let mut hashes: Vec<String> = Vec::with_capacity(stored.lines.len());
    let mut ended = false;
    for ((line, arguments), number) in stored.lines.iter().zip(1..) {
        let before = match hashes.last() {
            Some(hash) => hash,
            // The first names what it follows; sightings check that.
            None => &first_prev(line),
        };
        let record = linked(name, line, number, before)?;
        if (number == 1) != (record.kind == "start") || ended {
            let what = format!("a record of kind {} can't be here", record.kind);
            return Err(broken(name, number, what));
        }
        ended = record.kind == "end";
        report.records += 1;
        report.recovered += u64::from(record.recovered);
        match &*record.kind {
            "lost" => report.lost += record.count.unwrap_or_default(),
            "read_count" => report.summarised += record.count.unwrap_or_default(),
            _ => {}
        }
        let has_arguments = record.arguments.is_some() || record.personal.is_some();
        if stored.keeps_arguments {
            let is_recorded = has_arguments && expected.erasures.include(name, &record);
            let expected = ExpectedArguments {
                exist: has_arguments,
                erasure_is_recorded: is_recorded,
                may_be_missing: !ended_in_order,
            };
            check_arguments(&record, arguments.as_deref(), &expected, report)
                .map_err(|what| broken(name, number, what))?;
        } else {
            report.without_arguments += u64::from(has_arguments);
        }
        hashes.push(record.hash);
    }
    Ok(hashes)
}

fn hash_of(hashes: &[String], seq: u64) -> Option<&str> {
    let at = usize::try_from(seq).ok()?.checked_sub(1)?;
    hashes.get(at).map(String::as_str)
}

/// The segment against the checkpoint that seals it.
fn matches_seal(name: &str, hashes: &[String], torn: u64, seal: &Record<'_>) -> Checked<()> {
    let (count, sealed) = (hashes.len() as u64, seal.count.unwrap_or_default());
    if count < sealed {
        let what = format!("it ends here, but was sealed with {sealed} records");
        return Err(broken(name, count + 1, what));
    }
    if hash_of(hashes, sealed) != seal.head.as_deref() {
        return Err(broken(
            name,
            sealed,
            "it is not the last record that was sealed",
        ));
    }
    if count > sealed || torn > 0 {
        let what = format!("it has more than the {sealed} records that were sealed");
        return Err(broken(name, sealed + 1, what));
    }
    Ok(())
}

/// The segment against what later processes saw of it.
fn matches_sightings(name: &str, hashes: &[String], expected: &Expected) -> Checked<()> {
    let count = hashes.len() as u64;
    for (who, head) in expected.seen.get(name).into_iter().flatten() {
        let seq = if head.seq == 0 { count } else { head.seq };
        match hash_of(hashes, seq) {
            Some(hash) if hash == head.hash => {}
            Some(_) => {
                let what = format!("it is not the record that {who} saw here");
                return Err(broken(name, seq, what));
            }
            None => {
                let what = format!("it ends here, but {who} saw {seq} records");
                return Err(broken(name, count + 1, what));
            }
        }
    }
    Ok(())
}

fn first_prev(line: &str) -> String {
    match parse(line) {
        Ok(record) if record.continues.is_some() => record.prev.into_owned(),
        _ => NOTHING.to_owned(),
    }
}

/// Finds segments that existed once and are missing.
fn check_missing(
    store: &dyn AuditStore,
    there: &HashSet<String>,
    expected: &Expected,
) -> Result<Checked<()>> {
    let sealed = expected.sealed.keys().map(|name| (name, None));
    let seen = expected.seen.iter().map(|(name, by)| (name, by.first()));
    let mut missing: Vec<_> = sealed
        .chain(seen)
        .filter(|(name, _)| !there.contains(*name) && !expected.dropped.contains(*name))
        .collect();
    missing.sort_by_key(|(name, _)| *name);
    if missing.is_empty() {
        return Ok(Ok(()));
    }
    // It may have been dropped since the checkpoints were read.
    let dropped: HashSet<String> = store
        .checkpoints()?
        .iter()
        .filter_map(|line| parse(line).ok())
        .filter(|record| record.kind == "dropped")
        .filter_map(|record| record.segment.map(|name| name.into_owned()))
        .collect();
    // Or it began and ended since the segments were listed.
    let now: HashSet<String> = store.segments()?.into_iter().collect();
    let is_gone = |name: &String| !dropped.contains(name) && !now.contains(name);
    let missing = missing.iter().find(|(name, _)| is_gone(name));
    Ok(match missing {
        None => Ok(()),
        Some((name, by)) => {
            let who = match by {
                Some((who, head)) => format!("{who} saw it with {} records", head.seq),
                None => "a checkpoint sealed it".to_owned(),
            };
            Err(broken(name, 1, format!("the segment is missing: {who}")))
        }
    })
}
