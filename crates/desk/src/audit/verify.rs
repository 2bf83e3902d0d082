//! Whether the trail is what was written.
//!
//! Each segment is checked record by record. That a segment is whole, or there
//! at all, is known from what others say of it: the checkpoint that seals it, and
//! the first records of processes that started later. Of the newest segment of a
//! process that was killed nobody has said anything yet. Arguments that are gone
//! must be named by the record of an erasure.

use std::collections::{HashMap, HashSet};

use kit::Result;
use serde::Serialize;

use super::{
    erasures::Erasures,
    record::{Beside, CRASHED, Head, NOTHING, Record, Salted, parse},
    store::{CHECKPOINTS, Shelf, Stored},
};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    pub ok: bool,
    /// The first broken link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<Broken>,
    pub segments: u64,
    pub records: u64,
    /// Records whose arguments were erased.
    pub erased: u64,
    /// Records that are recorded as erased and still have arguments.
    pub not_yet_erased: u64,
    /// Records whose arguments are not there, though nobody erased them: a crash
    /// of the machine lost them, or this is a copy of the chains alone.
    pub without_arguments: u64,
    /// Records completed after a crash.
    pub recovered: u64,
    /// Segments that were dropped by rule.
    pub dropped: u64,
    /// Segments being written now.
    pub live: u64,
    /// Segments of dead processes that nobody has completed yet.
    pub unfinished: Vec<String>,
    /// Segments whose last line was torn by a crash and put aside.
    pub torn: Vec<String>,
    /// Records that were lost while the trail could not be written.
    pub lost: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Broken {
    pub segment: String,
    /// The line, which is also the number the record should have.
    pub line: u64,
    pub what: String,
}

type Checked<T> = std::result::Result<T, Broken>;

pub fn verify(shelf: &dyn Shelf) -> Result<Report> {
    let mut report = Report::default();
    report.broken = check(shelf, &mut report)?.err();
    report.ok = report.broken.is_none();
    Ok(report)
}

/// What others say of a segment.
#[derive(Default)]
struct Claims {
    sealed: HashMap<String, Record<'static>>,
    dropped: HashSet<String>,
    /// Who saw it, and up to which record.
    seen: HashMap<String, Vec<(String, Head)>>,
    erasures: Erasures,
}

fn check(shelf: &dyn Shelf, report: &mut Report) -> Result<Checked<()>> {
    // First what is said of segments, then the segments: what a running desk
    // adds in between is more than was said, never less.
    let names = shelf.segments()?;
    let checkpoints = shelf.checkpoints()?;
    let mut claims = match sealed_and_dropped(&checkpoints) {
        Ok(claims) => claims,
        Err(broken) => return Ok(Err(broken)),
    };
    report.dropped = claims.dropped.len() as u64;
    let mut by_hash: HashSet<(u64, String)> = HashSet::new();
    for record in checkpoints.iter().filter_map(|line| parse(line).ok()) {
        by_hash.insert((record.seq, record.hash));
    }
    let mut told_of_checkpoints = Vec::new();
    for name in &names {
        let first = shelf.first(name)?;
        // A first record that is damaged is found below.
        let Some(Ok(start)) = first.as_deref().map(parse) else {
            continue;
        };
        for head in start.seen.unwrap_or_default() {
            let seen = claims.seen.entry(head.segment.clone()).or_default();
            seen.push((name.clone(), head));
        }
        if let Some(before) = start.continues {
            let head = Head {
                segment: before.into_owned(),
                seq: 0,
                hash: start.prev.into_owned(),
            };
            let seen = claims.seen.entry(head.segment.clone()).or_default();
            seen.push((name.clone(), head));
        }
        if let Some(head) = start.checkpoint {
            told_of_checkpoints.push((name, head));
        }
    }
    for (who, head) in told_of_checkpoints {
        if !by_hash.contains(&(head.seq, head.hash)) {
            let what = format!(
                "{who} saw a checkpoint {} that is not there or was changed",
                head.seq
            );
            return Ok(Err(broken(CHECKPOINTS, head.seq, what)));
        }
    }
    let mut there = HashSet::new();
    for name in &names {
        let live = shelf.is_live(name)?;
        let Some(stored) = shelf.read(name)? else {
            continue;
        };
        there.insert(name.clone());
        report.segments += 1;
        report.live += u64::from(live);
        let before = report.clone();
        if segment(name, &stored, live, &claims, report).is_err() {
            // What is missing may have been erased while we were reading, or by
            // an earlier version.
            *report = before;
            claims.erasures = Erasures::everywhere(shelf)?;
            if let Err(broken) = segment(name, &stored, live, &claims, report) {
                return Ok(Err(broken));
            }
        }
    }
    gone(shelf, &there, &claims)
}

