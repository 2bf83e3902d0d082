//! The original server's locks: `FILE.lock` beside a file, with the number of the
//! process that holds it. It is taken in addition to our own lock around the files
//! that both servers change.
//!
//! - The original removes a lock file that is empty or that it can't read, as stale.
//!   Ours therefore appears complete, by a hard link.
//! - It also removes a lock after waiting too long for it, and sometimes one that got
//!   a new holder meanwhile. Writers therefore check [`OriginalLock::is_held`] before and
//!   after, and start again if it is not.
//! - It is only taken under our own lock of the file (`lock`), so that one of our
//!   processes at a time waits for it and removes stale ones.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
};

use kit::Result;

use super::dir::{self, Stamp, is_at};
use crate::errors;

/// The original creates its lock before it writes its number into it: one that
/// has been empty for this long was left by a crash.
const UNFINISHED: Duration = Duration::from_secs(1);
/// In bytes; no process number has more digits.
const MAX_LENGTH: u64 = 64;

/// Held until dropped.
pub struct OriginalLock {
    path: PathBuf,
    file: File,
}

impl OriginalLock {
    /// Waits until `until`; `timeout` is what the caller was promised.
    pub fn take(directory: &Path, name: &str, until: Instant, timeout: Duration) -> Result<Self> {
        let path = directory.join(format!("{name}.lock"));
        let whole = directory.join(format!(".{name}.lock.tmp"));
        let taken = (|| {
            let file = write_whole(&whole)?;
            let mut pause = Duration::from_micros(50);
            loop {
                if let Some(file) = link(&whole, &file, &path)? {
                    return Ok(Some(file));
                }
                if break_stale(&path)? {
                    continue;
                }
                let now = Instant::now();
                if now >= until {
                    return Ok(None);
                }
                thread::sleep(pause.min(until - now));
                pause = (pause * 3 / 2).min(Duration::from_millis(1));
            }
        })();
        let _ = fs::remove_file(&whole);
        match taken {
            Ok(Some(file)) => Ok(Self { path, file }),
            Ok(None) => Err(errors::file_lock_timeout(timeout.as_millis(), Some(name))),
            Err(error) => Err(errors::storage(error)),
        }
    }

    /// Whether nobody has removed it. Then no other process had the lock meanwhile.
    pub fn is_held(&self) -> bool {
        is_at(&self.file, &self.path)
    }
}

