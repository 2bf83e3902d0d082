//! Where indexes are kept: one directory for each catalogue, which several
//! processes open.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::Path,
};

use kit::{Error, Result};
use search::{Index, OpenError, Options};

/// Held by whoever writes the index, in whichever process.
const WRITER_LOCK: &str = ".tantivy-writer.lock";

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
        remove(&dir)?;
    }
    match Index::open(&dir, Options::default()) {
        Ok(index) => Ok(index),
        Err(OpenError::Damaged(what)) => {
            tracing::warn!(what, "the search index is damaged and will be built anew");
            remove(&dir)?;
            Index::open(&dir, Options::default()).map_err(Error::internal)
        }
        Err(error) => Err(Error::internal(error)),
    }
}

/// Removes an index unless somebody is writing it: that writer's next commit
/// would land among the files of the new one.
fn remove(dir: &Path) -> Result<()> {
    let writer = match File::open(dir.join(WRITER_LOCK)) {
        Ok(file) => Some(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(Error::internal(error)),
    };
    if let Some(Err(TryLockError::WouldBlock)) = writer.as_ref().map(File::try_lock) {
        return Err(Error::internal("another process is writing the index"));
    }
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::internal(error)),
        _ => Ok(()),
    }
}
