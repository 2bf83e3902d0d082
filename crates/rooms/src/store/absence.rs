//! When signs of life stop: idle agents, and the end of this process.

use std::sync::{Arc, PoisonError};

use jiff::Timestamp;
use kit::Result;

use super::{Member, Room, Store, lock, members::save_activity, process};
use crate::{
    errors,
    model::{
        members::{Activities, Presence, Status},
        names::RoomName,
    },
};

impl Store {
    /// Writes down who is offline by now. Returns the rooms where somebody is.
    pub fn sweep(&self, now: Timestamp) -> Result<Vec<RoomName>> {
        let mut changed = Vec::new();
        for listed in self.rooms()? {
            match self.sweep_room(&listed.name, now) {
                Ok(true) => changed.push(listed.name),
                Ok(false) => {}
                Err(error) => {
                    tracing::debug!(%error, cause = ?error.cause, room = %listed.name, "a room was not swept");
                }
            }
        }
        let timeout = self.settings.lock_timeout();
        process::clear_dead(&self.dir, timeout)?;
        self.clear_locks(timeout)?;
        Ok(changed)
    }

    fn clear_locks(&self, timeout: std::time::Duration) -> Result<()> {
        if !self.dir.root().is_dir() {
            return Ok(());
        }
        let _registry = lock::registry(&self.dir, timeout)?;
        let registry = self.registry()?;
        let exists = |room: &RoomName| registry.rooms.get(room.as_str()).is_some();
        lock::clear_unused(&self.dir, exists).map_err(errors::storage)
    }

    fn sweep_room(&self, name: &RoomName, now: Timestamp) -> Result<bool> {
        let room = self.room(name)?;
        let before = room.members()?;
        let is_gone = |member: &Member| {
            let noted = before.users.get(&member.name).map(|user| user.status);
            member.status == Status::Offline && noted == Some(Status::Online)
        };
        if !self.members(&room, now)?.iter().any(is_gone) {
            return Ok(false);
        }
        let _held = lock::room(&self.dir, name, self.settings.lock_timeout())?;
        self.require(name)?;
        // Somebody may have come back while the lock was waited for.
        let mut presence = Presence::clone(&*room.members()?);
        for member in self.members(&room, now)? {
            if let Some(user) = presence.users.get_mut(&member.name) {
                user.status = member.status;
            }
        }
        self.save_presence(&room, &presence)?;
        Ok(true)
    }

    /// Takes everybody offline whom this process served last, and says so.
    pub fn retire(&self) -> Result<()> {
        let rooms: Vec<Arc<Room>> = {
            let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.values().map(Arc::clone).collect()
        };
        // One room that makes trouble must not keep the others online.
        let results: Vec<Result<()>> = rooms.iter().map(|room| self.retire_from(room)).collect();
        self.process.retire(&self.dir);
        results.into_iter().collect()
    }

    fn retire_from(&self, room: &Room) -> Result<()> {
        if room.local().heard.is_empty() {
            return Ok(());
        }
        let _held = lock::room(&self.dir, &room.name, self.settings.lock_timeout())?;
        if self.require(&room.name).is_err() {
            return Ok(());
        }
        let mut presence = Presence::clone(&*room.members()?);
        let mut activities = Activities::clone(&*room.activities()?);
        let mut any = false;
        for (name, user) in presence.users.iter_mut() {
            let ours = activities
                .get(name)
                .is_some_and(|activity| activity.process == self.process.id());
            if ours && user.status == Status::Online {
                user.status = Status::Offline;
                activities.remove(name);
                any = true;
            }
        }
        if any {
            self.save_presence(room, &presence)?;
            save_activity(room, &activities)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan;

    use super::*;
    use crate::{Settings, model::owners::Actor};

    #[test]
    fn who_is_idle_is_noted_as_offline() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(Settings {
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
        let users = &room.members().unwrap().users;
        assert_eq!(users.get("idle").unwrap().status, Status::Offline);
        assert_eq!(users.get("busy").unwrap().status, Status::Online);
    }
}
