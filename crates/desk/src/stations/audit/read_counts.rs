//! Counts reads per caller, tool and minute, in place of a record for each.

use std::{collections::HashMap, sync::Arc};

use crate::audit::entry::ReadCount;

#[derive(Default)]
pub struct ReadCounts {
    minute: i64,
    counts: HashMap<(Arc<str>, &'static str, &'static str), ReadCount>,
}

/// One read that succeeded.
pub struct Read<'a> {
    pub at: i64,
    pub caller: &'a Arc<str>,
    pub caller_name: &'a Arc<str>,
    pub counter: &'static str,
    pub tool: &'static str,
    pub ms: f64,
}

impl ReadCounts {
    pub fn add(&mut self, read: &Read<'_>) {
        let key = (Arc::clone(read.caller), read.counter, read.tool);
        let counted = self.counts.entry(key).or_insert_with(|| ReadCount {
            caller: Arc::clone(read.caller),
            caller_name: Arc::clone(read.caller_name),
            counter: read.counter,
            tool: read.tool,
            count: 0,
            first: read.at,
            last: read.at,
            ms: 0.0,
        });
        counted.count += 1;
        counted.ms += read.ms;
        counted.last = counted.last.max(read.at);
    }

    /// Whether counts of an earlier minute are there. Call it before adding to them.
    pub fn is_due(&mut self, now: i64) -> bool {
        let minute = now.div_euclid(60_000);
        let is_over = std::mem::replace(&mut self.minute, minute) != minute;
        is_over && !self.counts.is_empty()
    }

    /// Takes counts for as long as there is a place for them. The rest is taken later.
    pub fn take(&mut self, mut has_place: impl FnMut() -> bool) -> Vec<ReadCount> {
        let mut taken = Vec::new();
        let keys: Vec<_> = self.counts.keys().cloned().collect();
        for key in keys {
            if !has_place() {
                break;
            }
            taken.extend(self.counts.remove(&key));
        }
        taken.sort_by_key(|counted| counted.last);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_counted_per_caller_tool_and_minute_and_none_is_forgotten() {
        let mut counts = ReadCounts::default();
        let (phone, tablet): (Arc<str>, Arc<str>) = ("phone".into(), "tablet".into());
        let start = 60_000 * 1000;
        assert!(!counts.is_due(start), "there is nothing to record");
        for (at, caller, tool) in [
            (0, &phone, "list"),
            (10, &phone, "list"),
            (20, &tablet, "list"),
        ] {
            counts.add(&Read {
                at: start + at,
                caller,
                caller_name: caller,
                counter: "cinema",
                tool,
                ms: 2.0,
            });
        }
        assert!(!counts.is_due(start + 59_999));
        assert!(counts.is_due(start + 60_000));
        let mut places = 1;
        let first = counts.take(|| std::mem::replace(&mut places, 0) == 1);
        assert_eq!(first.len(), 1, "there was one place");
        let rest = counts.take(|| true);
        let mut all: Vec<_> = first.iter().chain(&rest).collect();
        all.sort_by_key(|counted| counted.caller.clone());
        let seen: Vec<_> = all
            .iter()
            .map(|it| {
                (
                    &*it.caller,
                    it.count,
                    it.first - start,
                    it.last - start,
                    it.ms,
                )
            })
            .collect();
        assert_eq!(seen, [("phone", 2, 0, 10, 4.0), ("tablet", 1, 20, 20, 2.0)]);
        assert!(counts.take(|| true).is_empty());
    }
}
