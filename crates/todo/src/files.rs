//! `.todo/` on disk: reading without seeing half a file, and where things are.
//!
//! `write` puts files in their place, `replace` where others save at the same
//! moment, `writers` tells who is writing,
//! `lock` keeps processes apart, `numbers` gives out ids across worktrees,
//! `journal` finishes what a crash interrupted.

pub mod journal;
pub mod lock;
pub mod numbers;
pub mod replace;
pub mod write;
pub mod writers;

use std::{
    fs::{self, File, Metadata},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant, SystemTime},
};

use kit::Result;

use self::writers::Writers;
use crate::errors;

pub const TASKS: &str = "task.md";
pub const INDEX: &str = "index.md";
pub const ADRS: &str = "adr";
pub const CONTEXTS: &str = "context";

/// Nobody keeps more than this in one of these files; what does is something else.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// A file written in place is read when it has been left alone for this long,
/// or for this much longer when it has become shorter: then it may have been
/// emptied to be written anew.
const QUIET: Duration = Duration::from_millis(25);
const SHORTER_QUIET: Duration = Duration::from_millis(100);
/// The same while somebody is known to have it open for writing.
const OPEN_QUIET: Duration = Duration::from_secs(1);
const OPEN_SHORTER_QUIET: Duration = Duration::from_secs(2);
/// Whoever goes on writing for longer is not waited for.
const PATIENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(5);

/// Tells whether a file is still the one that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    #[cfg(unix)]
    pub fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            file: (metadata.dev(), metadata.ino()),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    #[cfg(not(unix))]
    pub fn of(metadata: &Metadata) -> Self {
        let since = |time: io::Result<SystemTime>| {
            let time = time
                .ok()
                .and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
            time.map_or((0, 0), |at| {
                (at.as_secs() as i64, i64::from(at.subsec_nanos()))
            })
        };
        Self {
            file: (0, 0),
            size: metadata.len(),
            modified: since(metadata.modified()),
            changed: since(metadata.created()),
        }
    }

    /// The same file with the same content; a rename changes only `changed`.
    pub fn same_content(&self, other: &Self) -> bool {
        (self.file, self.size, self.modified) == (other.file, other.size, other.modified)
    }

    /// Old enough that another change would show in the times: their steps are
    /// milliseconds wide on some systems.
    pub fn is_settled(&self) -> bool {
        age(self.modified.max(self.changed)) > Duration::from_millis(20)
    }

    /// Somebody may be in the middle of writing it. A file that was renamed into
    /// its place is whole; the rename shows in `changed`.
    fn may_be_half_written(&self, was: Option<u64>, open: bool) -> bool {
        let shorter = was.is_some_and(|was| self.size < was);
        let quiet = match (open, shorter) {
            (false, false) => QUIET,
            (false, true) => SHORTER_QUIET,
            (true, false) => OPEN_QUIET,
            (true, true) => OPEN_SHORTER_QUIET,
        };
        self.modified == self.changed && age(self.modified) < quiet
    }

    pub fn modified_ms(&self) -> i64 {
        self.modified.0 * 1000 + self.modified.1 / 1_000_000
    }
}

fn age(at: (i64, i64)) -> Duration {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let then = Duration::new(at.0.max(0) as u64, at.1.clamp(0, 999_999_999) as u32);
    // A time in the future says nothing about what is going on now.
    now.checked_sub(then).unwrap_or(Duration::MAX)
}

/// A file as it was read.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub text: Arc<str>,
    pub stamp: Stamp,
    /// It was old enough when it was read: while the stamp is the same, so is
    /// the text.
    pub settled: bool,
}

/// The project's `.todo/`, which need not exist yet.
#[derive(Debug, Clone)]
pub struct Folder {
    /// Without symbolic links.
    pub root: PathBuf,
    pub todo: PathBuf,
    /// Whether to wait for somebody who may be in the middle of writing.
    pub patient: bool,
}

impl Folder {
    pub fn open(root: &Path) -> Result<Self> {
        let root = root
            .canonicalize()
            .map_err(|error| errors::io("The project directory", false, error))?;
        let folder = Self {
            todo: root.join(".todo"),
            root,
            patient: true,
        };
        let todo = folder.inside(&folder.todo, ".todo")?;
        if fs::metadata(&todo).is_ok_and(|found| !found.is_dir()) {
            return Err(errors::unreadable(".todo", "it is not a directory"));
        }
        Ok(Self { todo, ..folder })
    }

    /// The name people know a file by: `.todo/task.md`.
    pub fn shown(name: &str) -> String {
        format!(".todo/{name}")
    }

    /// Where a file of `.todo/` is. Symbolic links are followed within the
    /// project and not out of it.
    pub fn path(&self, name: &str) -> Result<PathBuf> {
        let shown = Self::shown(name);
        let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
        if !name.split('/').all(plain) {
            return Err(errors::outside(&shown));
        }
        match name.rsplit_once('/') {
            Some((parent, file)) => {
                let parent = self.inside(&self.todo.join(parent), &shown)?;
                self.inside(&parent.join(file), &shown)
            }
            None => self.inside(&self.todo.join(name), &shown),
        }
    }

