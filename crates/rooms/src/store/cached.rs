//! JSON files that are read far more often than written. Each state of a file is
//! parsed once.

use std::{
    fs,
    io::{self, Read},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use jiff::Timestamp;

use super::{
    file_lock::FileLock,
    files::{self, Dir, Stamp},
    lock::Guarded,
};
use crate::{errors, model::forgiving::Contents};

/// The original server empties a file before it writes it. A file that seems
/// damaged and changed within this time is read again,
const BEING_WRITTEN: Duration = Duration::from_millis(200);
/// at this interval.
const LOOK_AGAIN: Duration = Duration::from_millis(2);
/// How many kept damaged files a warning names.
const NAMED: usize = 3;

pub struct Cached<T> {
    name: &'static str,
    may_be_empty: bool,
    copied: Option<(Dir, Guarded)>,
    slot: Mutex<Option<Slot<T>>>,
}

/// What the copy beside a file holds.
pub struct Copied<T> {
    pub value: T,
    /// When it was written.
    pub at: Timestamp,
}

#[derive(Clone)]
struct Slot<T> {
    stamp: Stamp,
    state: State<T>,
}

/// The state of a file.
pub enum State<T> {
    Absent,
    Read(Arc<T>),
    /// It cannot be parsed, or it is empty or missing although its copy lists
    /// something. What it holds is kept aside when the file is next written.
    Damaged,
}

impl<T> Clone for State<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Absent => Self::Absent,
            Self::Read(value) => Self::Read(Arc::clone(value)),
            Self::Damaged => Self::Damaged,
        }
    }
}

