//! An installation that is being written: by a restore, or by a move from PostgreSQL.
//!
//! Everything is first written into a hidden directory inside of each directory that it
//! is for. When all of it is there, it is renamed into place, the database last. From the
//! beginning to the end a mark beside the database keeps everybody away. It lists what is
//! being renamed, so that the next attempt can remove a half of it.

use std::{
    collections::BTreeSet,
    fs::{self, File, TryLockError},
    io::{self, Read},
    path::{Path, PathBuf},
};

use desk::private_files;
use kit::{Error, Result};

use crate::{
    location,
    marks::{INTERRUPTED, Marked},
};

const STAGING: &str = ".restoring";
const LOCK: &str = ".lock";

/// Where the parts of an embedded installation are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    pub database: PathBuf,
    /// For `audit` and `assets`.
    pub data: PathBuf,
    /// For the files of rooms.
    pub rooms: PathBuf,
}

impl Places {
    /// Everything in one directory, as `--data DIR` has it.
    pub fn in_directory(directory: &Path) -> Self {
        Self {
            database: directory.join("madoguchi.db"),
            data: directory.to_owned(),
            rooms: directory.join("rooms"),
        }
    }

    /// The directory and the path in it of a part of a backup.
    fn of(&self, part: &str) -> (&Path, PathBuf) {
        match part {
            "madoguchi.db" => {
                let name = self.database.file_name().unwrap_or_default();
                (self.beside_database(), name.into())
            }
            "desk.secret" => (self.beside_database(), part.into()),
            part => match part.strip_prefix("rooms/") {
                Some(inner) => (&self.rooms, inner.into()),
                None => (&self.data, part.into()),
            },
        }
    }

    fn beside_database(&self) -> &Path {
        let parent = self.database.parent();
        parent
            .filter(|it| !it.as_os_str().is_empty())
            .unwrap_or(Path::new("."))
    }

    fn directories(&self) -> BTreeSet<&Path> {
        [self.beside_database(), &self.data, &self.rooms].into()
    }

    /// Where they are, from whichever directory a later command is run.
    fn absolute(self) -> Result<Self> {
        let absolute = |path: PathBuf| std::path::absolute(path).map_err(Error::internal);
        Ok(Self {
            database: absolute(self.database)?,
            data: absolute(self.data)?,
            rooms: absolute(self.rooms)?,
        })
    }

    fn check_empty(&self, with_secret: bool) -> Result<()> {
        match self.occupied(with_secret).first() {
            None => Ok(()),
            Some(there) => Err(Error::new(
                "TARGET_NOT_EMPTY",
                format!("{} exists already. Nothing was written.", there.display()),
            )
            .next("Name an empty data directory with --data DIR, or move what is there away.")),
        }
    }

    /// What an installation already has here.
    fn occupied(&self, with_secret: bool) -> Vec<PathBuf> {
        let secret = with_secret.then(|| self.beside_database().join("desk.secret"));
        let files = ["rooms.json", "agents.json", "owners.json"];
        let files = files.iter().map(|name| self.rooms.join(name));
        let directories = [
            self.data.join("audit"),
            self.data.join("assets"),
            self.rooms.join("rooms"),
        ];
        let is_used = |path: &PathBuf| {
            let entries = fs::read_dir(path);
            entries.is_ok_and(|mut entries| entries.next().is_some())
        };
        let directories = directories.into_iter().filter(is_used);
        // A log that was left behind would be applied to the new database.
        let logs = ["-wal", "-journal"].map(|name| location::beside(&self.database, name));
        let files = files.chain([self.database.clone()]).chain(logs);
        let files = files.chain(secret);
        let files = files.filter(|path| fs::symlink_metadata(path).is_ok());
        directories.chain(files).collect()
    }
}

/// Removed when it is dropped, unless it was put in place.
pub struct NewInstallation {
    places: Places,
    with_secret: bool,
    /// The directories that did not exist before.
    made: Vec<PathBuf>,
    /// Beside the database.
    mark: PathBuf,
    is_placed: bool,
    _lock: File,
}

impl NewInstallation {
    /// Refuses directories that have anything of an installation. `with_secret`: an
    /// existing secret counts.
    pub fn begin(places: Places, with_secret: bool) -> Result<Self> {
        let places = places.absolute()?;
        let staging = places.beside_database().join(STAGING);
        refuse_living(&staging)?;
        let mut made = Vec::new();
        for directory in places.directories() {
            if !directory.exists() {
                made.push(directory.to_owned());
            }
            discard_leftovers(&directory.join(STAGING))?;
        }
        let marked = Marked::Database(&places.database);
        marked
            .check()
            .or_else(|error| match error.code == INTERRUPTED {
                true => roll_back(&places),
                false => Err(error),
            })?;
        places.check_empty(with_secret)?;
        let mark = marked.restoring();
        let lock = (|| {
            for directory in places.directories() {
                private_files::create_directory(&directory.join(STAGING))?;
            }
            let mut options = private_files::options();
            let file = options
                .write(true)
                .create(true)
                .truncate(false)
                .open(staging.join(LOCK))?;
            file.try_lock().map_err(io::Error::from)?;
            private_files::replace(&mark, |file| writeln!(file, "[]"))?;
            io::Result::Ok(file)
        })();
        let lock = lock.map_err(|error| unwritable(&staging, &error))?;
        Ok(Self {
            places,
            with_secret,
            made,
            mark,
            is_placed: false,
            _lock: lock,
        })
    }

