//! Who calls, and what they may do.

use std::sync::{Arc, atomic::AtomicI64};

use kit::Caller;
use tokio_util::sync::CancellationToken;

/// The credentials of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credentials {
    /// None. `key_required`: the listener requires a key.
    Nothing {
        key_required: bool,
    },
    Key(String),
    /// A client that the user started as a local process.
    LocalUser,
    /// The same, limited to the rights of a key.
    LocalUserWith(String),
    /// A person who is signed in at the console. No request brings this by itself.
    Console,
}

/// Why a caller was not identified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unidentified {
    /// The key is unknown, expired or revoked, or there is none where one is needed.
    InvalidKey,
    /// The key of this caller is valid, but not for this counter.
    OutOfScope(Caller),
    /// The key is not known here, and the rows can't be read at present.
    Unavailable,
}

/// A caller and its rights.
#[derive(Debug, Clone)]
pub struct Identified {
    pub caller: Caller,
    /// `None`: a local process of the user, or no key was needed.
    pub key: Option<Arc<Key>>,
    /// Whether the client is a local process of the user.
    is_local: bool,
}

impl Identified {
    pub fn without_key(caller: Caller) -> Self {
        Self {
            is_local: caller == Caller::local_user(),
            caller,
            key: None,
        }
    }

    pub(super) fn with_key(key: Arc<Key>, is_local: bool) -> Self {
        Self {
            caller: key.caller.clone(),
            key: Some(key),
            is_local,
        }
    }

    /// Whether a person makes the call with their own hands. Nobody has to ask them
    /// whether they want it.
    pub fn is_in_person(&self) -> bool {
        self.key.is_none() && self.caller == Caller::console()
    }

    /// Whether an answer in the client's own prompt counts as the user's.
    pub fn trusts_client_prompts(&self) -> bool {
        self.is_local
            || self
                .key
                .as_ref()
                .is_some_and(|key| key.trust_client_prompts)
    }

    /// Cancelled when the key is revoked, rotated away or expires.
    pub fn revoked(&self) -> CancellationToken {
        self.key
            .as_ref()
            .map_or_else(CancellationToken::new, |key| key.revoked.clone())
    }
}

/// A valid key.
#[derive(Debug)]
pub struct Key {
    pub(super) caller: Caller,
    pub(super) counters: Vec<String>,
    pub(super) tools: Vec<String>,
    /// If set, the key opens only this file.
    pub(super) file: Option<String>,
    pub read_only: bool,
    pub(super) trust_client_prompts: bool,
    pub(super) expires_at: Option<i64>,
    pub(super) used_at: AtomicI64,
    /// Cancelled when the key becomes invalid.
    pub revoked: CancellationToken,
}

/// What a tool requires of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A key without a list of tools is enough, and so is no key where none is needed.
    Any,
    /// The key must name the tool. Local processes of the user need no key.
    Named,
}

impl Key {
    /// A key without restrictions.
    pub(super) fn new(caller: Caller) -> Self {
        Self {
            caller,
            counters: Vec::new(),
            tools: Vec::new(),
            file: None,
            read_only: false,
            trust_client_prompts: false,
            expires_at: None,
            used_at: AtomicI64::new(0),
            revoked: CancellationToken::new(),
        }
    }

    pub(super) fn opens(&self, counter: &str) -> bool {
        self.counters.is_empty() || self.counters.iter().any(|name| name == counter)
    }

    /// Whether its list of tools contains this one, by any of its names.
    pub fn names(&self, is_named: impl Fn(&str) -> bool) -> bool {
        self.tools.iter().any(|tool| is_named(tool))
    }

    pub(super) fn has_expired(&self, now: i64) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

/// Whether the caller's key allows a tool, by any of its names.
pub fn allows(who: &Identified, scope: Scope, is_named: impl Fn(&str) -> bool) -> bool {
    match (&who.key, scope) {
        (Some(key), Scope::Any) if key.tools.is_empty() => true,
        (Some(key), _) => key.names(is_named),
        (None, Scope::Any) => true,
        (None, Scope::Named) => who.caller != Caller::anonymous(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_must_be_named_is_closed_to_callers_without_a_key() {
        let may = |caller: Caller| {
            let who = Identified::without_key(caller);
            allows(&who, Scope::Named, |name| name == "update_inventory")
        };
        assert!(!may(Caller::anonymous()));
        assert!(may(Caller::local_user()));
        assert!(may(Caller::console()));
    }

    #[test]
    fn only_the_console_acts_in_person() {
        let is_in_person = |caller: Caller| Identified::without_key(caller).is_in_person();
        assert!(is_in_person(Caller::console()));
        assert!(!is_in_person(Caller::local_user()));
        assert!(!is_in_person(Caller::anonymous()));
        // A key that somebody gave this name.
        let key = Key::new(Caller::console());
        assert!(!Identified::with_key(Arc::new(key), false).is_in_person());
    }
}
