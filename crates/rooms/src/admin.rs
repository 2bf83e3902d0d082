//! The operator's commands for names that keys hold.

use kit::Result;
use serde::Serialize;

pub use crate::model::owners::KeyRef;
use crate::{Settings, model::owners::Holder, store::Store};

/// The names that keys hold in one data directory.
pub struct HeldNames(Store);

/// A held name, as it is shown to people.
#[derive(Debug, Clone, Serialize)]
pub struct HeldName {
    pub name: String,
    pub key: KeyRef,
    pub shared_with: Vec<KeyRef>,
    pub since: String,
}

impl HeldNames {
    /// Touches no file.
    pub fn new(settings: Settings) -> Self {
        Self(Store::new(settings))
    }

    pub fn list(&self) -> Result<Vec<HeldName>> {
        let held = self.0.names.held()?;
        Ok(held.into_iter().map(HeldName::from).collect())
    }

    /// Frees a name: the next key that uses it holds it.
    pub fn release(&self, name: &str) -> Result<HeldName> {
        self.0.names.release(name).map(HeldName::from)
    }

    /// Lets another key use it too.
    pub fn share(&self, name: &str, key: &KeyRef) -> Result<HeldName> {
        self.0.names.share(name, key).map(HeldName::from)
    }

    /// Ends the sharing with one key.
    pub fn unshare(&self, name: &str, key: &str) -> Result<HeldName> {
        self.0.names.unshare(name, key).map(HeldName::from)
    }
}

impl From<Holder> for HeldName {
    fn from(holder: Holder) -> Self {
        Self {
            name: holder.name,
            key: holder.key,
            shared_with: holder.shared_with,
            since: holder.since,
        }
    }
}
