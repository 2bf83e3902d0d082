//! The counts that `rooms.json` and `presence.json` show to people who read the
//! files. They follow a moment after the messages, off the senders' path, and
//! can always be counted again from the logs.

use std::sync::PoisonError;

use kit::Result;

use super::{Registry, Store, lock};
use crate::{
    errors,
    model::{members::Presence, names::RoomName},
};

impl Store {
    pub(super) fn mark_dirty(&self, room: &RoomName) {
        let mut dirty = self.dirty.lock().unwrap_or_else(PoisonError::into_inner);
        if !dirty.contains(room) {
            dirty.push(room.clone());
        }
    }

    pub fn has_counts_to_write(&self) -> bool {
        let dirty = self.dirty.lock().unwrap_or_else(PoisonError::into_inner);
        !dirty.is_empty()
    }

    /// Writes the counts of the rooms in which something happened. What fails is
    /// tried again after the next call.
    pub fn write_counts(&self) -> Result<()> {
        // Whoever writes them last, before the process ends, waits for the others.
        let _counting = self.counting.lock().unwrap_or_else(PoisonError::into_inner);
        let dirty = std::mem::take(&mut *self.dirty.lock().unwrap_or_else(PoisonError::into_inner));
        let written = self.write_counts_of(&dirty);
        if written.is_err() {
            dirty.iter().for_each(|name| self.mark_dirty(name));
        }
        written
    }

    fn write_counts_of(&self, rooms: &[RoomName]) -> Result<()> {
        let mut counted = Vec::new();
        for name in rooms {
            match self.count_room(name) {
                Ok(counts) => counted.push((name, counts)),
                // Deleted meanwhile.
                Err(error) if error.code == errors::ROOM_NOT_FOUND => {}
                Err(error) => return Err(error),
            }
        }
        if counted.is_empty() {
            return Ok(());
        }
        let held = lock::registry(&self.dir, self.settings.lock_timeout())?;
        let change = |registry: &mut Registry| {
            let mut changed = false;
            for (name, (messages, users)) in &counted {
                if let Some(entry) = registry.rooms.get_mut(name.as_str())
                    && ((entry.message_count, entry.user_count) != (*messages, *users)
                        || !entry.odd.is_empty())
                {
                    (entry.message_count, entry.user_count) = (*messages, *users);
                    changed = true;
                }
            }
            changed
        };
        // Most of the time nothing has changed, and nobody need be kept waiting.
        if !change(&mut Registry::clone(&*self.registry()?)) {
            return Ok(());
        }
        self.edit_registry(&held, |registry| Ok(change(registry)))
    }

    /// Counts one room, writes its `presence.json` where a count has changed,
    /// and returns its messages and members.
    fn count_room(&self, name: &RoomName) -> Result<(u64, u64)> {
        let room = self.room(name)?;
        let held = lock::room(&self.dir, name, self.settings.lock_timeout())?;
        self.require(name)?;
        let count = |presence: &mut Presence| {
            room.look(|index, _| {
                let mut changed = false;
                for (agent, user) in presence.users.iter_mut() {
                    let sent = index.sent_by(agent);
                    changed |= user.message_count != sent;
                    user.message_count = sent;
                }
                Ok((changed, index.count() as u64))
            })
        };
        let members = room.members()?;
        let (changed, messages) = count(&mut Presence::clone(&members))?;
        if changed {
            self.edit_presence(&held, &room, |presence| Ok(count(presence)?.0))?;
        }
        Ok((messages, members.users.len() as u64))
    }
}
