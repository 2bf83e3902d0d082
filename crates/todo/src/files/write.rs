//! Files put in their place: temporary file, sync, rename. Where the system can
//! exchange two names, what was in the place is looked at afterwards, so that
//! even a save that falls between our look and our rename is not lost.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use super::Stamp;

const TEMPORARY: &str = ".madoguchi-";

/// A new file that waits beside its place. Dropped, it goes away.
#[derive(Debug)]
pub struct Prepared {
    temporary: PathBuf,
    target: PathBuf,
}

#[derive(Debug)]
pub enum Placed {
    /// In its place, as this. What was there before is kept until the old file
    /// is dropped: somebody may still be writing into it.
    Done { stamp: Stamp, old: Option<Prepared> },
    /// What was there is not what was expected. If it was exchanged, it is now
    /// in the temporary file, and ours is in the place.
    Raced { theirs: Option<Prepared> },
}

impl Prepared {
    /// Writes the content down, durably unless it can be made again.
    pub fn new(target: &Path, content: &str, durable: bool) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let parent = target.parent().unwrap_or(Path::new("."));
        let name = format!(
            "{TEMPORARY}{}-{}.tmp",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let prepared = Self {
            temporary: parent.join(name),
            target: target.to_owned(),
        };
        let mut file = File::create_new(&prepared.temporary)?;
        file.write_all(content.as_bytes())?;
        match fs::metadata(target) {
            Ok(old) => file.set_permissions(old.permissions())?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        if durable {
            file.sync_data()?;
        }
        // Looking at the times makes the system give the rename a later one.
        file.metadata()?;
        Ok(prepared)
    }

    /// Into its place, where `expected` is the file that should be there now.
    pub fn place(self, expected: Option<&Stamp>) -> io::Result<Placed> {
        let stamp = Stamp::of(&fs::metadata(&self.temporary)?);
        let Some(expected) = expected else {
            return match rename_new(&self.temporary, &self.target) {
                Ok(()) => self.done(),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    Ok(Placed::Raced { theirs: None })
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
                return Ok(Placed::Raced { theirs: None });
            }
            Err(error) => return Err(error),
        }
        let out = Stamp::of(&fs::metadata(&self.temporary)?);
        if out.same_content(expected) {
            let placed = fs::metadata(&self.target).map_or(stamp, |metadata| Stamp::of(&metadata));
            return Ok(Placed::Done {
                stamp: placed,
                old: Some(self),
            });
        }
        Ok(Placed::Raced { theirs: Some(self) })
    }

    fn done(self) -> io::Result<Placed> {
        let stamp = Stamp::of(&fs::metadata(&self.target)?);
        Ok(Placed::Done { stamp, old: None })
    }

    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// Whether the file that was taken out is still what was expected.
    pub fn is_still(&self, expected: &Stamp) -> bool {
        fs::metadata(&self.temporary).is_ok_and(|now| Stamp::of(&now).same_content(expected))
    }

    /// Puts back what an exchange took out.
    pub fn put_back(self) -> io::Result<()> {
        exchange(&self.temporary, &self.target).map(|_| ())
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // Gone already when it was renamed.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// `false` where the system or the file system cannot do it.
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

/// Fails when the target exists.
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

/// Makes renames in a directory durable.
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}

/// Takes away what a process left that was killed while it wrote. Only called
/// under the lock, so nobody is writing now.
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
