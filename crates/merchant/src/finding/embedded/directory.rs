//! Where indexes are kept: one directory for each catalogue, which several
//! processes open.

use std::{
    error::Error,
    fs::{self, File},
    path::Path,
};

use search::{Index, OpenError, Options};

/// Opens the index of a catalogue. An empty one is made where there is none, where it
/// is damaged, or where `anew` is true.
pub fn open(
    indexes: &Path,
    catalogue: &str,
    anew: bool,
) -> Result<Index, Box<dyn Error + Send + Sync>> {
    fs::create_dir_all(indexes)?;
    // Without a lock one process could mistake an index that another is creating for
    // a damaged one. The lock is released with the handle.
    let one_at_a_time = File::open(indexes)?;
    one_at_a_time.lock()?;
    let dir = indexes.join(catalogue);
    if anew {
        Index::remove(&dir)?;
    }
    match Index::open(&dir, Options::default()) {
        Ok(index) => Ok(index),
        Err(OpenError::Damaged(what)) => {
            tracing::warn!(what, "the search index is damaged and will be rebuilt");
            Index::remove(&dir)?;
            Ok(Index::open(&dir, Options::default())?)
        }
        Err(error) => Err(error.into()),
    }
}
