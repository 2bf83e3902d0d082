//! Removes a room or its messages. A room's directory is renamed before the room is
//! taken off the list; otherwise it would count as a room that the list lacks. A
//! deletion that a crash interrupted is completed later.

use std::{fs, io, path::PathBuf};

use kit::{Result, durable};

use super::{
    FileStore, Room,
    dir::{self, LOG, PRESENCE, ROOMS},
    lock::Held,
    original_lock::OriginalLock,
};
use crate::{errors, model::names::RoomName, store::call::Call};

/// Prefix of the directory of a room that is being deleted. The room's name and random
/// characters follow.
const HIDDEN: &str = ".deleted-";

/// In the order in which they are released.
struct RemovalLocks {
    _files: Vec<Option<OriginalLock>>,
    _room: Held,
    registry: Held,
}

impl FileStore {
    /// Removes a room and everything in it; returns how many messages went.
    pub fn delete(&self, call: &Call, name: &RoomName) -> Result<usize> {
        let room = self.room(name)?;
        let count = {
            let locks = self.lock_to_remove(call, &room)?;
            let count = room.log.count().unwrap_or_default();
            let mut hidden: Option<Option<PathBuf>> = None;
            let unlisted = self.registry.edit(&locks.registry, |registry| {
                if hidden.is_none() {
                    self.watch.remove_room(&self.data.dir, name);
                    hidden = Some(self.hide_directory(name).map_err(errors::storage)?);
                }
                Ok(registry.rooms.remove(name.as_str()).is_some())
            });
            let ended = match (hidden.flatten(), &unlisted) {
                (None, _) => Ok(()),
                (Some(hidden), Ok(())) => fs::remove_dir_all(hidden),
                (Some(hidden), Err(_)) => {
                    self.data.dir.room(name).and_then(|p| fs::rename(hidden, p))
                }
            };
            unlisted?;
            ended.map_err(errors::storage)?;
            self.names.forget_creator(name);
            count
        };
        self.open().remove(name);
        room.bump();
        Ok(count)
    }

    /// Removes all messages of a room, archived ones too. Returns how many.
    pub fn clear(&self, call: &Call, room: &Room) -> Result<usize> {
        let locks = self.lock_to_remove(call, room)?;
        let _registry = locks.registry.file_if_space(self.data.dir.root(), ROOMS)?;
        let count = room.log.count()?;
        room.log.clear()?;
        room.has_changed();
        Ok(count)
    }

    /// Takes every lock but that on `rooms.json`, after checking that the caller may remove
    /// the room. Changes of its files that are in progress finish first.
    fn lock_to_remove(&self, call: &Call, room: &Room) -> Result<RemovalLocks> {
        let registry = self.data.lock_registry()?;
        let held = room.at.lock()?;
        self.names.may_remove(call, &room.name)?;
        let directory = room.at.path()?;
        let mut files = Vec::new();
        // The original makes the directory of a room when it is first used.
        if directory.exists() {
            for file in [PRESENCE, LOG] {
                files.push(registry.file_if_space(&directory, file)?);
            }
        }
        Ok(RemovalLocks {
            _files: files,
            _room: held,
            registry,
        })
    }

    /// `None` when there is no directory.
    fn hide_directory(&self, name: &RoomName) -> io::Result<Option<PathBuf>> {
        let path = self.data.dir.room(name)?;
        let hidden = kit::ids::random(&format!("{HIDDEN}{name}-"), 8);
        let hidden = self.data.dir.rooms().join(hidden);
        let is_hidden = dir::absent(fs::rename(&path, &hidden))?.is_some();
        // Otherwise the room could be back after a power failure: off the list, with its
        // directory.
        durable::sync_directory(&self.data.dir.rooms())?;
        Ok(is_hidden.then_some(hidden))
    }

    /// Completes deletions whose process died: a room that is still listed gets its
    /// directory back, the files of others are removed. Call it under the registry's
    /// lock, which every deletion holds.
    pub(super) fn end_deletions(&self, is_listed: impl Fn(&RoomName) -> bool) -> io::Result<()> {
        for entry in dir::absent(fs::read_dir(self.data.dir.rooms()))?
            .into_iter()
            .flatten()
        {
            let entry = entry?;
            let name = entry.file_name();
            let room = name.to_str().and_then(|name| {
                let (room, _) = name.strip_prefix(HIDDEN)?.rsplit_once('-')?;
                RoomName::parse(room).ok()
            });
            let Some(room) = room else { continue };
            if !is_listed(&room) {
                fs::remove_dir_all(entry.path())?;
                continue;
            }
            let path = self.data.dir.room(&room)?;
            // Unless the room has a new directory.
            if fs::symlink_metadata(&path).is_err() {
                fs::rename(entry.path(), &path)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{Settings, model::owners::Actor};

    /// A process may die after each of the three steps.
    #[test]
    fn an_interrupted_deletion_is_completed() {
        let directory = tempfile::tempdir().unwrap();
        let store = FileStore::new(Settings {
            data_dir: directory.path().to_owned(),
            ..Settings::default()
        });
        let [listed, gone] = ["team-a", "team-b"].map(|name| RoomName::parse(name).unwrap());
        for name in [&listed, &gone] {
            store
                .create(&Actor::Local, name, None, Timestamp::now())
                .unwrap();
            fs::write(store.data.dir.room(name).unwrap().join("notes"), "").unwrap();
            store.hide_directory(name).unwrap().unwrap();
        }
        let held = store.data.lock_registry().unwrap();
        store
            .registry
            .edit(&held, |registry| {
                Ok(registry.rooms.remove(gone.as_str()).is_some())
            })
            .unwrap();
        drop(held);
        store.sweep(Timestamp::now()).unwrap();
        let left = fs::read_dir(store.data.dir.rooms()).unwrap().flatten();
        let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["team-a"]);
        assert!(store.data.dir.room(&listed).unwrap().join("notes").exists());
    }
}
