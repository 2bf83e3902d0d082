//! Keys from the rows, cached in memory.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, atomic::Ordering},
};

use kit::Caller;
use subtle::ConstantTimeEq;

use super::identified::Key;
use crate::{digest::parse_hex, keys::StoredKey, state::Keyed};

#[derive(Default)]
pub struct StoredKeys(RwLock<Stored>);

#[derive(Default)]
struct Stored {
    version: Option<i64>,
    keys: HashMap<String, Vec<KeyDigest>>,
    /// Of all keys by their ids, also of those that are no longer valid.
    names: HashMap<String, Arc<str>>,
}

/// A digest and its key. After a rotation a key has two digests for a while.
#[derive(Clone)]
struct KeyDigest {
    hash: [u8; 32],
    until: Option<i64>,
    key: Arc<Key>,
}

impl StoredKeys {
    fn read(&self) -> RwLockReadGuard<'_, Stored> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The version of the cached rows.
    pub fn version(&self) -> Option<i64> {
        self.read().version
    }

    /// The name of a key, which may no longer be valid.
    pub fn name_of(&self, id: &str) -> Option<Arc<str>> {
        self.read().names.get(id).cloned()
    }

    pub fn find(&self, id: &str, key: &str, keyed: &Keyed, now: i64) -> Option<Arc<Key>> {
        // Computed for unknown ids too, so that they take as long as known ones.
        let hash = keyed.mac(key.as_bytes());
        let stored = self.read();
        let mut found = None;
        for digested in stored.keys.get(id).into_iter().flatten() {
            let good = digested.until.is_none_or(|until| now < until);
            if bool::from(digested.hash.ct_eq(&hash)) && good {
                found = Some(Arc::clone(&digested.key));
            }
        }
        found
    }

    /// Replaces the cache by the rows of a newer version.
    pub fn replace(&self, version: i64, kept: Vec<StoredKey>) {
        let mut stored = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Of two simultaneous readers, the one with older rows must not win.
        if stored.version.is_some_and(|known| known >= version) {
            return;
        }
        let names = kept.iter();
        let names = names.map(|row| (row.id.clone(), row.name.as_str().into()));
        stored.names = names.collect();
        let mut before = std::mem::take(&mut stored.keys);
        for row in kept.into_iter().filter(|row| row.revoked_at.is_none()) {
            let known = before.remove(&row.id).unwrap_or_default();
            let digests = digests(&row, &known);
            // Keys whose digest is gone are no longer valid.
            for old in known {
                if !digests.iter().any(|new| Arc::ptr_eq(&new.key, &old.key)) {
                    old.key.revoked.cancel();
                }
            }
            stored.keys.insert(row.id, digests);
        }
        for gone in before.into_values().flatten() {
            gone.key.revoked.cancel();
        }
        stored.version = Some(version);
    }

    /// Cancels what was opened with keys that have expired.
    pub fn sweep(&self, now: i64) {
        let stored = self.read();
        for digested in stored.keys.values().flatten() {
            let ended = digested.until.is_some_and(|until| until <= now);
            if ended || digested.key.has_expired(now) {
                digested.key.revoked.cancel();
            }
        }
    }

    /// When keys were last used, for those used after `since`.
    pub fn used_since(&self, since: i64) -> Vec<(String, i64)> {
        let stored = self.read();
        let used = |(id, digests): (&String, &Vec<KeyDigest>)| {
            let times = digests.iter();
            let last = times.map(|digested| digested.key.used_at.load(Ordering::Relaxed));
            let last = last.max().filter(|at| *at > since)?;
            Some((id.clone(), last))
        };
        stored.keys.iter().filter_map(used).collect()
    }
}

/// A key whose digest is unchanged stays the same object, so what was opened with it
/// stays open.
fn digests(row: &StoredKey, known: &[KeyDigest]) -> Vec<KeyDigest> {
    let current = (row.hash.clone(), None);
    let previous = row
        .previous
        .clone()
        .map(|(hash, until)| (hash, Some(until)));
    let mut digests = Vec::new();
    for (hash, until) in std::iter::once(current).chain(previous) {
        let Some(hash) = parse_hex(&hash) else {
            continue;
        };
        let same = known.iter().find(|known| known.hash == hash);
        let key = match same {
            Some(known) => Arc::clone(&known.key),
            None => Arc::new(Key {
                counters: row.counters.clone(),
                tools: row.tools.clone(),
                file: row.file.clone(),
                read_only: row.read_only,
                trust_client_prompts: row.trust_client_prompts,
                expires_at: row.expires_at,
                ..Key::new(Caller::with_key(&row.id, &row.name))
            }),
        };
        digests.push(KeyDigest { hash, until, key });
    }
    digests
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_rows_do_not_replace_newer_ones() {
        let keys = StoredKeys::default();
        assert_eq!(keys.version(), None);
        for (version, then) in [(3, 3), (2, 3), (4, 4)] {
            keys.replace(version, Vec::new());
            assert_eq!(keys.version(), Some(then));
        }
    }
}