impl<T: Contents> Cached<T> {
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            may_be_empty: false,
            copied: None,
            slot: Mutex::new(None),
        }
    }

    /// Keeps `.FILE.copy` beside the file: the original server does not replace
    /// a file as a whole, and may damage, empty or lose it. The copy is only
    /// written under the lock that guards the file.
    pub fn with_copy(self, dir: &Dir, guard: Guarded) -> Self {
        Self {
            copied: Some((dir.clone(), guard)),
            ..self
        }
    }

    /// An empty file is no damage: it is never synced to the disk, and may be
    /// empty after the power failed.
    pub fn or_empty(self) -> Self {
        Self {
            may_be_empty: true,
            ..self
        }
    }

    pub fn state(&self, directory: &Path) -> io::Result<State<T>> {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let Some(file) = files::open_to_read(&directory.join(self.name))? else {
                *slot = None;
                return Ok(match self.copy_lists_something(directory) {
                    true => State::Damaged,
                    false => State::Absent,
                });
            };
            let stamp = Stamp::of(&file.metadata()?);
            if let Some(known) = &*slot
                && known.stamp == stamp
            {
                return Ok(known.state.clone());
            }
            let (mut state, text) = self.read(file)?;
            if let State::Read(value) = &state
                && value.is_empty()
                && self.copy_lists_something(directory)
            {
                state = State::Damaged;
            }
            let may_be_unfinished = || stamp.age().is_some_and(|age| age < BEING_WRITTEN);
            if let State::Damaged = state
                && may_be_unfinished()
            {
                thread::sleep(LOOK_AGAIN);
                continue;
            }
            let is_copied = match &state {
                State::Read(value) if value.odd().is_empty() => {
                    self.copy_as_read(directory, stamp, &text)
                }
                _ => true,
            };
            // What is not settled, or not copied yet, is read again next time.
            *slot = (stamp.is_settled() && is_copied).then(|| Slot {
                stamp,
                state: state.clone(),
            });
            return Ok(state);
        }
    }

    fn read(&self, mut file: fs::File) -> io::Result<(State<T>, String)> {
        let mut text = String::new();
        let state = match file.read_to_string(&mut text) {
            Ok(_) if self.may_be_empty && text.trim().is_empty() => State::Read(Arc::default()),
            Ok(_) => match serde_json::from_str(&text) {
                Ok(value) => State::Read(Arc::new(value)),
                Err(error) => self.damaged(&error),
            },
            Err(error) if error.kind() == io::ErrorKind::InvalidData => self.damaged(&error),
            Err(error) => return Err(error),
        };
        Ok((state, text))
    }

    pub fn copy_name(&self) -> String {
        format!(".{}.copy", self.name)
    }

    /// The copy, if there is one that can be read.
    pub fn copy(&self, directory: &Path) -> Option<Copied<T>> {
        self.copied.as_ref()?;
        let path = directory.join(self.copy_name());
        let mut file = files::open_to_read(&path).ok()??;
        let mut text = String::new();
        file.read_to_string(&mut text).ok()?;
        Some(Copied {
            value: serde_json::from_str(&text).ok()?,
            at: file.metadata().ok()?.modified().ok()?.try_into().ok()?,
        })
    }

    fn copy_lists_something(&self, directory: &Path) -> bool {
        self.copy(directory)
            .is_some_and(|copy| !copy.value.is_empty())
    }

    /// Copies what another program wrote, unless somebody is changing the file.
    /// Returns whether it is worth keeping what was read: `false` to try again.
    fn copy_as_read(&self, directory: &Path, stamp: Stamp, text: &str) -> bool {
        let Some((dir, guard)) = &self.copied else {
            return true;
        };
        let copied = fs::read(directory.join(self.copy_name()));
        if copied.is_ok_and(|copied| copied == text.as_bytes()) {
            return true;
        }
        match guard.try_lock(dir) {
            Ok(_held) if Stamp::at(&directory.join(self.name)) == Some(stamp) => {
                self.write_copy(directory, text.as_bytes());
                true
            }
            Ok(_) => false,
            Err(error) => error.code == errors::STORAGE_ERROR,
        }
    }

    /// Call it only under the lock that guards the file. The copy is not synced: if a
    /// power failure loses it, the logs still tell who spoke.
    fn write_copy(&self, directory: &Path, text: &[u8]) {
        let name = self.copy_name();
        if let Err(error) = files::replace(directory, &name, text, false) {
            tracing::debug!(file = self.name, %error, "no copy could be kept");
            // An old one would bring back what has gone since.
            let _ = fs::remove_file(directory.join(name));
        }
    }

    fn damaged(&self, error: &dyn std::fmt::Display) -> State<T> {
        tracing::debug!(file = self.name, %error, "a file cannot be parsed");
        State::Damaged
    }

    /// What is wrong with the file, or was, in words.
    pub fn warnings(&self, directory: &Path) -> io::Result<Vec<String>> {
        let mut found = self.damage(directory)?;
        found.extend(self.kept_damaged(directory));
        Ok(found)
    }

    fn damage(&self, directory: &Path) -> io::Result<Vec<String>> {
        let name = self.name;
        Ok(match self.state(directory)? {
            State::Absent => Vec::new(),
            State::Damaged => vec![format!(
                "{name} is damaged, empty or missing: {}. The next change replaces it.",
                T::IF_DAMAGED
            )],
            State::Read(known) => known
                .odd()
                .into_iter()
                .map(|odd| format!("{name}: {odd} cannot be understood and is passed over."))
                .collect(),
        })
    }

    /// Which damaged files were kept, in words.
    pub fn kept_damaged(&self, directory: &Path) -> Option<String> {
        let prefix = format!("{}.damaged-", self.name);
        let entries = fs::read_dir(directory).ok()?.flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut kept: Vec<String> = names.filter(|name| name.starts_with(&prefix)).collect();
        kept.sort();
        let more = kept.len().saturating_sub(NAMED);
        let latest = kept.get(more..).filter(|latest| !latest.is_empty())?;
        let more = match more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!(
            "{} was damaged; what it held is kept in {}{more}.",
            self.name,
            latest.join(", ")
        ))
    }

    /// The file's contents, or none at all.
    pub fn load(&self, directory: &Path) -> io::Result<Arc<T>> {
        Ok(match self.state(directory)? {
            State::Read(value) => value,
            State::Absent | State::Damaged => Arc::default(),
        })
    }

    /// Replaces the file. Only under the lock that guards it.
    pub fn save(&self, directory: &Path, value: &T, durable: bool) -> io::Result<()> {
        self.save_if(directory, value, durable, || true).map(drop)
    }

    /// Replaces a file that the original server writes too, unless its lock was
    /// lost. Returns whether it did.
    pub fn save_under(&self, lock: &FileLock, directory: &Path, value: &T) -> io::Result<bool> {
        self.save_if(directory, value, true, || lock.is_held())
    }

    fn save_if(
        &self,
        directory: &Path,
        value: &T,
        durable: bool,
        may: impl FnOnce() -> bool,
    ) -> io::Result<bool> {
        // What cannot be parsed is kept in another file.
        let is_odd = match self.state(directory)? {
            State::Damaged => true,
            State::Read(known) => !known.odd().is_empty(),
            State::Absent => false,
        };
        if is_odd {
            let path = directory.join(self.name);
            let aside = directory.join(format!("{}.damaged-{}", self.name, now_ms()));
            // Copied rather than moved: readers are to find the file all the
            // time, and another program may write into this very one.
            if files::absent(fs::copy(&path, &aside))?.is_some() {
                tracing::warn!(file = self.name, kept_in = %aside.display(), "a damaged file was kept aside");
            }
        }
        let json = serde_json::to_vec_pretty(value).map_err(io::Error::other)?;
        let is_saved = files::replace_if(directory, self.name, &json, durable, may)?;
        if is_saved && self.copied.is_some() {
            self.write_copy(directory, &json);
        }
        Ok(is_saved)
    }
}

fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