impl Drop for OriginalLock {
    fn drop(&mut self) {
        if self.is_held() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn write_whole(path: &Path) -> io::Result<File> {
    // Never over an old one: a crash may have left it as the lock itself.
    dir::absent(fs::remove_file(path))?;
    let mut file = dir::open(path, OpenOptions::new().write(true).create_new(true))?;
    file.write_all(std::process::id().to_string().as_bytes())?;
    Ok(file)
}

/// The lock's file, if nobody has the lock.
fn link(whole: &Path, file: &File, path: &Path) -> io::Result<Option<File>> {
    match fs::hard_link(whole, path) {
        Ok(()) => return Ok(Some(file.try_clone()?)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
        // A file system without hard links, on which it cannot appear whole.
        Err(_) => {}
    }
    let mut options = OpenOptions::new();
    match dir::open(path, options.write(true).create_new(true)) {
        Ok(mut file) => {
            file.write_all(std::process::id().to_string().as_bytes())?;
            Ok(Some(file))
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes a lock that nobody holds any more. Returns whether it is worth
/// trying again at once.
fn break_stale(path: &Path) -> io::Result<bool> {
    let Some(mut file) = dir::open_to_read(path)? else {
        return Ok(true);
    };
    let metadata = file.metadata()?;
    let mut text = Vec::new();
    (&mut file).take(MAX_LENGTH).read_to_end(&mut text)?;
    if !is_stale(&String::from_utf8_lossy(&text), &metadata) {
        return Ok(false);
    }
    // Renamed first: by now the name may belong to another process's lock.
    let aside = path.with_extension("lock.stale");
    if dir::absent(fs::rename(path, &aside))?.is_none() {
        return Ok(true);
    }
    let moved = fs::symlink_metadata(&aside)?;
    if Stamp::of(&moved).inode == Stamp::of(&metadata).inode {
        tracing::info!(lock = %path.display(), "a lock of a process that has ended was removed");
    } else {
        // It is another's: put it back, unless somebody took the lock meanwhile.
        let _ = fs::hard_link(&aside, path);
    }
    fs::remove_file(&aside)?;
    Ok(true)
}

/// Whether the holder of a lock with this text is gone.
fn is_stale(text: &str, metadata: &Metadata) -> bool {
    let text = text.trim_start();
    let digits = text.find(|c: char| !c.is_ascii_digit());
    let number = text.get(..digits.unwrap_or(text.len())).map(str::parse);
    let written = metadata.modified().ok();
    let age = written.and_then(|at| SystemTime::now().duration_since(at).ok());
    match number {
        // It is our number, but we don't hold the lock: an earlier process had it.
        Some(Ok(number)) if number == std::process::id() => true,
        Some(Ok(number)) => !is_alive(number) || is_older_than_the_system(age),
        _ => age.is_some_and(|age| age > UNFINISHED),
    }
}

/// After a restart of the machine the number may be another process's.
fn is_older_than_the_system(age: Option<Duration>) -> bool {
    let uptime = fs::read_to_string("/proc/uptime").ok();
    let seconds = uptime.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    match (age, seconds) {
        (Some(age), Some(seconds)) => age.as_secs_f64() > seconds + 1.0,
        _ => false,
    }
}

#[cfg(unix)]
#[expect(unsafe_code, reason = "the standard library does not offer it")]
fn is_alive(process: u32) -> bool {
    let Ok(process) = libc::pid_t::try_from(process) else {
        return false;
    };
    // Zero would mean our whole process group.
    if process == 0 {
        return false;
    }
    // SAFETY: signal 0 is never delivered; the call only asks.
    let answer = unsafe { libc::kill(process, 0) };
    // EPERM: it lives, under another user.
    answer == 0 || io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
}

/// Where it can't be checked, it counts as alive: a person can remove the lock.
#[cfg(not(unix))]
fn is_alive(_: u32) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const NAME: &str = "rooms.json";

    fn take(directory: &Path, wait: Duration) -> Result<OriginalLock> {
        OriginalLock::take(directory, NAME, Instant::now() + wait, wait)
    }

    #[test]
    fn a_lock_holds_our_number_until_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rooms.json.lock");
        let lock = take(directory.path(), Duration::ZERO).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, std::process::id().to_string());
        assert!(lock.is_held());
        drop(lock);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_lock_of_a_dead_process_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rooms.json.lock");
        let parent = std::os::unix::process::parent_id();
        let mut dead = std::process::Command::new("true").spawn().unwrap();
        dead.wait().unwrap();
        for (text, outcome) in [
            (parent.to_string(), Err("FILE_LOCK_TIMEOUT")),
            (format!("{parent}\n"), Err("FILE_LOCK_TIMEOUT")),
            (dead.id().to_string(), Ok(())),
            // An earlier process of ours, in a container whose first process we are.
            (std::process::id().to_string(), Ok(())),
            ("0".to_owned(), Ok(())),
        ] {
            fs::write(&path, &text).unwrap();
            let taken = take(directory.path(), Duration::from_millis(20));
            let taken = taken.map(drop).map_err(|error| error.code);
            assert_eq!(taken, outcome.map_err(Into::into), "{text}");
            let left: Vec<_> = fs::read_dir(directory.path()).unwrap().flatten().collect();
            assert_eq!(left.len(), usize::from(outcome.is_err()), "{left:?}");
        }
    }

    /// The original is between creating its lock and writing into it, or died there.
    #[test]
    fn an_empty_lock_is_removed_after_a_while() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rooms.json.lock");
        let file = File::create(&path).unwrap();
        file.set_modified(SystemTime::now() + 60 * UNFINISHED)
            .unwrap();
        assert!(take(directory.path(), Duration::from_millis(20)).is_err());
        file.set_modified(SystemTime::now() - 2 * UNFINISHED)
            .unwrap();
        assert!(take(directory.path(), Duration::from_millis(20)).is_ok());
    }

    #[test]
    fn a_removed_lock_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rooms.json.lock");
        let lock = take(directory.path(), Duration::ZERO).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(!lock.is_held());
        fs::write(&path, "1").unwrap();
        assert!(!lock.is_held());
        drop(lock);
        assert_eq!(fs::read_to_string(&path).unwrap(), "1", "another's stays");
    }

    #[test]
    fn a_link_in_place_of_a_lock_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rooms.json.lock");
        std::os::unix::fs::symlink("/etc/hostname", path).unwrap();
        let Err(error) = take(directory.path(), Duration::ZERO) else {
            panic!("it was followed");
        };
        assert_eq!(error.code, errors::STORAGE_ERROR);
    }

    /// Directories can't be linked, as nothing can on some file systems.
    #[test]
    fn without_hard_links_a_lock_is_created_instead() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rooms.json.lock");
        let file = tempfile::tempfile().unwrap();
        let gone = directory.path().join("gone");
        assert!(link(&gone, &file, &path).is_err());
        assert!(link(directory.path(), &file, &path).unwrap().is_some());
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, std::process::id().to_string());
        assert!(link(directory.path(), &file, &path).unwrap().is_none());
    }
}
