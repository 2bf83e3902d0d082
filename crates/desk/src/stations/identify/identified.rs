//! Who calls, and what they may do.

use std::sync::{Arc, atomic::AtomicI64};

use kit::Caller;
use tokio_util::sync::CancellationToken;

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
    /// The same, held to what a key may do.
    LocalUserWith(String),
}

/// Who it is, and what they may do.
#[derive(Debug, Clone)]
pub struct Identified {
    pub caller: Caller,
    /// `None` for the user's own processes and where no key is needed.
    pub key: Option<Arc<Key>>,
    /// Whether the user started the process on the other side.
    pub(super) is_local: bool,
}

impl Identified {
    pub fn without_key(caller: Caller) -> Self {
        Self {
            is_local: caller == Caller::local_user(),
            caller,
            key: None,
        }
    }

    /// Whether the client's own prompt may answer for the user.
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

/// A key that opens something.
#[derive(Debug)]
pub struct Key {
    pub(super) caller: Caller,
    pub(super) counters: Vec<String>,
    pub(super) tools: Vec<String>,
    /// What it opens in place of everything else.
    pub(super) file: Option<String>,
    pub read_only: bool,
    pub(super) trust_client_prompts: bool,
    pub(super) expires_at: Option<i64>,
    pub(super) used_at: AtomicI64,
    /// Cancelled when the key opens nothing any more.
    pub revoked: CancellationToken,
}

/// What a tool asks of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A key without a list of tools will do, and so will no key where none is needed.
    Any,
    /// The key must name the tool. The user's own processes need none.
    Named,
}

impl Key {
    /// A key of a caller that opens everything, until fields say otherwise.
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

    /// Whether its list of tools holds this one, by whichever of its names.
    pub fn names(&self, is_named: impl Fn(&str) -> bool) -> bool {
        self.tools.iter().any(|tool| is_named(tool))
    }

    pub(super) fn has_expired(&self, now: i64) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

/// The key's scope against a tool, by whichever of its names.
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
    fn some_tools_want_to_be_named() {
        let may = |caller: Caller| {
            let who = Identified::without_key(caller);
            allows(&who, Scope::Named, |name| name == "update_inventory")
        };
        assert!(!may(Caller::anonymous()));
        assert!(may(Caller::local_user()));
    }
}
