//! The operator's commands for names that keys hold.

use std::sync::Arc;

use kit::{Result, Store};
use serde::Serialize;

pub use crate::model::owners::KeyRef;
use crate::{
    Settings,
    model::owners::Holder,
    store::{self, RoomStore},
};

/// The names that keys hold in one data directory or database.
pub struct HeldNames(Arc<dyn RoomStore>);

/// A held name, as it is shown to people.
#[derive(Debug, Clone, Serialize)]
pub struct HeldName {
    pub name: String,
    pub key: KeyRef,
    pub shared_with: Vec<KeyRef>,
    pub since: String,
}

impl HeldNames {
    /// Opens nothing yet. `database`: where the rooms are, if not in files.
    pub fn new(settings: &Settings, database: Option<Arc<dyn Store>>) -> Self {
        Self(store::open(settings, database))
    }

    pub async fn list(&self) -> Result<Vec<HeldName>> {
        let held = self.0.held_names().await?;
        Ok(held.into_iter().map(HeldName::from).collect())
    }

    /// Frees a name: the next key that uses it holds it.
    pub async fn release(&self, name: &str) -> Result<HeldName> {
        self.0.release_name(name.into()).await.map(HeldName::from)
    }

    /// Lets another key use it too.
    pub async fn share(&self, name: &str, key: &KeyRef) -> Result<HeldName> {
        let shared = self.0.share_name(name.into(), key.clone());
        shared.await.map(HeldName::from)
    }

    /// Ends the sharing with one key.
    pub async fn unshare(&self, name: &str, key: &str) -> Result<HeldName> {
        let taken_back = self.0.unshare_name(name.into(), key.into());
        taken_back.await.map(HeldName::from)
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