fn sealed_and_dropped(lines: &[String]) -> Checked<Claims> {
    let mut claims = Claims {
        erasures: Erasures::in_checkpoints(lines),
        ..Claims::default()
    };
    let mut prev = NOTHING.to_owned();
    for (line, number) in lines.iter().zip(1..) {
        let record = linked(CHECKPOINTS, line, number, &prev)?;
        prev.clone_from(&record.hash);
        let segment = record.segment.as_deref().unwrap_or_default().to_owned();
        match &*record.kind {
            "sealed" => drop(claims.sealed.insert(segment, record)),
            "dropped" => drop(claims.dropped.insert(segment)),
            "erased" => {}
            kind => {
                let what = format!("a record of kind {kind} can't stand here");
                return Err(broken(CHECKPOINTS, number, what));
            }
        }
    }
    Ok(claims)
}

/// One record in its place.
fn linked(segment: &str, line: &str, number: u64, prev: &str) -> Checked<Record<'static>> {
    let record = parse(line).map_err(|what| broken(segment, number, what.to_owned()))?;
    if record.seq != number {
        let what = format!("record {} stands where {number} should be", record.seq);
        return Err(broken(segment, number, what));
    }
    if record.prev != prev {
        let what = "it does not follow the record before it".to_owned();
        return Err(broken(segment, number, what));
    }
    Ok(record)
}

fn segment(
    name: &str,
    stored: &Stored,
    live: bool,
    claims: &Claims,
    report: &mut Report,
) -> Checked<()> {
    let hashes = records(name, stored, claims, report)?;
    match claims.sealed.get(name) {
        Some(seal) => {
            if seal.torn.is_some() {
                report.torn.push(name.to_owned());
            }
            matches_seal(name, &hashes, stored.torn, seal)?;
        }
        None if !live => report.unfinished.push(name.to_owned()),
        None => {}
    }
    matches_sightings(name, &hashes, claims)?;
    if hashes.is_empty() {
        let what = "there is no whole record in it".to_owned();
        return Err(broken(name, 1, what));
    }
    Ok(())
}

