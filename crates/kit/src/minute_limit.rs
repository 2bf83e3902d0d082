//! At most so many events of a key in any 60 seconds, counted in this process.

use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// In milliseconds.
pub const MINUTE_MS: i64 = 60_000;

/// A limit per minute for each key. It is exact: the times of the last minute are
/// kept, eight bytes each. Times are milliseconds of any one clock.
pub struct MinuteLimit<K> {
    most: usize,
    most_keys: usize,
    table: Mutex<Table<K>>,
    /// How many keys are in the table; usually none.
    known: AtomicUsize,
}

struct Table<K> {
    times: HashMap<K, VecDeque<i64>>,
    /// The same keys, in the order in which they are looked at to be forgotten.
    order: VecDeque<K>,
}

impl<K: Clone + Eq + Hash> MinuteLimit<K> {
    /// `most` events per key and minute; 0 for no limit. Of more than `most_keys`
    /// keys some are forgotten.
    pub fn new(most: u32, most_keys: usize) -> Self {
        Self {
            most: most as usize,
            most_keys,
            table: Mutex::new(Table {
                times: HashMap::new(),
                order: VecDeque::new(),
            }),
            known: AtomicUsize::new(0),
        }
    }

    /// The milliseconds to wait if the key has reached its limit.
    pub fn wait(&self, key: &K, now: i64) -> Option<u64> {
        if self.most == 0 || self.known.load(Ordering::Relaxed) == 0 {
            return None;
        }
        self.table().wait(key, now, self.most)
    }

    /// Counts an event, whether it is over the limit or not. Returns `true` for the
    /// one that reaches it.
    pub fn count(&self, key: K, now: i64) -> bool {
        if self.most == 0 {
            return false;
        }
        let mut table = self.table();
        let is_full = table.wait(&key, now, self.most).is_some();
        self.add(&mut table, key, now) == self.most && !is_full
    }

    /// Counts an event if it is within the limit, or returns the milliseconds to wait.
    pub fn admit(&self, key: K, now: i64) -> Result<(), u64> {
        if self.most == 0 {
            return Ok(());
        }
        let mut table = self.table();
        match table.wait(&key, now, self.most) {
            Some(wait) => Err(wait),
            None => {
                self.add(&mut table, key, now);
                Ok(())
            }
        }
    }

    /// Uncounts an event that was admitted at `now`.
    pub fn take_back(&self, key: &K, now: i64) {
        if let Some(times) = self.table().times.get_mut(key)
            && let Some(at) = times.iter().rposition(|time| *time == now)
        {
            times.remove(at);
        }
    }

    /// Returns how many events of the key are counted now.
    fn add(&self, table: &mut Table<K>, key: K, now: i64) -> usize {
        if !table.times.contains_key(&key) {
            table.make_space(now, self.most_keys);
            table.order.push_back(key.clone());
        }
        let times = table.times.entry(key).or_default();
        while times.len() >= self.most || times.front().is_some_and(|first| is_over(*first, now)) {
            times.pop_front();
        }
        times.push_back(now);
        let count = times.len();
        self.known.store(table.times.len(), Ordering::Relaxed);
        count
    }

    fn table(&self) -> MutexGuard<'_, Table<K>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash> Table<K> {
    fn wait(&self, key: &K, now: i64, most: usize) -> Option<u64> {
        let times = self.times.get(key)?;
        let oldest = *times.get(times.len().checked_sub(most)?)?;
        let wait = u64::try_from(oldest + MINUTE_MS - now).ok()?;
        (wait > 0).then_some(wait)
    }

    /// For each new key two old ones are looked at, so that keys without recent
    /// events go sooner than new ones come. If that is not enough, others go.
    fn make_space(&mut self, now: i64, most_keys: usize) {
        for _ in 0..2 {
            let Some(key) = self.order.pop_front() else {
                return;
            };
            let last = self.times.get(&key).and_then(|times| times.back());
            if last.is_some_and(|last| !is_over(*last, now)) {
                self.order.push_back(key);
            } else {
                self.times.remove(&key);
            }
        }
        while self.times.len() >= most_keys
            && let Some(key) = self.order.pop_front()
        {
            self.times.remove(&key);
        }
    }
}

/// Whether a time is a minute ago or longer.
fn is_over(time: i64, now: i64) -> bool {
    now - time >= MINUTE_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_holds_in_any_minute() {
        let limit = MinuteLimit::new(3, 10);
        for (now, expected) in [
            (0, Ok(())),
            (10_000, Ok(())),
            (20_000, Ok(())),
            (30_000, Err(30_000)),
            (59_999, Err(1)),
            (60_000, Ok(())),
            (60_001, Err(9_999)),
        ] {
            assert_eq!(limit.admit("a", now), expected, "{now}");
        }
        assert_eq!(limit.wait(&"a", 65_000), Some(5_000));
        assert_eq!(limit.wait(&"b", 65_000), None);
        limit.take_back(&"a", 60_000);
        assert_eq!(limit.admit("a", 60_001), Ok(()));
    }

    #[test]
    fn the_event_that_reaches_the_limit_is_reported_once() {
        let limit = MinuteLimit::new(2, 10);
        let reached = [0, 1, 2, 3, 70_000, 70_001].map(|now| limit.count("a", now));
        assert_eq!(reached, [false, true, false, false, false, true]);
    }

    #[test]
    fn zero_means_no_limit() {
        let limit = MinuteLimit::new(0, 10);
        for _ in 0..100 {
            assert!(!limit.count("a", 0));
            assert_eq!(limit.admit("a", 0), Ok(()));
        }
        assert_eq!(limit.wait(&"a", 0), None);
        assert!(limit.table().times.is_empty());
    }

    #[test]
    fn the_table_does_not_grow_beyond_its_bound() {
        let limit = MinuteLimit::new(1, 1_000);
        let sizes = |limit: &MinuteLimit<u32>| {
            let table = limit.table();
            (table.times.len(), table.order.len())
        };
        for key in 0..3_000 {
            limit.count(key, 0);
        }
        assert_eq!(sizes(&limit), (1_000, 1_000));
        assert!(limit.wait(&2_999, 0).is_some());
        // Those without recent events go twice as fast as others come.
        for key in 0..1_000 {
            limit.count(key, MINUTE_MS);
        }
        assert_eq!(sizes(&limit), (1_000, 1_000));
        for key in 5_000..5_010 {
            limit.count(key, 2 * MINUTE_MS);
        }
        assert_eq!(sizes(&limit), (990, 990));
    }
}
