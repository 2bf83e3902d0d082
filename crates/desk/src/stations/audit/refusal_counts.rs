//! Counts requests that are refused before their tool is known, in place of a record
//! for each.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
};

use jiff::Timestamp;
use kit::Caller;

use crate::audit::entry::RefusedCount;

#[derive(Default)]
pub struct RefusalCounts {
    second: i64,
    counts: HashMap<Refused, u64>,
}

/// What is counted together. There are at most as many as known callers, counters and
/// reasons, whatever strangers send.
#[derive(PartialEq, Eq, Hash)]
struct Refused {
    caller: Arc<str>,
    /// `None`: nobody knows who it is.
    caller_name: Option<Arc<str>>,
    counter: &'static str,
    code: &'static str,
}

impl RefusalCounts {
    /// `None`: the caller is unknown. Take what is due before adding to it.
    pub fn add(&mut self, caller: Option<&Caller>, counter: &'static str, code: &'static str) {
        static UNKNOWN: LazyLock<Arc<str>> = LazyLock::new(|| "unknown".into());
        let refused = Refused {
            caller: Arc::clone(caller.map_or(&UNKNOWN, |caller| &caller.id)),
            caller_name: caller.map(|caller| Arc::clone(&caller.name)),
            counter,
            code,
        };
        *self.counts.entry(refused).or_default() += 1;
    }

    /// Takes the counts of an earlier second.
    pub fn take_due(&mut self, now: Timestamp) -> Vec<RefusedCount> {
        if self.second == now.as_second() {
            return Vec::new();
        }
        let second = std::mem::replace(&mut self.second, now.as_second());
        let counts = std::mem::take(&mut self.counts).into_iter();
        let counted = |(refused, count): (Refused, u64)| RefusedCount {
            at: second * 1000,
            caller: refused.caller,
            caller_name: refused.caller_name,
            counter: refused.counter,
            code: refused.code,
            count,
        };
        counts.map(counted).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_share_a_count_by_caller_counter_and_reason() {
        let mut counts = RefusalCounts::default();
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        assert!(counts.take_due(now).is_empty());
        // All callers with made-up keys count as one unknown caller.
        for _ in 0..100_000 {
            counts.add(None, "cinema", "INVALID_KEY");
        }
        let phone = Caller::with_key("abc", "phone");
        for code in ["OUT_OF_SCOPE", "RATE_LIMITED", "OUT_OF_SCOPE"] {
            counts.add(Some(&phone), "cinema", code);
        }
        assert!(counts.take_due(now).is_empty(), "the second is not over");
        let later = Timestamp::from_second(1_800_000_001).unwrap();
        let mut taken = counts.take_due(later);
        taken.sort_by_key(|it| it.count);
        let seen: Vec<_> = taken
            .iter()
            .map(|it| (it.caller_name.as_deref(), it.code, it.count))
            .collect();
        assert_eq!(
            seen,
            [
                (Some("phone"), "RATE_LIMITED", 1),
                (Some("phone"), "OUT_OF_SCOPE", 2),
                (None, "INVALID_KEY", 100_000),
            ]
        );
        assert_eq!(taken[2].at, 1_800_000_000_000);
    }
}
