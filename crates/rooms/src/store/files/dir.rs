//! Safe access to the data directory: symbolic links inside it are not followed, and
//! files are replaced as a whole, never edited.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use kit::durable;

use crate::{errors::Obstacle, model::names::RoomName};

pub const LOG: &str = "messages.jsonl";
pub const ARCHIVE: &str = "messages.archive.jsonl";
pub const PRESENCE: &str = "presence.json";
pub const ACTIVITY: &str = "activity.json";
pub const READS: &str = "read_status.json";
pub const ROOMS: &str = "rooms.json";
pub const AGENTS: &str = "agents.json";
pub const OWNERS: &str = "owners.json";
/// Somebody moved the rooms elsewhere: these files are an old copy.
pub const MOVED: &str = ".moved";

#[derive(Debug, Clone)]
pub struct Dir {
    root: PathBuf,
}

impl Dir {
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn rooms(&self) -> PathBuf {
        self.root.join("rooms")
    }

    /// A room's directory, after a check for symbolic links.
    pub fn room(&self, room: &RoomName) -> io::Result<PathBuf> {
        let rooms = self.rooms();
        refuse_symlink(&rooms)?;
        let path = rooms.join(room.as_str());
        refuse_symlink(&path)?;
        Ok(path)
    }

    /// The directory of locks. It is apart from the rooms, so that a deleted room's lock
    /// stays the same file for everybody.
    pub fn locks(&self) -> io::Result<PathBuf> {
        let path = self.root.join(".locks");
        refuse_symlink(&path)?;
        Ok(path)
    }
}

pub fn refuse_symlink(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.file_type().is_symlink() => Err(Obstacle::Symlink.into()),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Opens a regular file. Links are refused, and so are pipes, on which opening would
/// wait.
pub fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    #[cfg(not(unix))]
    refuse_symlink(path)?;
    let file = options.open(path).map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            return error;
        }
        // The kernel's error differs between systems, so look at what is there.
        match fs::symlink_metadata(path).map(|metadata| metadata.file_type()) {
            Ok(kind) if kind.is_symlink() => Obstacle::Symlink.into(),
            Ok(kind) if !kind.is_file() => Obstacle::NotAFile.into(),
            _ => error,
        }
    })?;
    if !file.metadata()?.is_file() {
        return Err(Obstacle::NotAFile.into());
    }
    Ok(file)
}

/// `None` when there is no such file.
pub fn open_to_read(path: &Path) -> io::Result<Option<File>> {
    absent(open(path, OpenOptions::new().read(true)))
}

pub fn absent<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Replaces a file as a whole: readers see the old one or the new one. Only
/// called under the lock that guards the file, so that one temporary name will
/// do and a crash leaves at most one behind.
pub fn replace(directory: &Path, name: &str, bytes: &[u8], durable: bool) -> io::Result<()> {
    replace_if(directory, name, bytes, durable, || true).map(drop)
}

/// The same, if `may` still says so when everything else is done. Returns
/// whether it did.
pub fn replace_if(
    directory: &Path,
    name: &str,
    bytes: &[u8],
    durable: bool,
    may: impl FnOnce() -> bool,
) -> io::Result<bool> {
    replace_with(directory, name, durable, |file| file.write_all(bytes), may)
}

/// The same, with what `fill` writes.
pub fn replace_with(
    directory: &Path,
    name: &str,
    durable: bool,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
    may: impl FnOnce() -> bool,
) -> io::Result<bool> {
    let temporary = directory.join(format!(".{name}.tmp"));
    let written = (|| {
        let mut file = open(
            &temporary,
            OpenOptions::new().write(true).create(true).truncate(true),
        )?;
        fill(&mut file)?;
        if durable {
            file.sync_data()?;
        }
        if !may() {
            return Ok(false);
        }
        fs::rename(&temporary, directory.join(name))?;
        if durable {
            durable::sync_directory(directory)?;
        }
        Ok(true)
    })();
    if !matches!(written, Ok(true)) {
        // The disk may be full: free the space of the attempt.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Whether the file at `path` is this one.
pub fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        let (here, there) = (file.metadata(), fs::symlink_metadata(path));
        matches!((here, there), (Ok(here), Ok(there)) if inode(&here) == inode(&there))
    }
    // Where an open file cannot be replaced it is always the same.
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        true
    }
}

/// Identifies a state of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamp {
    pub inode: u64,
    pub length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            inode: inode(metadata),
            length: metadata.len(),
            modified: metadata.modified().ok(),
        }
    }

    /// `None` when there is no file.
    pub fn at(path: &Path) -> Option<Self> {
        fs::symlink_metadata(path).ok().map(|m| Self::of(&m))
    }

    /// The expected stamp after so many bytes are added.
    pub fn grown_by(self, bytes: u64) -> Self {
        Self {
            length: self.length + bytes,
            ..self
        }
    }

    /// How long ago the file was changed; `None` if that is in the future.
    pub fn age(&self) -> Option<Duration> {
        SystemTime::now().duration_since(self.modified?).ok()
    }

    /// Whether the stamp identifies the state. A younger file may change again within
    /// the clock's resolution, and inode numbers are reused.
    pub fn is_settled(&self) -> bool {
        self.age()
            .is_some_and(|age| age > Duration::from_millis(50))
    }
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(metadata: &Metadata) -> u64 {
    let created = metadata.created().ok();
    let since = created.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_nanos() as u64)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Opening a directory fails only for somebody who wants to write.
    #[test]
    fn what_is_no_file_is_refused_as_such() {
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink("elsewhere", &link).unwrap();
        for (path, expected) in [
            (directory.path(), Obstacle::NotAFile),
            (&*link, Obstacle::Symlink),
        ] {
            for writes in [false, true] {
                let refused = open(path, OpenOptions::new().read(true).write(writes));
                let refused = Obstacle::behind(&refused.unwrap_err());
                assert_eq!(refused, Some(expected), "{}", path.display());
            }
        }
    }
}
