//! The counts in `rooms.json` and `presence.json`, for people who read the files.
//! They are written a moment after the messages, so that senders do not wait, and
//! can always be counted again from the logs.

use std::sync::PoisonError;

use kit::Result;

use super::FileStore;
use crate::{
    errors,
    model::{names::RoomName, registry::Registry},
};

impl FileStore {
    pub fn has_counts_to_write(&self) -> bool {
        !self.data.uncounted().is_empty()
    }

    /// Writes the counts of the rooms in which something happened. What fails is
    /// tried again after the next call.
    pub fn write_counts(&self) -> Result<()> {
        // Whoever writes them last, before the process ends, waits for the others.
        let _counting = self.counting.lock().unwrap_or_else(PoisonError::into_inner);
        let rooms = std::mem::take(&mut *self.data.uncounted());
        let written = self.write_counts_of(&rooms);
        if written.is_err() {
            rooms.iter().for_each(|name| self.data.mark_uncounted(name));
        }
        written
    }

    fn write_counts_of(&self, rooms: &[RoomName]) -> Result<()> {
        let mut counted = Vec::new();
        for name in rooms {
            match self.room(name).and_then(|room| room.members.write_counts()) {
                Ok(counts) => counted.push((name, counts)),
                // Deleted meanwhile.
                Err(error) if error.code == errors::ROOM_NOT_FOUND => {}
                Err(error) => return Err(error),
            }
        }
        if counted.is_empty() {
            return Ok(());
        }
        let held = self.data.lock_registry()?;
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
        if !change(&mut Registry::clone(&*self.registry.load()?)) {
            return Ok(());
        }
        self.registry.edit(&held, |registry| Ok(change(registry)))
    }
}
