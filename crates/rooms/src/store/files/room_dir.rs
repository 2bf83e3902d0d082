//! One room's directory: where its files are, and the lock that guards them.

use std::{path::PathBuf, sync::Arc};

use kit::Result;

use super::{data::DataDir, lock::Held, registry::RoomRegistry};
use crate::{errors, model::names::RoomName};

pub struct RoomDir {
    pub name: RoomName,
    pub data: Arc<DataDir>,
    pub registry: Arc<RoomRegistry>,
}

impl RoomDir {
    pub fn path(&self) -> Result<PathBuf> {
        self.data.dir.room(&self.name).map_err(errors::storage)
    }

    /// Locks the room, if it still exists.
    pub fn lock(&self) -> Result<Held> {
        let held = self.data.lock_room(&self.name)?;
        self.registry.require(&self.name)?;
        Ok(held)
    }
}
