//! Erasing what is kept of arguments. The chain stays as it is: it holds only
//! commitments, which say nothing without the salts that are erased too.
//!
//! The chain of checkpoints names every erased record, before it is erased, so
//! that `verify` can tell an erasure from a deletion by hand. Checkpoints outlive
//! every segment, so an erased record never outlives the record of its erasure.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fmt,
};

use jiff::Timestamp;
use kit::Result;

use super::{
    erasures::{Erasures, Runs},
    record::{Beside, Record, parse, time},
    shelf::Shelf,
};

/// Runs in one checkpoint, so that its line stays short.
const RUNS_IN_ONE: usize = 1000;

/// Whose arguments: of one call, or of a caller in a span of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Which {
    pub call: Option<String>,
    /// A caller's id or name.
    pub caller: Option<String>,
    pub since: Option<i64>,
    pub until: Option<i64>,
}

impl Which {
    pub fn matches(&self, record: &Record<'_>) -> bool {
        let at = record.at_ms();
        let caller = [record.caller.as_deref(), record.caller_name.as_deref()];
        (self.call.is_none() || record.call.as_deref() == self.call.as_deref())
            && (self.caller.is_none() || caller.contains(&self.caller.as_deref()))
            && self.since.is_none_or(|since| at >= since)
            && self.until.is_none_or(|until| at < until)
    }

    /// Reads the text of `Display` back.
    pub fn parse(text: &str) -> Option<Self> {
        // From the end, since a caller's name may contain a comma.
        let (rest, until) = split_time(text, "until ");
        let (rest, since) = split_time(rest, "since ");
        let (call, caller) = match rest.strip_prefix("call ") {
            Some(rest) => match rest.split_once(", caller ") {
                Some((call, caller)) => (Some(call), Some(caller)),
                None => (Some(rest), None),
            },
            None => (None, rest.strip_prefix("caller ")),
        };
        let which = Self {
            call: call.map(str::to_owned),
            caller: caller.map(str::to_owned),
            since,
            until,
        };
        (which.to_string() == text && which != Self::default()).then_some(which)
    }
}

fn split_time<'t>(text: &'t str, word: &str) -> (&'t str, Option<i64>) {
    let split = match text.strip_prefix(word) {
        Some(time) => Some(("", time)),
        None => text.rsplit_once(&format!(", {word}")),
    };
    let parsed = split.and_then(|(rest, time)| {
        let at: Timestamp = time.parse().ok()?;
        Some((rest, at.as_millisecond()))
    });
    match parsed {
        Some((rest, at)) => (rest, Some(at)),
        None => (text, None),
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.call.as_ref().map(|call| format!("call {call}")),
            self.caller.as_ref().map(|name| format!("caller {name}")),
            self.since.map(|at| format!("since {}", time(at))),
            self.until.map(|at| format!("until {}", time(at))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        f.write_str(&parts.join(", "))
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_reads_back() {
        let at = Some(1_800_000_000_000);
        let which = |call: Option<&str>, caller: Option<&str>, since, until| Which {
            call: call.map(str::to_owned),
            caller: caller.map(str::to_owned),
            since,
            until,
        };
        for which in [
            which(Some("c1"), None, None, None),
            which(None, Some("phone, the old one"), None, None),
            which(Some("c1"), Some("phone"), at, None),
            which(None, None, at, at),
            which(None, Some("phone"), None, at),
        ] {
            assert_eq!(Which::parse(&which.to_string()), Some(which));
        }
        for text in ["", "everything", "since yesterday"] {
            assert_eq!(Which::parse(text), None, "{text}");
        }
    }
}