    /// Where a part is written to.
    pub fn path(&self, part: &str) -> PathBuf {
        let (directory, inner) = self.places.of(part);
        directory.join(STAGING).join(inner)
    }

    /// Writes a part; it is on the disk when this returns.
    pub fn write(&self, part: &str, content: &mut dyn Read) -> Result<()> {
        let path = self.path(part);
        let mut write = || {
            if let Some(parent) = path.parent() {
                private_files::create_directory(parent)?;
            }
            let mut options = private_files::options();
            let mut file = options.write(true).create_new(true).open(&path)?;
            io::copy(content, &mut file)?;
            file.sync_all()
        };
        write().map_err(|error| unwritable(&path, &error))
    }

    /// Puts everything in place, for anybody to use.
    pub fn commit(self) -> Result<()> {
        self.place()?.finish()
    }

    /// Puts everything in place. Nobody can use it yet.
    pub fn place(mut self) -> Result<Placed> {
        // A program that was already running may have made something.
        self.places.check_empty(self.with_secret)?;
        let mut renames = Vec::new();
        for directory in self.places.directories() {
            let staging = directory.join(STAGING);
            let failed = |error: io::Error| unwritable(&staging, &error);
            for entry in fs::read_dir(&staging).map_err(failed)? {
                let name = entry.map_err(failed)?.file_name();
                if name != LOCK {
                    renames.push((staging.join(&name), directory.join(&name)));
                }
            }
            sync_all(&staging);
        }
        // Without its database nothing looks like an installation.
        renames.sort_by_key(|(_, to)| *to == self.places.database);
        let targets: Vec<&PathBuf> = renames.iter().map(|(_, to)| to).collect();
        let list = serde_json::to_string(&targets).map_err(Error::internal)?;
        private_files::replace(&self.mark, |file| writeln!(file, "{list}"))
            .map_err(|error| unwritable(&self.mark, &error))?;
        self.sync_directories();
        for (from, to) in &renames {
            if let Err(error) = fs::rename(from, to) {
                roll_back(&self.places)?;
                return Err(unwritable(to, &error));
            }
        }
        self.sync_directories();
        self.is_placed = true;
        Ok(Placed(self))
    }

    fn sync_directories(&self) {
        for directory in self.places.directories() {
            sync(directory);
        }
    }
}

impl Drop for NewInstallation {
    fn drop(&mut self) {
        if !self.is_placed {
            let _ = fs::remove_file(&self.mark);
        }
        for directory in self.places.directories() {
            let _ = fs::remove_dir_all(directory.join(STAGING));
        }
        // Only where nothing was put in place.
        for directory in self.made.iter().rev() {
            let _ = fs::remove_dir(directory);
        }
    }
}

/// An installation that is in place, behind a mark that keeps everybody away.
pub struct Placed(NewInstallation);

impl Placed {
    pub fn finish(self) -> Result<()> {
        let mark = &self.0.mark;
        fs::remove_file(mark).map_err(|error| unwritable(mark, &error))?;
        self.0.sync_directories();
        Ok(())
    }
}

/// Refuses to go on beside another process that does the same.
fn refuse_living(staging: &Path) -> Result<()> {
    if let Ok(file) = File::open(staging.join(LOCK))
        && let Err(TryLockError::WouldBlock) = file.try_lock_shared()
    {
        return Err(Error::new(
            "RESTORE_RUNNING",
            "Another process restores or moves data into this directory.",
        )
        .next("Wait until it has ended."));
    }
    Ok(())
}

/// Removes what a killed process left.
fn discard_leftovers(staging: &Path) -> Result<()> {
    match fs::remove_dir_all(staging) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unwritable(staging, &error)),
        _ => Ok(()),
    }
}

/// Removes what an interrupted restore had put in place. Nobody can have used it.
fn roll_back(places: &Places) -> Result<()> {
    let mark = Marked::Database(&places.database).restoring();
    let text = fs::read_to_string(&mark).map_err(|error| unwritable(&mark, &error))?;
    let targets: Vec<PathBuf> = serde_json::from_str(&text).unwrap_or_default();
    let directories = places.directories();
    let is_ours = |target: &PathBuf| target.parent().is_some_and(|it| directories.contains(it));
    for target in targets.into_iter().filter(is_ours) {
        let is_directory = fs::symlink_metadata(&target).is_ok_and(|it| it.is_dir());
        let removed = match is_directory {
            true => fs::remove_dir_all(&target),
            false => fs::remove_file(&target),
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(unwritable(&target, &error));
            }
            _ => {}
        }
    }
    fs::remove_file(&mark).map_err(|error| unwritable(&mark, &error))
}

/// The directories below as well, so that the names of all files are on the disk.
fn sync_all(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            sync_all(&entry.path());
        }
    }
    sync(directory);
}

fn sync(directory: &Path) {
    #[cfg(unix)]
    if let Ok(directory) = File::open(directory) {
        let _ = directory.sync_all();
    }
    #[cfg(not(unix))]
    let _ = directory;
}

fn unwritable(path: &Path, error: &io::Error) -> Error {
    Error::new(
        "DATA_UNUSABLE",
        format!("{} can't be written: {error}.", path.display()),
    )
    .next("Free some space, check its permissions, or name another directory with --data DIR.")
}
