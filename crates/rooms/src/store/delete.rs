//! The end of a room. Its directory is hidden before the room goes from the
//! list, or whoever looks at the directories would take it for a room that the
//! list lacks (`restore`). What a crash leaves half-done is ended later.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::PoisonError,
};

use kit::Result;

use super::{
    Remover, Room, Store,
    file_lock::FileLock,
    files::{self, ARCHIVE, LOG, PRESENCE, ROOMS},
    lock::{self, Held},
    upkeep::torn_files,
};
use crate::{errors, model::names::RoomName};

/// Of a directory whose room is being deleted. Its name and something random follow.
const HIDDEN: &str = ".deleted-";

/// In the order in which they are released.
struct RemovalLocks {
    _files: Vec<Option<FileLock>>,
    _room: Held,
    registry: Held,
}

impl Store {
    /// Removes a room and everything in it; returns how many messages went.
    pub fn delete(&self, remover: &Remover, name: &RoomName) -> Result<usize> {
        let room = self.room(name)?;
        let count = {
            let locks = self.lock_to_remove(remover, &room)?;
            let count = room.look(|index, _| Ok(index.count())).unwrap_or_default();
            let mut hidden: Option<Option<PathBuf>> = None;
            let unlisted = self.edit_registry(&locks.registry, |registry| {
                if hidden.is_none() {
                    self.forget_room(name);
                    hidden = Some(self.hide_directory(name).map_err(errors::storage)?);
                }
                Ok(registry.rooms.remove(name.as_str()).is_some())
            });
            let ended = match (hidden.flatten(), &unlisted) {
                (None, _) => Ok(()),
                (Some(hidden), Ok(())) => fs::remove_dir_all(hidden),
                (Some(hidden), Err(_)) => self.dir.room(name).and_then(|p| fs::rename(hidden, p)),
            };
            unlisted?;
            ended.map_err(errors::storage)?;
            self.forget_creator(name);
            count
        };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.remove(name);
        drop(open);
        room.bump();
        Ok(count)
    }

    /// Removes all messages of a room, archived ones too. Returns how many.
    pub fn clear(&self, remover: &Remover, room: &Room) -> Result<usize> {
        let locks = self.lock_to_remove(remover, room)?;
        let _registry = locks.registry.file_if_space(self.dir.root(), ROOMS)?;
        let count = room.look(|index, _| Ok(index.count()))?;
        remove_messages(&room.directory()?).map_err(errors::storage)?;
        self.told_log(room);
        self.mark_dirty(&room.name);
        room.bump();
        Ok(count)
    }

    /// Every lock but that on `rooms.json`, for somebody who may remove a room
    /// or its messages: whoever changes any of its files goes first.
    fn lock_to_remove(&self, remover: &Remover, room: &Room) -> Result<RemovalLocks> {
        let timeout = self.settings.lock_timeout();
        let registry = lock::registry(&self.dir, timeout)?;
        let held = lock::room(&self.dir, &room.name, timeout)?;
        self.require(&room.name)?;
        self.may_remove(remover, &room.name)?;
        let directory = room.directory()?;
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
        let path = self.dir.room(name)?;
        let hidden = kit::ids::random(&format!("{HIDDEN}{name}-"), 8);
        let hidden = self.dir.rooms().join(hidden);
        Ok(files::absent(fs::rename(&path, &hidden))?.map(|()| hidden))
    }

    /// Ends what a process began that died while it deleted a room: a room that
    /// is still listed is as it was, the files of any other go. Under the
    /// registry's lock, under which nobody is deleting.
    pub(super) fn end_deletions(&self, is_listed: impl Fn(&RoomName) -> bool) -> io::Result<()> {
        for entry in files::absent(fs::read_dir(self.dir.rooms()))?
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
            let path = self.dir.room(&room)?;
            // Not over what has come to the room since.
            if fs::symlink_metadata(&path).is_err() {
                fs::rename(entry.path(), &path)?;
            }
        }
        Ok(())
    }
}

fn remove_messages(directory: &Path) -> io::Result<()> {
    files::replace(directory, LOG, b"", true)?;
    files::absent(fs::remove_file(directory.join(ARCHIVE)))?;
    for name in torn_files(directory) {
        fs::remove_file(directory.join(name))?;
    }
    files::sync_directory(directory)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{Settings, model::owners::Actor};

    /// A process may die after each of the three steps.
    #[test]
    fn a_deletion_that_was_broken_off_is_ended() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(Settings {
            data_dir: directory.path().to_owned(),
            ..Settings::default()
        });
        let [listed, gone] = ["team-a", "team-b"].map(|name| RoomName::parse(name).unwrap());
        for name in [&listed, &gone] {
            store
                .create(&Actor::Local, name, None, Timestamp::now())
                .unwrap();
            fs::write(store.dir.room(name).unwrap().join("notes"), "").unwrap();
            store.hide_directory(name).unwrap().unwrap();
        }
        let held = lock::registry(&store.dir, store.settings.lock_timeout()).unwrap();
        store
            .edit_registry(&held, |registry| {
                Ok(registry.rooms.remove(gone.as_str()).is_some())
            })
            .unwrap();
        drop(held);
        store.sweep(Timestamp::now()).unwrap();
        let left = fs::read_dir(store.dir.rooms()).unwrap().flatten();
        let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["team-a"]);
        assert!(store.dir.room(&listed).unwrap().join("notes").exists());
    }
}
