//! Where indexes are kept: one directory for each catalogue, which several
//! processes open.

use std::{
    fs::{self, File},
    path::Path,
};

use kit::{Error, Result};
use search::{Index, OpenError, Options};

/// Opens the index of a catalogue, or an empty one in its place when there is
/// none, when it is damaged, or when it is wanted `anew`.
pub fn open(indexes: &Path, catalogue: &str, anew: bool) -> Result<Index> {
    fs::create_dir_all(indexes).map_err(Error::internal)?;
    // Otherwise one process could take for damage what another is creating.
    // The lock goes with the handle.
    let one_at_a_time = File::open(indexes).map_err(Error::internal)?;
    one_at_a_time.lock().map_err(Error::internal)?;
    let dir = indexes.join(catalogue);
    if anew {
        Index::remove(&dir).map_err(Error::internal)?;
    }
    match Index::open(&dir, Options::default()) {
        Ok(index) => Ok(index),
        Err(OpenError::Damaged(what)) => {
            tracing::warn!(what, "the search index is damaged and will be built anew");
            Index::remove(&dir).map_err(Error::internal)?;
            Index::open(&dir, Options::default()).map_err(Error::internal)
        }
        Err(error) => Err(Error::internal(error)),
    }
}
