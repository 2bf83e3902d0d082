//! Keys from the configuration, which contains their digests.

use std::sync::Arc;

use kit::{Caller, Error, Result};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::identified::Key;
use crate::{
    digest::{hex, parse_hex},
    keys,
    settings::{Identity, KeySettings},
};

pub struct ConfiguredKeys(Vec<([u8; 32], Arc<Key>)>);

impl ConfiguredKeys {
    pub fn new(identity: &Identity) -> Result<Self> {
        read(identity).map(Self)
    }

    pub fn find(&self, key: &str) -> Option<Arc<Key>> {
        let digest = Sha256::digest(key.as_bytes());
        let mut found = None;
        // No early exit: the time must not reveal which key matched.
        for (known, key) in &self.0 {
            if bool::from(known.ct_eq(digest.as_slice())) {
                found = Some(Arc::clone(key));
            }
        }
        found
    }

    /// The name of the caller with this id.
    pub fn name_of(&self, caller: &str) -> Option<Arc<str>> {
        let callers = self.0.iter().map(|(_, key)| &key.caller);
        let mut callers = callers.filter(|known| &*known.id == caller);
        callers.next().map(|known| Arc::clone(&known.name))
    }
}

/// Refuses invalid and duplicate names and digests.
fn read(identity: &Identity) -> Result<Vec<([u8; 32], Arc<Key>)>> {
    let invalid = |what: String| Error::new("INVALID_CONFIG", what);
    let mut configured: Vec<([u8; 32], Arc<Key>)> = Vec::new();
    for key in &identity.keys {
        let name = &key.name;
        if !keys::is_name(name) {
            return Err(invalid(format!("A key can't be called `{name}`.")).next(keys::NAME_RULE));
        }
        let digest = parse_hex(&key.sha256).ok_or_else(|| {
            invalid(format!(
                "The sha256 of the key `{name}` is not 64 hex digits."
            ))
            .next("Make it with: printf %s KEY | sha256sum")
        })?;
        for (other, same) in &configured {
            let other_name = &same.caller.name;
            if **other_name == **name {
                // People tell keys apart by their names.
                return Err(invalid(format!("Two keys are called `{name}`."))
                    .next("Give each a name of its own."));
            }
            if *other == digest {
                let what = format!("The keys `{other_name}` and `{name}` have the same sha256.");
                return Err(invalid(what).next("Make another key for one of them."));
            }
        }
        let caller = caller_of(name, &digest);
        let key = Key {
            counters: key.counters.clone(),
            tools: key.tools.clone(),
            ..Key::new(caller)
        };
        configured.push((digest, Arc::new(key)));
    }
    Ok(configured)
}

/// The caller whose key stands in the configuration; `None` if its digest is invalid.
pub fn configured_caller(key: &KeySettings) -> Option<Caller> {
    parse_hex(&key.sha256).map(|digest| caller_of(&key.name, &digest))
}

/// The id includes part of the digest, because another desk on the same data may have
/// another key with this name, and limits, approvals, grants and kept replies belong
/// to one of them. Ids of stored keys contain no `#`.
fn caller_of(name: &str, digest: &[u8; 32]) -> Caller {
    let mut digest = hex(digest);
    digest.truncate(8);
    Caller::with_key(&format!("{name}#{digest}"), name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::sha256;

    fn settings(name: &str, secret: &str) -> KeySettings {
        KeySettings {
            name: name.into(),
            sha256: sha256(secret.as_bytes()),
            ..KeySettings::default()
        }
    }

    fn identity(keys: Vec<KeySettings>) -> Identity {
        Identity {
            keys,
            ..Identity::default()
        }
    }

    #[test]
    fn configured_keys_differ_by_name_and_secret() {
        let id = |name: &str, secret: &str| {
            let keys = read(&identity(vec![settings(name, secret)])).unwrap();
            keys[0].1.caller.id.to_string()
        };
        assert_eq!(id("phone", "one"), id("phone", "one"));
        assert_ne!(id("phone", "one"), id("phone", "two"));
        assert_ne!(id("phone", "one"), id("tablet", "one"));
        // As long as the id of a stored key.
        assert_ne!(id("abcdefghijkl", "one"), "key:abcdefghijkl");
    }

    #[test]
    fn misleading_and_duplicate_names_are_refused() {
        let refused = |keys: Vec<KeySettings>| read(&identity(keys)).unwrap_err().message;
        for name in [
            "",
            "anonymous",
            "Local User",
            "the desk",
            "unknown",
            "key:abc",
            "a\u{1b}b",
            "a\nb",
            "a\u{202e}b",
        ] {
            let what = refused(vec![settings(name, "one")]);
            assert!(what.contains("A key can't be called"), "{name:?}: {what}");
        }
        let what = refused(vec![settings("a", "one"), settings("a", "two")]);
        assert_eq!(what, "Two keys are called `a`.");
        let what = refused(vec![settings("a", "one"), settings("b", "one")]);
        assert_eq!(what, "The keys `a` and `b` have the same sha256.");
    }
}
