//! All keys of the desk.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use kit::{About, Caller, Result, error::UNAVAILABLE, sql::Budget, time::Clock};

use super::{
    configured_keys::ConfiguredKeys,
    identified::{Credentials, Identified, Key, Unidentified},
    stored_keys::StoredKeys,
};
use crate::{
    keys,
    settings::Identity,
    state::{self, DeskState},
};

/// The shortest time between two reloads because of unknown keys.
const RELOAD_EVERY: Duration = Duration::from_millis(50);

pub struct Keyring {
    /// Counters that always require a key over a network.
    always_needed: Vec<&'static str>,
    configured: ConfiguredKeys,
    stored: StoredKeys,
    /// When the rows were last reloaded because of an unknown key, and whether the
    /// database was there.
    reloaded: tokio::sync::Mutex<Option<(Instant, bool)>>,
    state: Arc<DeskState>,
    clock: Clock,
}

impl Keyring {
    pub fn new(
        identity: &Identity,
        counters: &[About],
        state: &Arc<DeskState>,
        clock: &Clock,
    ) -> Result<Self> {
        let guarded = counters
            .iter()
            .filter(|about| about.conventions.always_needs_key);
        Ok(Self {
            always_needed: guarded.map(|about| about.name).collect(),
            configured: ConfiguredKeys::new(identity)?,
            stored: StoredKeys::default(),
            reloaded: tokio::sync::Mutex::default(),
            state: Arc::clone(state),
            clock: clock.clone(),
        })
    }

    pub async fn identify(
        &self,
        credentials: &Credentials,
        counter: &str,
    ) -> Result<Identified, Unidentified> {
        let key = match credentials {
            Credentials::LocalUser => {
                return Ok(Identified::without_key(Caller::local_user()));
            }
            Credentials::Console => return Ok(Identified::without_key(Caller::console())),
            Credentials::Nothing { key_required } => {
                let anonymous = Identified::without_key(Caller::anonymous());
                let needed = *key_required || self.always_needs(counter);
                return match needed {
                    true => Err(Unidentified::InvalidKey),
                    false => Ok(anonymous),
                };
            }
            Credentials::Key(key) | Credentials::LocalUserWith(key) => key,
        };
        let found = self.find(key).await?.ok_or(Unidentified::InvalidKey)?;
        let found = self.used(found, counter, None)?;
        let is_local = matches!(credentials, Credentials::LocalUserWith(_));
        Ok(Identified::with_key(found, is_local))
    }

    /// Whether a counter always requires a key over a network.
    pub fn always_needs(&self, counter: &str) -> bool {
        self.always_needed.contains(&counter)
    }

    /// `Ok` if a caller may see what belongs to no single counter. Where a key is
    /// needed, any key for a counter is enough.
    pub async fn admit(&self, credentials: &Credentials) -> Result<(), Unidentified> {
        let is_admitted = match credentials {
            Credentials::LocalUser | Credentials::Console => true,
            Credentials::Nothing { key_required } => !key_required,
            Credentials::Key(key) | Credentials::LocalUserWith(key) => {
                let found = self.find(key).await?;
                found.is_some_and(|found| found.file.is_none() && !found.has_expired(self.now()))
            }
        };
        match is_admitted {
            true => Ok(()),
            false => Err(Unidentified::InvalidKey),
        }
    }

    /// Identifies the reader of a file by the key in its address.
    pub async fn identify_for_file(
        &self,
        key: &str,
        counter: &str,
        file: &str,
    ) -> Result<Identified, Unidentified> {
        let id = keys::id_of(key).ok_or(Unidentified::InvalidKey)?;
        let found = self.find_or_reload(id, key).await?;
        let found = found.ok_or(Unidentified::InvalidKey)?;
        let found = self.used(found, counter, Some(file))?;
        Ok(Identified::with_key(found, false))
    }

    /// Returns the key if it is valid for this, and notes its use.
    fn used(
        &self,
        found: Arc<Key>,
        counter: &str,
        file: Option<&str>,
    ) -> Result<Arc<Key>, Unidentified> {
        let now = self.now();
        if found.has_expired(now) || found.file.as_deref() != file {
            return Err(Unidentified::InvalidKey);
        }
        if !found.opens(counter) {
            return Err(Unidentified::OutOfScope(found.caller.clone()));
        }
        found.used_at.store(now, Ordering::Relaxed);
        Ok(found)
    }

    /// Whether a key is known without reading rows. Used for addresses that sent too
    /// many wrong keys.
    pub fn recognises(&self, credentials: &Credentials) -> bool {
        let (Credentials::Key(key) | Credentials::LocalUserWith(key)) = credentials else {
            return false;
        };
        match (keys::id_of(key), self.state.opened()) {
            (None, _) => self.configured.find(key).is_some(),
            (Some(id), Some(state)) => self.stored.find(id, key, &state.keys, self.now()).is_some(),
            (Some(_), None) => false,
        }
    }

