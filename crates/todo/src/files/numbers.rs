//! Issues numbers that are unique across all worktrees of a repository. The
//! ledger is in the common git directory, or in `.todo/` without git.
//!
//! A change appends a line with everything, and the last line that can be read
//! counts. So a change that is not synced can't take with it what was, as a
//! replaced file could when the power fails.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::Instant,
};

use kit::durable;

use super::{folder::Folder, git::GitDirectories, lock, stamp::Stamp};
use crate::model::numbers::{IssuedNumbers, NumbersByProject};

const IN_GIT: &str = "madoguchi-todo";
const IN_TODO: &str = ".numbers";
/// How long the file may become before it is replaced by its last line: this many bytes, or this
/// many times that line.
const LONG: usize = 16 << 10;
const MOST_LINES: usize = 4;

/// The ledger file, and the project's key in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberLedger {
    file: PathBuf,
    project: String,
}

impl NumberLedger {
    pub fn of(folder: &Folder) -> Self {
        let git = GitDirectories::of(&folder.root).filter(|git| is_writable(&git.common));
        match git {
            Some(git) => Self {
                file: git.common.join(IN_GIT),
                project: git.inside(&folder.root).unwrap_or(".").to_owned(),
            },
            None => Self {
                file: folder.todo.join(IN_TODO),
                project: ".".into(),
            },
        }
    }

    /// Reads the project's ledger without a lock.
    pub fn look(&self) -> io::Result<IssuedNumbers> {
        let mut bytes = Vec::new();
        match open(&self.file, File::options().read(true)) {
            Ok(mut file) => file.read_to_end(&mut bytes)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            // The next change replaces it.
            Err(_) if is_link(&self.file) => 0,
            Err(error) => return Err(error),
        };
        let mut ledger = read(&String::from_utf8_lossy(&bytes));
        Ok(ledger.remove(&self.project).unwrap_or_default())
    }

    /// Changes the project's ledger under a lock. `None` if another process
    /// still holds the lock at `until`.
    pub fn change<T>(
        &self,
        until: Instant,
        change: impl FnOnce(&mut IssuedNumbers) -> T,
    ) -> io::Result<Option<T>> {
        let Some(mut file) = self.lock(until)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let mut ledger = read(&text);
        let given = ledger.entry(self.project.clone()).or_default();
        let before = given.clone();
        let result = change(given);
        if *given != before {
            self.write(&mut file, &text, &serde_json::to_string(&ledger)?)?;
        }
        Ok(Some(result))
    }

    /// Adds a line. Whoever promises what only the ledger has calls `sync` later.
    fn write(&self, file: &mut File, before: &str, line: &str) -> io::Result<()> {
        let length = before.len() + line.len();
        if length > LONG.max(MOST_LINES * line.len()) || has_other_names(file)? {
            return self.replace(file, line);
        }
        // The last line may be cut off, after a crash or on a full disk.
        let is_whole = before.is_empty() || before.ends_with('\n');
        let start = if is_whole { "" } else { "\n" };
        file.write_all(format!("{start}{line}\n").as_bytes())
    }

    /// Puts a file with this line in the place of the old one, which is locked.
    fn replace(&self, old: &File, line: &str) -> io::Result<()> {
        let mut name = self.file.clone().into_os_string();
        name.push(".new");
        let new = PathBuf::from(name);
        // From a process that was killed.
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = File::create_new(&new)?;
        file.set_permissions(old.metadata()?.permissions())?;
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_data()?;
        fs::rename(&new, &self.file)?;
        durable::sync_name(&self.file)
    }

    /// Waits until every change so far is on the disk.
    pub fn sync(&self) -> io::Result<()> {
        // To append, since not every system syncs what was opened to read.
        match open(&self.file, File::options().append(true)) {
            Ok(file) => file.sync_data()?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        }
        durable::sync_name(&self.file)
    }

    /// Opens and locks the ledger. A change may replace the file, so after
    /// waiting it must be checked that the locked file is still the current
    /// one.
    fn lock(&self, until: Instant) -> io::Result<Option<File>> {
        loop {
            if is_link(&self.file) {
                fs::remove_file(&self.file)?;
            }
            let mut options = File::options();
            let file = open(&self.file, options.read(true).append(true).create(true))?;
            if !lock::wait(&file, until)? {
                return Ok(None);
            }
            let held = Stamp::of(&file.metadata()?);
            match fs::symlink_metadata(&self.file) {
                Ok(now) if Stamp::of(&now).file == held.file => return Ok(Some(file)),
                _ => {}
            }
        }
    }
}

/// Opens a file, but nothing else: a link may lead out of the project, and a pipe would be waited
/// for.
fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file")),
    }
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

/// Whether a copy of the directory shares the file.
fn has_other_names(file: &File) -> io::Result<bool> {
    #[cfg(unix)]
    return Ok(std::os::unix::fs::MetadataExt::nlink(&file.metadata()?) > 1);
    #[cfg(not(unix))]
    Ok(false)
}

/// The last line that parses; without one, nothing. Numbers in use are added
/// whenever one is issued.
fn read(text: &str) -> NumbersByProject {
    let mut lines = text.lines().rev();
    lines
        .find_map(|line| serde_json::from_str(line).ok())
        .unwrap_or_default()
}

fn is_writable(directory: &Path) -> bool {
    fs::metadata(directory).is_ok_and(|metadata| !metadata.permissions().readonly())
        && open(
            &directory.join(IN_GIT),
            File::options().append(true).create(true),
        )
        .is_ok()
}