    fn inside(&self, path: &Path, shown: &str) -> Result<PathBuf> {
        match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_symlink() => match path.canonicalize() {
                Ok(target) if target.starts_with(&self.root) => Ok(target),
                Ok(_) => Err(errors::outside(shown)),
                Err(error) => Err(errors::io(shown, false, error)),
            },
            Ok(_) => Ok(path.to_owned()),
            Err(error) if is_missing(&error) => Ok(path.to_owned()),
            Err(error) => Err(errors::io(shown, false, error)),
        }
    }

    /// `None` when there is no such file.
    pub fn read(&self, name: &str) -> Result<Option<Loaded>> {
        self.read_again(name, None)
    }

    /// The same for a file that had this text when it was last read.
    pub fn read_again(&self, name: &str, was: Option<&Arc<str>>) -> Result<Option<Loaded>> {
        read(&self.path(name)?, &Self::shown(name), was, self.patient)
    }

    pub fn stamp(&self, name: &str) -> Result<Option<Stamp>> {
        match fs::metadata(self.path(name)?) {
            Ok(metadata) => Ok(Some(Stamp::of(&metadata))),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(errors::io(&Self::shown(name), false, error)),
        }
    }

    /// Names of the Markdown files in one folder, without `.md`, in their order.
    pub fn stems(&self, folder: &str) -> Result<Vec<String>> {
        let shown = Self::shown(folder);
        let entries = match fs::read_dir(self.path(folder)?) {
            Ok(entries) => entries,
            Err(error) if is_missing(&error) => return Ok(Vec::new()),
            Err(error) => return Err(errors::io(&shown, false, error)),
        };
        let mut stems: Vec<String> = entries
            .filter_map(|entry| {
                let name = entry.ok()?.file_name().into_string().ok()?;
                let stem = name.strip_suffix(".md")?;
                (!stem.starts_with('.')).then(|| stem.to_owned())
            })
            .collect();
        stems.sort_unstable();
        Ok(stems)
    }
}

impl Folder {
    /// The Markdown files in one folder with their stamps, in one go.
    pub fn stamped(&self, folder: &str) -> Result<Vec<(String, Stamp)>> {
        let shown = Self::shown(folder);
        let failed = |error| errors::io(&shown, false, error);
        let entries = match fs::read_dir(self.path(folder)?) {
            Ok(entries) => entries,
            Err(error) if is_missing(&error) => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let Some(stem) = name
                .strip_suffix(".md")
                .filter(|stem| !stem.starts_with('.'))
            else {
                continue;
            };
            let metadata = match entry.metadata() {
                Ok(metadata) if metadata.is_symlink() => {
                    fs::metadata(self.path(&format!("{folder}/{name}"))?)
                }
                other => other,
            };
            match metadata {
                Ok(metadata) => files.push((stem.to_owned(), Stamp::of(&metadata))),
                // Gone since the directory was read.
                Err(error) if is_missing(&error) => {}
                Err(error) => return Err(failed(error)),
            }
        }
        files.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Ok(files)
    }

    /// A file that was looked at before, read into `bytes` without looking again:
    /// `false` when it is another file now.
    pub fn read_known(&self, name: &str, stamp: &Stamp, bytes: &mut Vec<u8>) -> bool {
        bytes.clear();
        if stamp.size > MOST_BYTES {
            return false;
        }
        let Ok(mut file) = File::open(self.todo.join(name)) else {
            return false;
        };
        let same = |file: &File| {
            let metadata = file.metadata();
            metadata.is_ok_and(|metadata| Stamp::of(&metadata) == *stamp)
        };
        let size = stamp.size as usize;
        bytes.resize(size, 0);
        same(&file) && file.read_exact(bytes).is_ok()
    }
}

/// Whether we may write into a file. Putting another one in its place would be
/// possible even so.
pub fn is_writable(path: &Path, metadata: &Metadata) -> bool {
    if metadata.permissions().readonly() {
        return false;
    }
    #[cfg(unix)]
    if rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_err() {
        return false;
    }
    true
}

pub fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// For reading, without waiting: a pipe in the place of a file has no end.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    options.read(true).open(path)
}

/// Reads a whole file, and only a whole one: while somebody writes it in place,
/// it waits a moment. `was` is what it read the last time. Who is not `patient`
/// waits only for those who have it open, not for those who may come back.
pub fn read(
    path: &Path,
    shown: &str,
    was: Option<&Arc<str>>,
    patient: bool,
) -> Result<Option<Loaded>> {
    let failed = |error| errors::io(shown, false, error);
    let until = Instant::now() + PATIENCE;
    let size = was.map(|was| was.len() as u64);
    loop {
        let mut file = match open(path) {
            Ok(file) => file,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        // Nobody can begin to write while this file is open, if that is told.
        let open = writers::of(&file) == Writers::Some;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(errors::unreadable(shown, "it is not a file"));
        }
        if metadata.len() > MOST_BYTES {
            return Err(errors::unreadable(shown, "it is too large"));
        }
        let stamp = Stamp::of(&metadata);
        let settled = stamp.is_settled();
        let wait = (patient || open) && stamp.may_be_half_written(size, open);
        if wait && Instant::now() < until {
            drop(file);
            thread::sleep(PAUSE);
            continue;
        }
        let mut bytes = Vec::with_capacity(metadata.len() as usize + 1);
        file.read_to_end(&mut bytes).map_err(failed)?;
        let after = Stamp::of(&file.metadata().map_err(failed)?);
        if !after.same_content(&stamp) {
            if Instant::now() < until {
                continue;
            }
            return Err(errors::unreadable(shown, "it keeps changing"));
        }
        // Whoever knows the text need not look at it again.
        let text = match was {
            Some(was) if was.as_bytes() == bytes => Arc::clone(was),
            _ => String::from_utf8(bytes)
                .map_err(|_| errors::unreadable(shown, "it is not UTF-8"))?
                .into(),
        };
        return Ok(Some(Loaded {
            text,
            stamp,
            settled,
        }));
    }
}
