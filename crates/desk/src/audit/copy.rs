//! The files of a trail that processes go on writing to, for a backup.
//!
//! No segment is sealed, dropped or erased from while the copy is made, because that
//! needs the lock on the checkpoints. Records are still added; the copy ends with the
//! last whole line of each file. Segments are listed before their lengths are read, so
//! none of them refers to records that the copy lacks.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use kit::Result;

use super::{
    files::{
        directory::{Directory, ENDING},
        disk,
    },
    store::CHECKPOINTS,
};

/// A file, and how much of it belongs to the copy. It is not kept open: there may be
/// thousands of them.
pub struct AuditFile {
    /// Relative to the trail's directory, with `/`.
    pub name: String,
    pub path: PathBuf,
    pub length: u64,
}

/// The trail as it is, until this is dropped.
pub struct TrailCopy {
    files: Vec<AuditFile>,
    locks: [File; 2],
}

impl TrailCopy {
    /// The files, and the locks to keep until they are read.
    pub fn into_parts(self) -> (Vec<AuditFile>, [File; 2]) {
        (self.files, self.locks)
    }
}

/// `None` if there is no trail.
pub fn copy(directory: &Path) -> Result<Option<TrailCopy>> {
    if !directory.exists() {
        return Ok(None);
    }
    let trail = Directory::new(directory);
    // With the second one nothing is compressed meanwhile.
    let locks = [trail.locked_checkpoints()?, trail.lock_contents()?];
    let mut names = listed(directory, "")?;
    // The checkpoints first: what follows may only be newer.
    names.sort_by_key(|name| name != &format!("{CHECKPOINTS}.jsonl"));
    // After the records, because arguments are written before them.
    for inner in ["text", "torn"] {
        names.extend(listed(directory, inner)?);
    }
    let mut files = Vec::with_capacity(names.len());
    for name in names {
        let path = directory.join(&name);
        // Only these are added to.
        let grows = name.ends_with(ENDING) && !name.starts_with("torn/");
        let length = File::open(&path).and_then(|mut file| match grows {
            true => Ok(disk::last_bytes(&mut file)?.1),
            false => Ok(file.metadata()?.len()),
        });
        let length = length.map_err(|error| disk::unusable(&path, error))?;
        if length > 0 {
            files.push(AuditFile { name, path, length });
        }
    }
    Ok(Some(TrailCopy { files, locks }))
}

/// The files in the directory or in one inside it, by their names.
fn listed(directory: &Path, inner: &str) -> Result<Vec<String>> {
    let path = directory.join(inner);
    let entries = disk::if_exists(&path, fs::read_dir(&path))?;
    let mut names: Vec<String> = entries
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .map(|name| match inner {
            "" => name,
            inner => format!("{inner}/{name}"),
        })
        .collect();
    names.sort();
    Ok(names)
}
