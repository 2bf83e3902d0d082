//! A room's messages: an append-only log, and an archive of older messages.
//! Memory holds an index of them, which every look brings up to date.

pub mod index;
mod mentioned;
mod packed;
pub mod pages;
mod reader;
pub mod recent;
pub mod search;
mod segment;
mod sieve;
pub mod upkeep;

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kit::Result;

use super::{
    dir::{LOG, Stamp},
    lock::Held,
    room_dir::RoomDir,
};
use crate::{errors, model::message::IndexedLine};
use index::{Files, Index};

pub struct Log {
    at: Arc<RoomDir>,
    index: Mutex<Index>,
    /// The state of the log that subscribers know.
    told: Mutex<Option<Stamp>>,
}

impl Log {
    /// Touches no file.
    pub fn new(at: &Arc<RoomDir>) -> Self {
        Self {
            at: Arc::clone(at),
            index: Mutex::default(),
            told: Mutex::default(),
        }
    }

    /// Looks at the messages as they are now.
    pub fn look<T>(&self, work: impl FnOnce(&Index, &Files) -> io::Result<T>) -> Result<T> {
        self.look_mut(|index, files| work(index, files))
    }

    /// The files are opened while the index is held, so that an older view of
    /// them never replaces a newer one.
    fn look_mut<T>(&self, work: impl FnOnce(&mut Index, &Files) -> io::Result<T>) -> Result<T> {
        let directory = self.at.path()?;
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        (|| {
            let files = Files::open(&directory)?;
            index.refresh(&files)?;
            work(&mut index, &files)
        })()
        .map_err(errors::storage)
    }

    /// How many messages there are, archived ones too.
    pub fn count(&self) -> Result<usize> {
        self.look(|index, _| Ok(index.count()))
    }

    /// Adds whole lines. They are on the disk when this returns.
    pub fn append(&self, lines: &[u8]) -> Result<()> {
        let told = |stamp| *self.told() = Some(stamp);
        upkeep::append(&self.at.path()?, lines, told).map_err(errors::storage)
    }

    /// Looks at messages of which the last is whole: a torn line is first moved to a file
    /// of its own. Lines are appended without the original's lock, whole by both servers,
    /// so the lock is only needed if the last one seems torn: it may still be on its way.
    pub fn look_mended<T>(
        &self,
        held: &Held,
        mut work: impl FnMut(&Index, &Files) -> io::Result<T>,
    ) -> Result<T> {
        let looked = self.look(|index, files| match upkeep::is_torn(index, files)? {
            true => Ok(None),
            false => work(index, files).map(Some),
        })?;
        if let Some(done) = looked {
            return Ok(done);
        }
        let directory = self.at.path()?;
        {
            let _log = held.file(&directory, LOG)?;
            self.look_mut(|index, files| upkeep::mend(&directory, index, files))?;
        }
        self.look(work)
    }

    /// Moves the oldest messages to the archive when there are more than `most`.
    pub fn shorten(&self, held: &Held, most: usize) -> Result<()> {
        if !self.look(|index, _| Ok(upkeep::is_long(index, most)))? {
            return Ok(());
        }
        let directory = self.at.path()?;
        let lock = held.file(&directory, LOG)?;
        self.look_mut(|index, files| upkeep::shorten(&directory, most, &lock, (index, files)))?;
        self.mark_told();
        Ok(())
    }

    /// Removes all messages. Under the room's lock.
    pub fn clear(&self) -> Result<()> {
        upkeep::clear(&self.at.path()?).map_err(errors::storage)?;
        self.mark_told();
        Ok(())
    }

    /// What is or was wrong with the files, in words.
    pub fn warnings(&self) -> Result<Vec<String>> {
        let (damaged, is_torn) = self.look(|index, files| {
            let tail = match &files.log {
                Some(log) => upkeep::tail_of(log, &index.log)?,
                None => None,
            };
            let is_torn = tail.is_some_and(|tail| IndexedLine::parse(&tail).is_none());
            Ok((index.damaged(), is_torn))
        })?;
        let mut warnings = Vec::new();
        if damaged > 0 {
            warnings.push(format!(
                "{damaged} damaged line(s) in the log are passed over and left as they are."
            ));
        }
        if is_torn {
            warnings.push("The log ends in a torn line; the next message sets it aside.".into());
        }
        let torn = upkeep::torn_files(&self.at.path()?);
        if !torn.is_empty() {
            warnings.push(format!(
                "A torn last line was cut from the log and kept in {}.",
                torn.join(", ")
            ));
        }
        Ok(warnings)
    }

    fn told(&self) -> MutexGuard<'_, Option<Stamp>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stamp(&self) -> Option<Stamp> {
        Stamp::at(&self.at.path().ok()?.join(LOG))
    }

    /// Subscribers know of the log as it is now.
    fn mark_told(&self) {
        let now = self.stamp();
        *self.told() = now;
    }

    /// What was there at the start is not news.
    pub fn begin_watching(&self) {
        let now = self.stamp();
        let mut told = self.told();
        *told = told.or(now);
    }

    /// Whether the log has changed since subscribers were last notified: it was replaced or
    /// has grown.
    pub fn has_news(&self) -> bool {
        let now = self.stamp();
        let essence = |stamp: Option<Stamp>| stamp.map(|stamp| (stamp.inode, stamp.length));
        let before = std::mem::replace(&mut *self.told(), now);
        essence(before) != essence(now)
    }
}
