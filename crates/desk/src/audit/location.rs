//! Where a desk keeps its trail.

use std::{path::PathBuf, sync::Arc};

use kit::{Error, Result};

use super::{files::Files, store::AuditStore, table::Table};
use crate::state::DeskState;

#[derive(Clone)]
pub enum AuditLocation {
    Directory(PathBuf),
    Table(Arc<DeskState>),
}

impl AuditLocation {
    /// Opens the store. Needs a runtime.
    pub fn open(&self) -> Result<Arc<dyn AuditStore>> {
        Ok(match self {
            Self::Directory(path) => Arc::new(Files::new(path)),
            Self::Table(state) => {
                let runtime = tokio::runtime::Handle::try_current().map_err(Error::internal)?;
                Arc::new(Table::new(state, runtime))
            }
        })
    }
}