/// The hashes of all records, each of which follows the one before.
fn records(
    name: &str,
    stored: &Stored,
    claims: &Claims,
    report: &mut Report,
) -> Checked<Vec<String>> {
    let seal = claims.sealed.get(name);
    // What a process wrote before a seal of its own is on disk.
    let ended_in_order = seal.is_some_and(|seal| seal.what.as_deref() != Some(CRASHED));
    let mut hashes: Vec<String> = Vec::with_capacity(stored.lines.len());
    let mut ended = false;
    for ((line, beside), number) in stored.lines.iter().zip(1..) {
        let before = match hashes.last() {
            Some(hash) => hash,
            // The first says itself what it follows; that is checked by claims.
            None => &first_prev(line),
        };
        let record = linked(name, line, number, before)?;
        if (number == 1) != (record.kind == "start") || ended {
            let what = format!("a record of kind {} can't stand here", record.kind);
            return Err(broken(name, number, what));
        }
        ended = record.kind == "end";
        report.records += 1;
        report.recovered += u64::from(record.recovered);
        if record.kind == "lost" {
            report.lost += record.count.unwrap_or_default();
        }
        let has_arguments = record.arguments.is_some() || record.personal.is_some();
        if stored.keeps_arguments {
            let is_recorded = has_arguments && claims.erasures.include(name, &record);
            let how = (has_arguments, is_recorded, !ended_in_order);
            kept(&record, beside.as_deref(), how, report)
                .map_err(|what| broken(name, number, what.to_owned()))?;
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
        let what = "it is not the last record that was sealed".to_owned();
        return Err(broken(name, sealed, what));
    }
    if count > sealed || torn > 0 {
        let what = format!("there is more than the {sealed} records that were sealed");
        return Err(broken(name, sealed + 1, what));
    }
    Ok(())
}

/// The segment against what later processes saw of it.
fn matches_sightings(name: &str, hashes: &[String], claims: &Claims) -> Checked<()> {
    let count = hashes.len() as u64;
    for (who, head) in claims.seen.get(name).into_iter().flatten() {
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

/// What stands beside a record must be what it was made with, or erased.
/// `is_recorded`: its erasure is. `may_lack`: it may not be there, though nobody
/// erased it.
fn kept(
    record: &Record<'_>,
    beside: Option<&str>,
    (has_arguments, is_recorded, may_lack): (bool, bool, bool),
    report: &mut Report,
) -> std::result::Result<(), &'static str> {
    let Some(beside) = beside else {
        match (has_arguments, is_recorded, may_lack) {
            (false, ..) => {}
            // A line that was half erased can't be read.
            (true, true, _) => report.not_yet_erased += 1,
            (true, false, true) => report.without_arguments += 1,
            (true, false, false) => {
                return Err("its arguments are not there, but no erasure is recorded");
            }
        }
        return Ok(());
    };
    let beside: Beside =
        serde_json::from_str(beside).map_err(|_| "what is kept of its arguments can't be read")?;
    let same = |kept: &Option<Salted>, said: Option<&str>| {
        kept.as_ref().map(Salted::commitment).as_deref() == said
    };
    if beside.erased && has_arguments && beside.arguments.is_none() && beside.personal.is_none() {
        report.erased += 1;
        return match is_recorded {
            true => Ok(()),
            false => Err("its arguments were erased, but no erasure is recorded"),
        };
    }
    if beside.erased
        || !same(&beside.arguments, record.arguments.as_deref())
        || !same(&beside.personal, record.personal.as_deref())
    {
        return Err("what is kept of its arguments is not what it was made with");
    }
    report.not_yet_erased += u64::from(is_recorded);
    Ok(())
}

/// Segments that were there and are not.
fn gone(shelf: &dyn Shelf, there: &HashSet<String>, claims: &Claims) -> Result<Checked<()>> {
    let sealed = claims.sealed.keys().map(|name| (name, None));
    let seen = claims.seen.iter().map(|(name, by)| (name, by.first()));
    let mut missing: Vec<_> = sealed
        .chain(seen)
        .filter(|(name, _)| !there.contains(*name) && !claims.dropped.contains(*name))
        .collect();
    missing.sort_by_key(|(name, _)| *name);
    if missing.is_empty() {
        return Ok(Ok(()));
    }
    // It may have been dropped by rule while we were reading.
    let dropped: HashSet<String> = shelf
        .checkpoints()?
        .iter()
        .filter_map(|line| parse(line).ok())
        .filter(|record| record.kind == "dropped")
        .filter_map(|record| record.segment.map(|name| name.into_owned()))
        .collect();
    let missing = missing.iter().find(|(name, _)| !dropped.contains(*name));
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

fn broken(segment: &str, line: u64, what: String) -> Broken {
    Broken {
        segment: segment.to_owned(),
        line,
        what,
    }
}