    async fn find(&self, key: &str) -> Result<Option<Arc<Key>>, Unidentified> {
        match keys::id_of(key) {
            None => Ok(self.configured.find(key)),
            Some(id) => self.find_or_reload(id, key).await,
        }
    }

    async fn find_or_reload(&self, id: &str, key: &str) -> Result<Option<Arc<Key>>, Unidentified> {
        if let Some(found) = self.find_stored(id, key).await {
            return Ok(Some(found));
        }
        // It may have just been created, perhaps by another process.
        let is_current = self.reload().await;
        match self.find_stored(id, key).await {
            None if !is_current => Err(Unidentified::Unavailable),
            found => Ok(found),
        }
    }

    async fn find_stored(&self, id: &str, key: &str) -> Option<Arc<Key>> {
        let state = self.state.get().await.ok()?;
        self.stored.find(id, key, &state.keys, self.now())
    }

    /// Returns after the rows were read at least once since the call; `false` if the
    /// database is away. A flood of wrong keys shares one reload.
    async fn reload(&self) -> bool {
        let asked = Instant::now();
        let mut reloaded = self.reloaded.lock().await;
        if let Some((last, is_current)) = *reloaded {
            if last > asked {
                return is_current;
            }
            tokio::time::sleep_until((last + RELOAD_EVERY).into()).await;
        }
        let began = Instant::now();
        let read = self.refresh().await;
        if let Err(error) = &read {
            tracing::warn!(cause = ?error.cause, "keys could not be read");
        }
        let is_current = !read.is_err_and(|error| error.code == UNAVAILABLE);
        *reloaded = Some((began, is_current));
        is_current
    }

    /// Reads the rows if they changed.
    pub async fn refresh(&self) -> Result<()> {
        let state = self.state.get().await?;
        let known = self.stored.version();
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
            self.stored.replace(version, kept);
        }
        Ok(())
    }

    /// The name that people gave a caller, by its id; `None` if it is not known here.
    pub fn name_of(&self, caller: &str) -> Option<Arc<str>> {
        let others = [Caller::local_user(), Caller::anonymous(), Caller::desk()];
        let other = others.into_iter().find(|other| &*other.id == caller);
        let other = other.map(|other| other.name);
        let stored = || self.stored.name_of(Caller::new(caller, "").key()?);
        let configured = || self.configured.name_of(caller);
        other.or_else(stored).or_else(configured)
    }

    fn now(&self) -> i64 {
        self.clock.now().as_millisecond()
    }

    pub fn version(&self) -> Option<i64> {
        self.stored.version()
    }

    /// Cancels what was opened with keys that have expired.
    pub fn sweep(&self) {
        self.stored.sweep(self.now());
    }

    /// When stored keys were last used, for those used after `since`.
    pub fn used_since(&self, since: i64) -> Vec<(String, i64)> {
        self.stored.used_since(since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        digest::sha256,
        settings::KeySettings,
        stations::identify::{Scope, allows},
    };

    fn keyring() -> Keyring {
        let identity = Identity {
            keys: vec![KeySettings {
                name: "phone".into(),
                sha256: sha256(b"secret"),
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
        let elsewhere = keyring.identify(&key, "rooms").await;
        let elsewhere = elsewhere.unwrap_err();
        assert_eq!(elsewhere, Unidentified::OutOfScope(who.caller.clone()));
        assert_eq!(keyring.admit(&key).await, Ok(()), "any valid key is enough");
        let wrong = keyring.admit(&Credentials::Key("secre".into())).await;
        assert_eq!(wrong, Err(Unidentified::InvalidKey));
        for scope in [Scope::Any, Scope::Named] {
            assert!(allows(&who, scope, |name| name == "get_movie_list"));
            assert!(!allows(&who, scope, |name| name == "reserve_seats"));
        }
    }

    #[tokio::test]
    async fn a_wrong_key_is_refused_even_where_none_is_required() {
        let keyring = keyring();
        let who = async |credentials| keyring.identify(&credentials, "cinema").await;
        let refused = async |credentials| who(credentials).await.unwrap_err();
        let wrong = Credentials::Key("Secret".into());
        assert_eq!(refused(wrong).await, Unidentified::InvalidKey);
        let unknown = format!("mdg_{}_{}", "0".repeat(12), "0".repeat(26));
        let unknown = Credentials::Key(unknown);
        assert_eq!(refused(unknown).await, Unidentified::InvalidKey);
        let nothing = |key_required| Credentials::Nothing { key_required };
        assert_eq!(refused(nothing(true)).await, Unidentified::InvalidKey);
        assert!(who(nothing(false)).await.is_ok());
    }
}
