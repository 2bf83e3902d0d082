//! Periodic work, and work at the end of the process: idle members are marked offline,
//! damaged files are repaired, and remains of deleted rooms are removed.

use std::sync::Arc;

use jiff::Timestamp;
use kit::Result;

use super::{FileStore, Room, lock, process};
use crate::{errors, model::names::RoomName};

impl FileStore {
    /// Writes down who is offline by now. Returns the rooms where somebody is.
    pub fn sweep(&self, now: Timestamp) -> Result<Vec<RoomName>> {
        let mut changed = Vec::new();
        for listed in self.rooms()? {
            let swept = self
                .room(&listed.name)
                .and_then(|room| room.members.sweep(now));
            match swept {
                Ok(true) => changed.push(listed.name),
                Ok(false) => {}
                Err(error) => {
                    tracing::debug!(%error, cause = ?error.cause, room = %listed.name, "a room could not be swept");
                }
            }
        }
        if let Err(error) = self.registry.repair() {
            tracing::debug!(%error, cause = ?error.cause, "the list of rooms could not be repaired");
        }
        process::clear_dead(&self.data.dir, self.data.settings.lock_timeout())?;
        self.clear_away()?;
        Ok(changed)
    }

    /// Removes what deleted rooms left.
    fn clear_away(&self) -> Result<()> {
        if !self.data.dir.root().is_dir() {
            return Ok(());
        }
        let _registry = self.data.lock_registry()?;
        let registry = self.registry.load()?;
        let exists = |room: &RoomName| registry.rooms.get(room.as_str()).is_some();
        self.end_deletions(exists)
            .and_then(|()| lock::clear_unused(&self.data.dir, exists))
            .map_err(errors::storage)
    }

    /// Marks everybody offline whom this process served last.
    pub fn retire(&self) -> Result<()> {
        let rooms: Vec<Arc<Room>> = self.open().values().map(Arc::clone).collect();
        // An error in one room must not keep members of others online.
        let results: Vec<Result<()>> = rooms.iter().map(|room| room.members.retire()).collect();
        self.data.process.retire(&self.data.dir);
        results.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan;

    use super::*;
    use crate::{
        Settings,
        model::{members::Status, owners::Actor},
    };

    #[test]
    fn idle_members_are_marked_offline() {
        let directory = tempfile::tempdir().unwrap();
        let store = FileStore::new(Settings {
            data_dir: directory.path().to_owned(),
            ..Settings::default()
        });
        let name = RoomName::parse("a").unwrap();
        let now: Timestamp = "2026-11-15T09:00:00Z".parse().unwrap();
        store.create(&Actor::Local, &name, None, now).unwrap();
        let room = store.room(&name).unwrap();
        store.enter(&room, "idle", None, now).unwrap();
        store
            .enter(&room, "busy", None, now + 20.minutes())
            .unwrap();
        assert_eq!(store.sweep(now + 29.minutes()).unwrap(), []);
        assert_eq!(store.sweep(now + 31.minutes()).unwrap(), [name]);
        assert_eq!(store.sweep(now + 31.minutes()).unwrap(), []);
        let users = &room.members.load().unwrap().users;
        assert_eq!(users.get("idle").unwrap().status, Status::Offline);
        assert_eq!(users.get("busy").unwrap().status, Status::Online);
    }
}
