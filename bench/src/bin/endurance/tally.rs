//! What the callers did, so that what is stored can be held against it.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

#[derive(Default)]
pub struct Tally(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    /// When each thing was made, by the desk's clock.
    made: BTreeMap<&'static str, Vec<i64>>,
    /// What each tool answered, and how often.
    told: BTreeMap<String, BTreeMap<String, u64>>,
    calls: u64,
}

impl Tally {
    /// Something was made, or may have been: its answer was lost.
    pub fn made(&self, what: &'static str, at_ms: i64) {
        self.counts().made.entry(what).or_default().push(at_ms);
    }

    pub fn told(&self, tool: &str, code: &str) {
        let mut counts = self.counts();
        counts.calls += 1;
        let told = counts.told.entry(tool.to_owned()).or_default();
        *told.entry(code.to_owned()).or_default() += 1;
    }

    pub fn calls(&self) -> u64 {
        self.counts().calls
    }

    /// How many of these were made so far, each with its time.
    pub fn times(&self, what: &str) -> Vec<i64> {
        self.counts().made.get(what).cloned().unwrap_or_default()
    }

    /// Each tool, how often it was called, and its most frequent answers.
    pub fn lines(&self) -> Vec<[String; 3]> {
        let counts = self.counts();
        let lines = counts.told.iter().map(|(tool, told)| {
            let mut sorted: Vec<_> = told.iter().collect();
            sorted.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            let most = sorted.iter().take(4);
            let most: Vec<_> = most
                .map(|(code, count)| format!("{code}: {count}"))
                .collect();
            let sum: u64 = told.values().sum();
            [tool.clone(), sum.to_string(), most.join(", ")]
        });
        lines.collect()
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
