//! Puts files in place: temporary file, sync, rename. Where the system can
//! exchange two names, the old file is checked afterwards, so that even a save
//! between our check and our rename is not lost.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use super::{
    read::{LoadedFile, read},
    stamp::Stamp,
    writers::{self, Writers},
};
use crate::errors;

/// How long to wait for processes that still have a replaced file open.
const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(1);

const TEMPORARY: &str = ".madoguchi-";

/// A new file, prepared beside its target. Deleted when dropped.
#[derive(Debug)]
pub struct PreparedFile {
    temporary: PathBuf,
    target: PathBuf,
    /// The temporary file until it is synced or placed. Whoever waits for its writers must
    /// not find this process among them.
    written: Option<File>,
}

#[derive(Debug)]
pub enum PlaceOutcome {
    /// In place, with this stamp. The old file is kept until it is dropped,
    /// since somebody may still be writing into it.
    Done {
        stamp: Stamp,
        old: Option<PreparedFile>,
    },
    /// The target was not the expected file. If it was exchanged, it is now
    /// the temporary file, and ours is in place.
    Raced { theirs: Option<PreparedFile> },
}

impl PreparedFile {
    fn beside(target: &Path) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let parent = target.parent().unwrap_or(Path::new("."));
        let name = format!(
            "{TEMPORARY}{}-{}.tmp",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        Self {
            temporary: parent.join(name),
            target: target.to_owned(),
            written: None,
        }
    }

    /// Moves a file aside.
    pub fn take_out(target: &Path) -> io::Result<Self> {
        let taken = Self::beside(target);
        fs::rename(&taken.target, &taken.temporary)?;
        Ok(taken)
    }

    /// Writes a temporary file.
    pub fn new(target: &Path, content: &str) -> io::Result<Self> {
        let mut prepared = Self::beside(target);
        let mut file = File::create_new(&prepared.temporary)?;
        file.write_all(content.as_bytes())?;
        match fs::metadata(target) {
            Ok(old) if old.permissions() != file.metadata()?.permissions() => {
                file.set_permissions(old.permissions())?;
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        // Reading the times makes the system give the rename a later
        // one.
        file.metadata()?;
        prepared.written = Some(file);
        Ok(prepared)
    }

    /// Waits until its content is on the disk.
    pub fn sync(&mut self) -> io::Result<()> {
        match self.written.take() {
            Some(file) => file.sync_data(),
            None => Ok(()),
        }
    }

    /// Moves it into place. `expected` is the file that should be there
    /// now.
    pub fn place(mut self, expected: Option<&Stamp>) -> io::Result<PlaceOutcome> {
        self.written = None;
        let stamp = Stamp::of(&fs::metadata(&self.temporary)?);
        let Some(expected) = expected else {
            return match rename_new(&self.temporary, &self.target) {
                Ok(()) => self.done(),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    Ok(PlaceOutcome::Raced { theirs: None })
                }
                Err(error) => Err(error),
            };
        };
        match exchange(&self.temporary, &self.target) {
            Ok(true) => {}
            Ok(false) => {
                fs::rename(&self.temporary, &self.target)?;
                return self.done();
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(PlaceOutcome::Raced { theirs: None });
            }
            Err(error) => return Err(error),
        }
        let out = Stamp::of(&fs::metadata(&self.temporary)?);
        if out.same_content(expected) {
            let placed = fs::metadata(&self.target).map_or(stamp, |metadata| Stamp::of(&metadata));
            return Ok(PlaceOutcome::Done {
                stamp: placed,
                old: Some(self),
            });
        }
        Ok(PlaceOutcome::Raced { theirs: Some(self) })
    }

    fn done(self) -> io::Result<PlaceOutcome> {
        let stamp = Stamp::of(&fs::metadata(&self.target)?);
        Ok(PlaceOutcome::Done { stamp, old: None })
    }

    pub fn stamp(&self) -> io::Result<Stamp> {
        Ok(Stamp::of(&fs::metadata(&self.temporary)?))
    }

    /// Waits for writers of the old file. Whether it is still unchanged.
    pub fn is_still(&self, expected: &Stamp) -> bool {
        self.wait_until_closed();
        self.stamp().is_ok_and(|now| now.same_content(expected))
    }

    /// Reads the old file, after waiting for its writers.
    pub fn load(&self, shown: &str) -> kit::Result<LoadedFile> {
        self.wait_until_closed();
        read(&self.temporary, shown, None, false)?
            .ok_or_else(|| errors::io(shown, false, io::ErrorKind::NotFound.into()))
    }

    /// A process that had the file open may not notice that it was
    /// replaced.
    fn wait_until_closed(&self) {
        let until = Instant::now() + PATIENCE;
        let is_open = |path: &Path| {
            let writers = File::open(path).map(|file| writers::of(&file));
            writers.is_ok_and(|writers| writers == Writers::Some)
        };
        // If the new file seems open too, the system cannot tell.
        while is_open(&self.temporary) && !is_open(&self.target) && Instant::now() < until {
            thread::sleep(PAUSE);
        }
    }

    /// Puts the old file back, unless there is a new one.
    pub fn put_back(self) -> io::Result<()> {
        rename_new(&self.temporary, &self.target)
    }
}

impl Drop for PreparedFile {
    fn drop(&mut self) {
        // Fails if it was renamed, which is fine.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// `false` if the system or the file system cannot do it.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn exchange(one: &Path, other: &Path) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(error) if is_unsupported(error) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn is_unsupported(error: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    matches!(error, Errno::INVAL | Errno::NOSYS | Errno::NOTSUP)
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn exchange(_: &Path, _: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Fails if the target exists.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(error) if is_unsupported(error) => rename_checked(from, to),
        result => result.map_err(io::Error::from),
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    rename_checked(from, to)
}

fn rename_checked(from: &Path, to: &Path) -> io::Result<()> {
    if to.try_exists()? {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(from, to)
}

/// Deletes temporary files of killed processes. Called under the lock, so no
/// other process is writing.
pub fn sweep(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name
            .to_str()
            .is_some_and(|name| name.starts_with(TEMPORARY) && name.ends_with(".tmp"));
        if ours {
            let _ = fs::remove_file(entry.path());
        }
    }
}
