//! `rooms.json`: which rooms there are, with those that the file lacks.

mod restored;

use std::sync::Arc;

use kit::{Result, text};

use super::{
    cached::{Cached, State},
    data::DataDir,
    dir::ROOMS,
    lock::{Guarded, Held},
};
use crate::{
    errors,
    model::{
        names::RoomName,
        registry::{Registry, RoomEntry},
    },
    store::rooms::Listed,
};
use restored::Restored;

pub struct RoomRegistry {
    data: Arc<DataDir>,
    file: Cached<Registry>,
    restored: Restored,
}

fn listed(name: RoomName, entry: &RoomEntry) -> Listed {
    Listed {
        name,
        description: entry.description.clone(),
        created_at: entry.created_at.clone(),
    }
}

impl RoomRegistry {
    /// Touches no file.
    pub fn new(data: &Arc<DataDir>) -> Self {
        Self {
            file: Cached::new(ROOMS).with_copy(&data.dir, Guarded::Registry),
            data: Arc::clone(data),
            restored: Restored::default(),
        }
    }

    /// What the file says, with the rooms that it lacks.
    pub fn load(&self) -> Result<Arc<Registry>> {
        let (root, rooms) = (self.data.dir.root(), self.data.dir.rooms());
        let read = || match self.file.state(root)? {
            State::Read(registry) => self.restored.complete(registry, &rooms),
            State::Absent | State::Damaged => {
                restored::rooms(self.file.copy(root), &rooms).map(Arc::new)
            }
        };
        read().map_err(errors::storage)
    }

    /// Looks at the directories again: a log may have come to one that was there.
    pub fn refresh(&self) {
        self.restored.forget();
    }

    /// Changes `rooms.json` under its locks. `change` says whether it changed
    /// anything. It is called again if the original server took its lock away
    /// meanwhile, and may then find its change there or not.
    pub fn edit(
        &self,
        held: &Held,
        mut change: impl FnMut(&mut Registry) -> Result<bool>,
    ) -> Result<()> {
        let root = self.data.dir.root();
        held.change(root, ROOMS, |lock| {
            let mut registry = Registry::clone(&*self.load()?);
            if !change(&mut registry)? {
                return Ok(true);
            }
            let saved = self.file.save_under(lock, root, &registry);
            saved.map_err(errors::storage)
        })
    }

    /// All rooms, oldest first.
    pub fn list(&self) -> Result<Vec<Listed>> {
        let registry = self.load()?;
        let rooms = registry.rooms.iter().filter_map(|(name, entry)| {
            let name = RoomName::parse(name).ok()?;
            Some(listed(name, entry))
        });
        Ok(rooms.collect())
    }

    /// One room, if it exists.
    pub fn listed(&self, name: &RoomName) -> Result<Listed> {
        Ok(listed(name.clone(), &self.require(name)?))
    }

    /// A room's entry, or an error if there is no such room.
    pub fn require(&self, name: &RoomName) -> Result<RoomEntry> {
        if let Some(entry) = self.load()?.rooms.get(name.as_str()) {
            return Ok(entry.clone());
        }
        self.refresh();
        let registry = self.load()?;
        registry.rooms.get(name.as_str()).cloned().ok_or_else(|| {
            let nearest = text::nearest(name.as_str(), registry.rooms.names());
            errors::room_not_found(name.as_str(), nearest)
        })
    }

    /// Writes a list of rooms that is damaged or lacks some: the original server
    /// does nothing at all without it.
    pub fn repair(&self) -> Result<()> {
        let state = self.file.state(self.data.dir.root());
        let is_whole = match state.map_err(errors::storage)? {
            State::Read(listed) => self.unlisted(&listed)?.is_empty(),
            State::Damaged => false,
            State::Absent => true,
        };
        if is_whole {
            return Ok(());
        }
        let held = self.data.lock_registry()?;
        self.edit(&held, |_| Ok(true))
    }

    /// The rooms that their list lacks.
    fn unlisted(&self, listed: &Registry) -> Result<Vec<String>> {
        let all = self.load()?;
        let names = all.rooms.names();
        let unlisted = names.filter(|name| listed.rooms.get(name).is_none());
        Ok(unlisted.map(str::to_owned).collect())
    }

    /// What is wrong with the file, or was, in words. What is odd about one room
    /// is said with the room.
    pub fn warnings(&self) -> Result<Vec<String>> {
        let root = self.data.dir.root();
        let State::Read(listed) = self.file.state(root).map_err(errors::storage)? else {
            return self.file.warnings(root).map_err(errors::storage);
        };
        let unlisted = self.unlisted(&listed)?.into_iter().map(|name| {
            format!(
                "{ROOMS} does not list `{name}`, whose messages are there: it counts as a room, \
                 without its description. The next change lists it."
            )
        });
        let kept = self.file.kept_damaged(root);
        Ok(kept.into_iter().chain(unlisted).collect())
    }
}
