//! Who calls?
//!
//! A key made by `madoguchi keys create` is looked up by its public id and
//! compared as a keyed digest; one from the configuration is compared with every
//! digest there. Either takes the same time however near a guess came. The rows
//! are read into memory and read again when somebody changed them: within a
//! quarter of a second, and at once when a key is unknown.

use std::{
    collections::HashMap,
    sync::{
        Arc, RwLock,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use kit::{About, Caller, Error, Result, sql::Budget, time::Clock};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio_util::sync::CancellationToken;

use crate::{
    digest::{hex, parse_hex},
    keys::{self, Kept},
    settings::Identity,
    state::{self, DeskState, Keyed},
};

/// How long lies between two looks at the rows for unknown keys.
const LOOK_EVERY: Duration = Duration::from_millis(50);

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
    is_local: bool,
}

impl Identified {
    fn without_key(caller: Caller) -> Self {
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
    caller: Caller,
    counters: Vec<String>,
    tools: Vec<String>,
    /// What it opens in place of everything else.
    file: Option<String>,
    pub read_only: bool,
    trust_client_prompts: bool,
    expires_at: Option<i64>,
    used_at: AtomicI64,
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
    fn opens(&self, counter: &str) -> bool {
        self.counters.is_empty() || self.counters.iter().any(|name| name == counter)
    }

    /// Whether its list of tools holds this one, by whichever of its names.
    pub fn names(&self, is_named: impl Fn(&str) -> bool) -> bool {
        self.tools.iter().any(|tool| is_named(tool))
    }

    fn has_expired(&self, now: i64) -> bool {
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

pub struct Keyring {
    /// Counters that nobody reaches over a network without a key.
    always_needed: Vec<&'static str>,
    configured: Vec<([u8; 32], Arc<Key>)>,
    stored: RwLock<Stored>,
    /// When the rows were last looked at for the sake of an unknown key.
    looked: tokio::sync::Mutex<Option<Instant>>,
    state: Arc<DeskState>,
    clock: Clock,
}

#[derive(Default)]
struct Stored {
    version: Option<i64>,
    keys: HashMap<String, Vec<Digested>>,
}

/// A digest and the key it opens. After a rotation a key has two for a while.
#[derive(Clone)]
struct Digested {
    hash: [u8; 32],
    until: Option<i64>,
    key: Arc<Key>,
}

impl Keyring {
    pub fn new(
        identity: &Identity,
        counters: &[About],
        state: &Arc<DeskState>,
        clock: &Clock,
    ) -> Result<Self> {
        let guarded = counters.iter().filter(|about| about.ways.always_needs_key);
        Ok(Self {
            always_needed: guarded.map(|about| about.name).collect(),
            configured: configured(identity)?,
            stored: RwLock::default(),
            looked: tokio::sync::Mutex::default(),
            state: Arc::clone(state),
            clock: clock.clone(),
        })
    }

    /// `None` when the caller is not who it should be.
    pub async fn identify(&self, credentials: &Credentials, counter: &str) -> Option<Identified> {
        let key = match credentials {
            Credentials::LocalUser => {
                return Some(Identified::without_key(Caller::local_user()));
            }
            Credentials::Nothing { key_required } => {
                let anonymous = Identified::without_key(Caller::anonymous());
                let needed = *key_required || self.always_needs(counter);
                return (!needed).then_some(anonymous);
            }
            Credentials::Key(key) | Credentials::LocalUserWith(key) => key,
        };
        let found = self.find(key).await?;
        let found = self.used(found, counter, None)?;
        Some(Identified {
            caller: found.caller.clone(),
            key: Some(found),
            is_local: matches!(credentials, Credentials::LocalUserWith(_)),
        })
    }

    /// Whether nobody reaches a counter over a network without a key.
    pub fn always_needs(&self, counter: &str) -> bool {
        self.always_needed.contains(&counter)
    }

    /// Whether somebody may see what belongs to no counter in particular: where
    /// a key is needed, any that opens a counter will do.
    pub async fn admits(&self, credentials: &Credentials) -> bool {
        match credentials {
            Credentials::LocalUser => true,
            Credentials::Nothing { key_required } => !key_required,
            Credentials::Key(key) | Credentials::LocalUserWith(key) => {
                let now = self.clock.now().as_millisecond();
                let found = self.find(key).await;
                found.is_some_and(|found| found.file.is_none() && !found.has_expired(now))
            }
        }
    }

    /// Who reads this file with the key in its address.
    pub async fn identify_for_file(
        &self,
        key: &str,
        counter: &str,
        file: &str,
    ) -> Option<Identified> {
        let found = self.find_or_look(keys::id_of(key)?, key).await?;
        let found = self.used(found, counter, Some(file))?;
        Some(Identified {
            caller: found.caller.clone(),
            key: Some(found),
            is_local: false,
        })
    }

    /// The key, if it is good for this.
    fn used(&self, found: Arc<Key>, counter: &str, file: Option<&str>) -> Option<Arc<Key>> {
        let now = self.clock.now().as_millisecond();
        let is_good = !found.has_expired(now) && found.opens(counter);
        if !is_good || found.file.as_deref() != file {
            return None;
        }
        found.used_at.store(now, Ordering::Relaxed);
        Some(found)
    }

    /// Whether a key is one of those in memory: what can be said of it at no
    /// cost, while its address is not listened to.
    pub fn recognises(&self, credentials: &Credentials) -> bool {
        let (Credentials::Key(key) | Credentials::LocalUserWith(key)) = credentials else {
            return false;
        };
        match (keys::id_of(key), self.state.opened()) {
            (None, _) => self.find_configured(key).is_some(),
            (Some(id), Some(state)) => self.find_in_memory(id, key, &state.keys).is_some(),
            (Some(_), None) => false,
        }
    }

    async fn find(&self, key: &str) -> Option<Arc<Key>> {
        match keys::id_of(key) {
            None => self.find_configured(key),
            Some(id) => self.find_or_look(id, key).await,
        }
    }

    fn find_configured(&self, key: &str) -> Option<Arc<Key>> {
        let digest = Sha256::digest(key.as_bytes());
        let mut found = None;
        // No early exit: the time taken must not tell which key came near.
        for (known, key) in &self.configured {
            if bool::from(known.ct_eq(digest.as_slice())) {
                found = Some(Arc::clone(key));
            }
        }
        found
    }

    async fn find_or_look(&self, id: &str, key: &str) -> Option<Arc<Key>> {
        if let Some(found) = self.find_stored(id, key).await {
            return Some(found);
        }
        // Somebody may have just made it, here or elsewhere.
        self.look_again().await;
        self.find_stored(id, key).await
    }

    async fn find_stored(&self, id: &str, key: &str) -> Option<Arc<Key>> {
        let state = self.state.get().await.ok()?;
        self.find_in_memory(id, key, &state.keys)
    }

    fn find_in_memory(&self, id: &str, key: &str, keyed: &Keyed) -> Option<Arc<Key>> {
        // Worked out for unknown ids too, so that they take as long as known ones.
        let hash = keyed.mac(key.as_bytes());
        let now = self.clock.now().as_millisecond();
        let stored = self.stored.read().unwrap_or_else(|held| held.into_inner());
        let mut found = None;
        for digested in stored.keys.get(id).into_iter().flatten() {
            let good = digested.until.is_none_or(|until| now < until);
            if bool::from(digested.hash.ct_eq(&hash)) && good {
                found = Some(Arc::clone(&digested.key));
            }
        }
        found
    }

    /// Makes sure that the rows were read after this was called; a flood of wrong
    /// keys shares one look and waits for it.
    async fn look_again(&self) {
        let asked = Instant::now();
        let mut looked = self.looked.lock().await;
        if let Some(last) = *looked {
            if last > asked {
                return;
            }
            tokio::time::sleep_until((last + LOOK_EVERY).into()).await;
        }
        *looked = Some(Instant::now());
        if let Err(error) = self.refresh().await {
            tracing::warn!(cause = ?error.cause, "keys could not be read");
        }
    }

    pub fn version(&self) -> Option<i64> {
        let stored = self.stored.read();
        stored.unwrap_or_else(|held| held.into_inner()).version
    }

    /// Reads the rows if they changed.
    pub async fn refresh(&self) -> Result<()> {
        let state = self.state.get().await?;
        let known = self.version();
        let changed = state
            .store
            .query(Budget::default(), move |sql| {
                let versions = state::versions(sql)?;
                let version = versions.get(state::KEYS).copied().unwrap_or_default();
                if known == Some(version) {
                    return Ok(None);
                }
                Ok(Some((version, keys::all(sql)?)))
            })
            .await?;
        if let Some((version, kept)) = changed {
            self.replace(version, kept);
        }
        Ok(())
    }

    fn replace(&self, version: i64, kept: Vec<Kept>) {
        let mut stored = self.stored.write().unwrap_or_else(|held| held.into_inner());
        // Two readers at once: the older rows must not win.
        if stored.version.is_some_and(|known| known >= version) {
            return;
        }
        let mut before = std::mem::take(&mut stored.keys);
        for row in kept.into_iter().filter(|row| row.revoked_at.is_none()) {
            let known = before.remove(&row.id).unwrap_or_default();
            let digests = digests(&row, &known);
            // What is not among them any more opens nothing from here on.
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

    /// Ends what was opened with keys that have expired meanwhile.
    pub fn sweep(&self) {
        let now = self.clock.now().as_millisecond();
        let stored = self.stored.read().unwrap_or_else(|held| held.into_inner());
        for digested in stored.keys.values().flatten() {
            let ended = digested.until.is_some_and(|until| until <= now);
            if ended || digested.key.has_expired(now) {
                digested.key.revoked.cancel();
            }
        }
    }

    /// When each stored key was last used, where that is after `since`.
    pub fn used_since(&self, since: i64) -> Vec<(String, i64)> {
        let stored = self.stored.read().unwrap_or_else(|held| held.into_inner());
        let used = |(id, digests): (&String, &Vec<Digested>)| {
            let times = digests.iter();
            let last = times.map(|digested| digested.key.used_at.load(Ordering::Relaxed));
            let last = last.max().filter(|at| *at > since)?;
            Some((id.clone(), last))
        };
        stored.keys.iter().filter_map(used).collect()
    }
}

/// A key keeps its identity, and what was opened with it stays open, for as long
/// as its digest and its rights are the same.
fn digests(row: &Kept, known: &[Digested]) -> Vec<Digested> {
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
                caller: Caller::with_key(&row.id, &row.name),
                counters: row.counters.clone(),
                tools: row.tools.clone(),
                file: row.file.clone(),
                read_only: row.read_only,
                trust_client_prompts: row.trust_client_prompts,
                expires_at: row.expires_at,
                used_at: AtomicI64::new(0),
                revoked: CancellationToken::new(),
            }),
        };
        digests.push(Digested { hash, until, key });
    }
    digests
}

fn configured(identity: &Identity) -> Result<Vec<([u8; 32], Arc<Key>)>> {
    let invalid = |what: String| Error::new("INVALID_CONFIG", what);
    let mut configured: Vec<([u8; 32], Arc<Key>)> = Vec::new();
    for key in &identity.keys {
        let name = &key.name;
        if !keys::is_name(name) {
            return Err(invalid(format!("No key can be called `{name}`.")).next(keys::NAME_RULE));
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
                // People tell them apart by it.
                return Err(invalid(format!("Two keys are called `{name}`."))
                    .next("Give each a name of its own."));
            }
            if *other == digest {
                let what = format!("The keys `{other_name}` and `{name}` have the same sha256.");
                return Err(invalid(what).next("Make another key for one of them."));
            }
        }
        let key = Key {
            caller: Caller::with_key(&configured_id(name, &digest), name),
            counters: key.counters.clone(),
            tools: key.tools.clone(),
            file: None,
            read_only: false,
            trust_client_prompts: false,
            expires_at: None,
            used_at: AtomicI64::new(0),
            revoked: CancellationToken::new(),
        };
        configured.push((digest, Arc::new(key)));
    }
    Ok(configured)
}

/// Another desk on the same data may have another key of this name in its own
/// configuration: limits, approvals, grants and kept replies belong to one of
/// them. The `#` tells it from the id of a stored key.
fn configured_id(name: &str, digest: &[u8; 32]) -> String {
    let mut digest = hex(digest);
    digest.truncate(8);
    format!("{name}#{digest}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::KeySettings;

    fn keyring() -> Keyring {
        let digest = Sha256::digest(b"secret");
        let identity = Identity {
            keys: vec![KeySettings {
                name: "phone".into(),
                sha256: hex(&digest),
                counters: vec!["cinema".into()],
                tools: vec!["get_movie_list".into()],
            }],
            ..Identity::default()
        };
        Keyring::new(
            &identity,
            &[],
            &Arc::new(DeskState::none()),
            &Clock::system(),
        )
        .unwrap()
    }

    #[tokio::test]
    async fn a_key_opens_its_own_counters_and_tools_only() {
        let keyring = keyring();
        let key = Credentials::Key("secret".into());
        let who = keyring.identify(&key, "cinema").await.unwrap();
        assert_eq!(&*who.caller.name, "phone");
        assert!(keyring.identify(&key, "rooms").await.is_none());
        assert!(keyring.admits(&key).await, "what belongs to no counter");
        assert!(!keyring.admits(&Credentials::Key("secre".into())).await);
        for scope in [Scope::Any, Scope::Named] {
            assert!(allows(&who, scope, |name| name == "get_movie_list"));
            assert!(!allows(&who, scope, |name| name == "reserve_seats"));
        }
    }

    fn settings(name: &str, secret: &str) -> KeySettings {
        KeySettings {
            name: name.into(),
            sha256: hex(&Sha256::digest(secret.as_bytes())),
            ..KeySettings::default()
        }
    }

    #[test]
    fn configured_keys_are_told_apart_by_name_and_secret() {
        let id = |name: &str, secret: &str| {
            let keys = vec![settings(name, secret)];
            let identity = Identity {
                keys,
                ..Identity::default()
            };
            configured(&identity).unwrap()[0].1.caller.id.to_string()
        };
        assert_eq!(id("phone", "one"), id("phone", "one"));
        assert_ne!(id("phone", "one"), id("phone", "two"));
        assert_ne!(id("phone", "one"), id("tablet", "one"));
        // Of twelve letters, as the id of a stored key.
        assert_ne!(id("abcdefghijkl", "one"), "key:abcdefghijkl");
    }

    #[test]
    fn names_that_mislead_are_refused() {
        let refused = |keys: Vec<KeySettings>| {
            let identity = Identity {
                keys,
                ..Identity::default()
            };
            configured(&identity).unwrap_err().message
        };
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
            assert!(what.contains("No key can be called"), "{name:?}: {what}");
        }
        let what = refused(vec![settings("a", "one"), settings("a", "two")]);
        assert_eq!(what, "Two keys are called `a`.");
        let what = refused(vec![settings("a", "one"), settings("b", "one")]);
        assert_eq!(what, "The keys `a` and `b` have the same sha256.");
    }

    #[test]
    fn some_tools_want_to_be_named() {
        let may = |caller: Caller| {
            let who = Identified::without_key(caller);
            allows(&who, Scope::Named, |name| name == "update_inventory")
        };
        assert!(!may(Caller::anonymous()));
        assert!(may(Caller::local_user()));
    }

    #[tokio::test]
    async fn a_wrong_key_is_nobody_even_where_none_is_asked_for() {
        let keyring = keyring();
        let who = async |credentials| keyring.identify(&credentials, "cinema").await;
        assert!(who(Credentials::Key("Secret".into())).await.is_none());
        let unknown = format!("mdg_{}_{}", "0".repeat(12), "0".repeat(26));
        assert!(who(Credentials::Key(unknown)).await.is_none());
        let nothing = |key_required| Credentials::Nothing { key_required };
        assert!(who(nothing(true)).await.is_none());
        assert!(who(nothing(false)).await.is_some());
    }
}
