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
    dir::{self, Dir, Stamp},
    lock::Guarded,
    original_lock::OriginalLock,
};
use crate::{errors, model::forgiving::Contents};

/// The original server empties a file before it writes it. A file that seems damaged
/// and changed less than this long ago is read again,
const BEING_WRITTEN: Duration = Duration::from_millis(200);
/// at this interval.
const LOOK_AGAIN: Duration = Duration::from_millis(2);
/// How many kept damaged files a warning names.
const NAMED: usize = 3;
/// Of a text up to this length, what it says is remembered.
const SHORT: usize = 64 * 1024;

pub struct Cached<T> {
    name: &'static str,
    may_be_empty: bool,
    copied: Option<(Dir, Guarded)>,
    known: Mutex<Known<T>>,
}

struct Known<T> {
    slot: Option<Slot<T>>,
    /// The text that was parsed last, and what it says. A file that has just been written
    /// is read again and again, until it counts as settled.
    parsed: Option<(String, Arc<T>)>,
}

/// What the copy beside a file holds.
pub struct Copied<T> {
    pub value: T,
    /// When it was written.
    pub at: Timestamp,
}

struct Slot<T> {
    source: Source,
    state: State<T>,
}

/// What a state was derived from. While that is unchanged, nothing is read again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    File(Stamp),
    /// The file is missing, so its copy decides whether it should be there.
    Copy(Option<Stamp>),
}

impl Source {
    fn is_settled(&self) -> bool {
        match self {
            Self::File(stamp) | Self::Copy(Some(stamp)) => stamp.is_settled(),
            Self::Copy(None) => true,
        }
    }
}

/// The state of a file.
pub enum State<T> {
    Absent,
    Read(Arc<T>),
    /// It can't be parsed, or it is empty or missing although its copy lists something.
    /// Its contents are kept in another file when the file is next written.
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
            known: Mutex::new(Known {
                slot: None,
                parsed: None,
            }),
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

    /// An empty file is not damaged: the file is never synced, so a power failure may
    /// leave it empty.
    pub fn or_empty(self) -> Self {
        Self {
            may_be_empty: true,
            ..self
        }
    }

    pub fn state(&self, directory: &Path) -> io::Result<State<T>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Known { slot, parsed } = &mut *known;
        loop {
            let file = dir::open_to_read(&directory.join(self.name))?;
            let source = match &file {
                Some(file) => Source::File(Stamp::of(&file.metadata()?)),
                None => Source::Copy(self.copy_stamp(directory)),
            };
            if let Some(slot) = slot
                && slot.source == source
            {
                return Ok(slot.state.clone());
            }
            let Some((state, is_copied)) = self.derive(directory, file, source, parsed)? else {
                thread::sleep(LOOK_AGAIN);
                continue;
            };
            // What is not settled, or not copied yet, is read again next time.
            *slot = (source.is_settled() && is_copied).then(|| Slot {
                source,
                state: state.clone(),
            });
            return Ok(state);
        }
    }

    /// The state, and whether the copy is up to date. `None` while the file may be
    /// half-written.
    fn derive(
        &self,
        directory: &Path,
        file: Option<fs::File>,
        source: Source,
        parsed: &mut Option<(String, Arc<T>)>,
    ) -> io::Result<Option<(State<T>, bool)>> {
        let (Some(file), Source::File(stamp)) = (file, source) else {
            let state = match self.copy_lists_something(directory) {
                true => State::Damaged,
                false => State::Absent,
            };
            return Ok(Some((state, true)));
        };
        let (mut state, text) = self.read(file, parsed)?;
        if let State::Read(value) = &state
            && value.is_empty()
            && self.copy_lists_something(directory)
        {
            state = State::Damaged;
        }
        let is_copied = match &state {
            State::Damaged if stamp.age().is_some_and(|age| age < BEING_WRITTEN) => {
                return Ok(None);
            }
            State::Read(value) if value.odd().is_empty() => {
                self.copy_as_read(directory, stamp, &text)
            }
            _ => true,
        };
        if let State::Read(value) = &state {
            *parsed = (text.len() <= SHORT).then(|| (text, Arc::clone(value)));
        }
        Ok(Some((state, is_copied)))
    }

    fn read(
        &self,
        mut file: fs::File,
        parsed: &Option<(String, Arc<T>)>,
    ) -> io::Result<(State<T>, String)> {
        let mut text = String::new();
        let read = file.read_to_string(&mut text);
        if let (Ok(_), Some((same, value))) = (&read, parsed)
            && *same == text
        {
            return Ok((State::Read(Arc::clone(value)), text));
        }
        let state = match read {
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
        let mut file = dir::open_to_read(&path).ok()??;
        let mut text = String::new();
        file.read_to_string(&mut text).ok()?;
        Some(Copied {
            value: serde_json::from_str(&text).ok()?,
            at: file.metadata().ok()?.modified().ok()?.try_into().ok()?,
        })
    }

    fn copy_stamp(&self, directory: &Path) -> Option<Stamp> {
        self.copied.as_ref()?;
        Stamp::at(&directory.join(self.copy_name()))
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
        if let Err(error) = dir::replace(directory, &name, text, false) {
            tracing::debug!(file = self.name, %error, "no copy could be kept");
            // An old copy would restore what was removed since.
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
    pub fn save_under(&self, lock: &OriginalLock, directory: &Path, value: &T) -> io::Result<bool> {
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
            // Copied rather than moved: readers must always find the file, and another
            // program may be writing to it.
            if dir::absent(fs::copy(&path, &aside))?.is_some() {
                tracing::warn!(file = self.name, kept_in = %aside.display(), "a damaged file was kept aside");
            }
        }
        let json = serde_json::to_vec_pretty(value).map_err(io::Error::other)?;
        let is_saved = dir::replace_if(directory, self.name, &json, durable, may)?;
        if is_saved && self.copied.is_some() {
            self.write_copy(directory, &json);
        }
        Ok(is_saved)
    }
}

fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::model::registry::Registry;

    /// Whether its contents were read shows in what is answered after they were
    /// replaced by others of the same length and time.
    #[test]
    fn a_missing_file_makes_its_copy_be_read_once() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let file = Cached::<Registry>::new("rooms.json")
            .with_copy(&Dir::new(root.to_owned()), Guarded::Registry);
        let is_damaged = || matches!(file.state(root).unwrap(), State::Damaged);
        assert!(!is_damaged());
        let written = SystemTime::now() - Duration::from_secs(10);
        let write = |text: &str, at: SystemTime| {
            let path = root.join(file.copy_name());
            fs::write(&path, text).unwrap();
            let opened = fs::File::options().write(true).open(&path).unwrap();
            opened.set_modified(at).unwrap();
        };
        write(r#"{"rooms":{"a":1}}"#, written);
        assert!(is_damaged());
        write(r#"{"rooms":{}     }"#, written);
        assert!(is_damaged(), "it was read again");
        write(r#"{"rooms":{}     }"#, written + Duration::from_secs(1));
        assert!(!is_damaged());
    }

    #[test]
    fn a_damaged_file_may_still_be_being_written_and_is_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rooms.json");
        fs::write(&path, r#"{"rooms":"#).unwrap();
        let written = fs::metadata(&path).unwrap().modified().unwrap();
        let file = Cached::<Registry>::new("rooms.json");
        assert!(matches!(
            file.state(directory.path()).unwrap(),
            State::Damaged
        ));
        assert!(written.elapsed().unwrap() >= BEING_WRITTEN);
    }
}
