//! Who calls?
//!
//! Keys stand in the configuration as SHA-256 digests. A key is 130 random bits,
//! so a plain digest is not open to guessing, and comparison takes the same time
//! for every key.

use kit::{Caller, Error, Result};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::settings::Identity;

/// What a request brings along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credentials {
    /// Nothing, on a listener that may or may not ask for a key.
    Nothing {
        key_required: bool,
    },
    Key(String),
    /// A process that the user started.
    LocalUser,
}

pub struct Keyring {
    keys: Vec<Key>,
}

struct Key {
    digest: [u8; 32],
    caller: Caller,
    counters: Vec<String>,
    tools: Vec<String>,
}

impl Keyring {
    pub fn new(identity: &Identity) -> Result<Self> {
        let names: Vec<&str> = identity.keys.iter().map(|key| key.name.as_str()).collect();
        if let Some(name) = names.iter().enumerate().find_map(|(at, name)| {
            let before = names.get(..at).unwrap_or_default();
            before.contains(name).then_some(name)
        }) {
            // Callers are told apart by it.
            return Err(
                Error::new("INVALID_CONFIG", format!("Two keys are called `{name}`."))
                    .next("Give each a name of its own."),
            );
        }
        let keys = identity
            .keys
            .iter()
            .map(|key| {
                Ok(Key {
                    digest: parse_digest(&key.sha256).ok_or_else(|| {
                        Error::new(
                            "INVALID_CONFIG",
                            format!("The sha256 of the key `{}` is not 64 hex digits.", key.name),
                        )
                        .next("Make it with: printf %s KEY | sha256sum")
                    })?,
                    caller: Caller::new(&format!("key:{}", key.name), &key.name),
                    counters: key.counters.clone(),
                    tools: key.tools.clone(),
                })
            })
            .collect::<Result<_>>()?;
        Ok(Self { keys })
    }

    /// `None` when the caller is not who it should be.
    pub fn identify(&self, credentials: &Credentials, counter: &str) -> Option<Caller> {
        match credentials {
            Credentials::LocalUser => Some(Caller::local_user()),
            Credentials::Nothing {
                key_required: false,
            } => Some(Caller::anonymous()),
            Credentials::Nothing { key_required: true } => None,
            Credentials::Key(secret) => {
                let digest = Sha256::digest(secret.as_bytes());
                let mut found = None;
                // No early exit: the time taken must not tell which key came near.
                for key in &self.keys {
                    if bool::from(key.digest.ct_eq(digest.as_slice())) {
                        found = Some(key);
                    }
                }
                found
                    .filter(|key| {
                        key.counters.is_empty() || key.counters.iter().any(|c| c == counter)
                    })
                    .map(|key| key.caller.clone())
            }
        }
    }

    /// A key's scope against a tool, by whichever of its names.
    pub fn allows(&self, caller: &str, scope: Scope, is_named: impl Fn(&str) -> bool) -> bool {
        let key = self.keys.iter().find(|key| &*key.caller.id == caller);
        match (key, scope) {
            (Some(key), Scope::Any) if key.tools.is_empty() => true,
            (Some(key), _) => key.tools.iter().any(|tool| is_named(tool)),
            (None, Scope::Any) => true,
            (None, Scope::Named) => caller != &*Caller::anonymous().id,
        }
    }
}

/// What a tool asks of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A key without a list of tools will do, and so will no key where none is needed.
    Any,
    /// The key must name the tool. The user's own processes need none.
    Named,
}

fn parse_digest(hex: &str) -> Option<[u8; 32]> {
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    let mut digest = [0; 32];
    for (at, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::KeySettings;

    fn keyring() -> Keyring {
        let digest = Sha256::digest(b"secret");
        Keyring::new(&Identity {
            keys: vec![KeySettings {
                name: "phone".into(),
                sha256: digest.iter().map(|b| format!("{b:02x}")).collect(),
                counters: vec!["cinema".into()],
                tools: vec!["get_movie_list".into()],
            }],
        })
        .unwrap()
    }

    #[test]
    fn a_key_opens_its_own_counters_and_tools_only() {
        let keyring = keyring();
        let key = Credentials::Key("secret".into());
        let caller = keyring.identify(&key, "cinema").unwrap();
        assert_eq!(&*caller.name, "phone");
        assert!(keyring.identify(&key, "rooms").is_none());
        assert!(keyring.allows(&caller.id, Scope::Any, |name| name == "get_movie_list"));
        assert!(!keyring.allows(&caller.id, Scope::Any, |name| name == "reserve_seats"));
    }

    #[test]
    fn some_tools_want_to_be_named() {
        let keyring = keyring();
        let may = |caller: &Caller, tool: &str| {
            keyring.allows(&caller.id, Scope::Named, |name| name == tool)
        };
        let phone = Caller::new("key:phone", "phone");
        assert!(may(&phone, "get_movie_list"));
        assert!(!may(&phone, "update_inventory"));
        assert!(!may(&Caller::anonymous(), "update_inventory"));
        assert!(may(&Caller::local_user(), "update_inventory"));
    }

    #[test]
    fn a_wrong_key_is_nobody_even_where_none_is_asked_for() {
        let keyring = keyring();
        assert!(
            keyring
                .identify(&Credentials::Key("Secret".into()), "cinema")
                .is_none()
        );
        assert!(
            keyring
                .identify(&Credentials::Nothing { key_required: true }, "cinema")
                .is_none()
        );
        assert!(
            keyring
                .identify(
                    &Credentials::Nothing {
                        key_required: false
                    },
                    "cinema"
                )
                .is_some()
        );
    }
}
