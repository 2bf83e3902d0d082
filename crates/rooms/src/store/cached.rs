//! JSON files that are read far more often than written: parsed once per state
//! of the file.

use std::{
    fs,
    io::{self, Read},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use super::files::{self, Stamp};
use crate::model::forgiving::Contents;

pub struct Cached<T> {
    name: &'static str,
    slot: Mutex<Option<Slot<T>>>,
}

#[derive(Clone)]
struct Slot<T> {
    stamp: Stamp,
    state: State<T>,
}

/// What a file turned out to be.
pub enum State<T> {
    Absent,
    Read(Arc<T>),
    /// There, but not what it should be; it is set aside when it is next written.
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
            slot: Mutex::new(None),
        }
    }

    pub fn state(&self, directory: &Path) -> io::Result<State<T>> {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut file) = files::open_to_read(&directory.join(self.name))? else {
            *slot = None;
            return Ok(State::Absent);
        };
        let stamp = Stamp::of(&file.metadata()?);
        if let Some(known) = &*slot
            && known.stamp == stamp
        {
            return Ok(known.state.clone());
        }
        let mut text = String::new();
        let state = match file.read_to_string(&mut text) {
            Ok(_) if text.trim().is_empty() => State::Read(Arc::default()),
            Ok(_) => match serde_json::from_str(&text) {
                Ok(value) => State::Read(Arc::new(value)),
                Err(error) => self.damaged(&error),
            },
            Err(error) if error.kind() == io::ErrorKind::InvalidData => self.damaged(&error),
            Err(error) => return Err(error),
        };
        // What is not settled is read again next time.
        *slot = stamp.is_settled().then(|| Slot {
            stamp,
            state: state.clone(),
        });
        Ok(state)
    }

    fn damaged(&self, error: &dyn std::fmt::Display) -> State<T> {
        tracing::warn!(file = self.name, %error, "a file cannot be understood and counts as empty");
        State::Damaged
    }

    /// What is wrong with the file, in words.
    pub fn complaints(&self, directory: &Path) -> io::Result<Vec<String>> {
        let name = self.name;
        Ok(match self.state(directory)? {
            State::Absent => Vec::new(),
            State::Damaged => vec![format!(
                "{name} cannot be understood and counts as empty; the next change sets it aside."
            )],
            State::Read(known) => known
                .odd()
                .into_iter()
                .map(|odd| format!("{name}: {odd} cannot be understood and is passed over."))
                .collect(),
        })
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
        let aside = || directory.join(format!("{}.damaged-{}", self.name, now_ms()));
        match self.state(directory)? {
            State::Damaged => fs::rename(directory.join(self.name), aside())?,
            // What could not be understood goes from this file, not from the world.
            State::Read(known) if !known.odd().is_empty() => {
                let path = directory.join(self.name);
                // Not by renaming it: readers are to find it all the time.
                fs::hard_link(&path, aside()).or_else(|_| fs::copy(&path, aside()).map(drop))?;
            }
            State::Read(_) | State::Absent => {}
        }
        let json = serde_json::to_vec_pretty(value).map_err(io::Error::other)?;
        files::replace(directory, self.name, &json, durable)
    }
}

fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
