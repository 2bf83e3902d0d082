//! When signs of life stop: idle agents, and the end of this process.

use std::sync::{Arc, PoisonError};

use jiff::Timestamp;
use kit::Result;

use super::{Member, Room, Store, cached::State, lock, members::save_activity, process};
use crate::{
    errors,
    model::{
        members::{Activities, Status},
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
        if let Err(error) = self.list_again() {
            tracing::debug!(%error, cause = ?error.cause, "the list of rooms was not made whole");
        }
        let timeout = self.settings.lock_timeout();
        process::clear_dead(&self.dir, timeout)?;
        self.clear_away(timeout)?;
        Ok(changed)
    }

    /// Writes a list of rooms that is damaged or lacks some: the original server
    /// does nothing at all without it.
    fn list_again(&self) -> Result<()> {
        let state = self.registry.state(self.dir.root());
        let is_whole = match state.map_err(errors::storage)? {
            State::Read(listed) => self.unlisted(&listed)?.next().is_none(),
            State::Damaged => false,
            State::Absent => true,
        };
        if is_whole {
            return Ok(());
        }
        let held = lock::registry(&self.dir, self.settings.lock_timeout())?;
        self.edit_registry(&held, |_| Ok(true))
    }

    /// Takes away what rooms left that are gone.
    fn clear_away(&self, timeout: std::time::Duration) -> Result<()> {
        if !self.dir.root().is_dir() {
            return Ok(());
        }
        let _registry = lock::registry(&self.dir, timeout)?;
        let registry = self.registry()?;
        let exists = |room: &RoomName| registry.rooms.get(room.as_str()).is_some();
        self.end_deletions(exists)
            .and_then(|()| lock::clear_unused(&self.dir, exists))
            .map_err(errors::storage)
    }

    fn sweep_room(&self, name: &RoomName, now: Timestamp) -> Result<bool> {
        let room = self.room(name)?;
        let before = room.members()?;
        let state = room.presence.state(&room.directory()?);
        let is_damaged = matches!(state, Ok(State::Damaged));
        let is_gone = |member: &Member| {
            let noted = before.users.get(&member.name).map(|user| user.status);
            member.status == Status::Offline && noted == Some(Status::Online)
        };
        if !is_damaged && !self.members(&room, now)?.iter().any(is_gone) {
            return Ok(false);
        }
        let held = lock::room(&self.dir, name, self.settings.lock_timeout())?;
        self.require(name)?;
        self.edit_presence(&held, &room, |presence| {
            // Somebody may have come back while the locks were waited for.
            for member in self.members(&room, now)? {
                if let Some(user) = presence.users.get_mut(&member.name) {
                    user.status = member.status;
                }
            }
            Ok(true)
        })?;
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
        let held = lock::room(&self.dir, &room.name, self.settings.lock_timeout())?;
        if self.require(&room.name).is_err() {
            return Ok(());
        }
        let mut activities = Activities::clone(&*room.activities()?);
        let members = room.members()?;
        let is_ours = |name: &str| {
            let activity = activities.get(name);
            activity.is_some_and(|activity| activity.process == self.process.id())
        };
        let online = members
            .users
            .iter()
            .filter(|(_, user)| user.status == Status::Online);
        let ours: Vec<&str> = online
            .map(|(name, _)| name)
            .filter(|name| is_ours(name))
            .collect();
        if ours.is_empty() {
            return Ok(());
        }
        self.edit_presence(&held, room, |presence| {
            for name in &ours {
                if let Some(user) = presence.users.get_mut(name) {
                    user.status = Status::Offline;
                }
            }
            Ok(true)
        })?;
        for name in &ours {
            activities.remove(name);
        }
        save_activity(room, &activities)
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
