//! One room that this process has looked into: its index and what else is
//! remembered of its files.

use std::{
    collections::HashMap,
    io,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;
use kit::Result;
use tokio::sync::watch;

use super::{
    cached::{Cached, State},
    files::{ACTIVITY, Dir, LOG, PRESENCE, READS, Stamp},
    index::{Files, Index},
    lock::Guarded,
    reads::{Position, Reads},
    restore,
    send::Queue,
};
use crate::{
    errors,
    model::{
        members::{Activities, Presence},
        names::RoomName,
    },
};

pub struct Room {
    pub name: RoomName,
    dir: Dir,
    index: Mutex<Index>,
    pub presence: Cached<Presence>,
    pub activity: Cached<Activities>,
    pub reads: Cached<Reads>,
    pub queue: Mutex<Queue>,
    rebuilt: Mutex<Option<Rebuilt>>,
    local: Mutex<Local>,
    changed: watch::Sender<u64>,
}

/// The members of a room whose presence file is damaged, as of this state of
/// that file, its copy and the log.
struct Rebuilt {
    of: [Option<Stamp>; 3],
    presence: Arc<Presence>,
}

/// What only this process knows of the room.
#[derive(Default)]
pub struct Local {
    /// When each agent was last heard of through this process; the file says so
    /// only now and then.
    pub heard: HashMap<String, Timestamp>,
    /// How far each agent has read, when it is further than the file says.
    pub positions: HashMap<String, Position>,
    /// How many calls of each agent wait.
    pub waiting: HashMap<String, u32>,
    /// The log and the presence file as subscribers last heard of them.
    pub told: (Option<Stamp>, Option<Stamp>),
}

/// How many agents a process remembers something of in one room. Members may
/// leave through other processes, of which this one does not hear.
const REMEMBERED: usize = 4_096;

/// Sets what is remembered of `agent`, forgetting somebody else if it is too much.
pub fn remember<T>(known: &mut HashMap<String, T>, agent: &str, value: T) {
    if let Some(known) = known.get_mut(agent) {
        *known = value;
        return;
    }
    if known.len() >= REMEMBERED
        && let Some(other) = known.keys().next().cloned()
    {
        known.remove(&other);
    }
    known.insert(agent.to_owned(), value);
}

impl Room {
    pub fn new(name: RoomName, dir: Dir) -> Self {
        Self {
            presence: Cached::new(PRESENCE).with_copy(&dir, Guarded::Room(name.clone())),
            name,
            dir,
            index: Mutex::default(),
            activity: Cached::new(ACTIVITY).or_empty(),
            reads: Cached::new(READS),
            queue: Mutex::default(),
            rebuilt: Mutex::default(),
            local: Mutex::default(),
            changed: watch::Sender::new(0),
        }
    }

    pub fn directory(&self) -> Result<PathBuf> {
        self.dir.room(&self.name).map_err(errors::storage)
    }

    /// Looks at the messages as they are now.
    pub fn look<T>(&self, work: impl FnOnce(&Index, &Files) -> io::Result<T>) -> Result<T> {
        self.look_mut(|index, files| work(index, files))
    }

    /// The files are opened while the index is held, so that an older view of
    /// them never replaces a newer one.
    pub fn look_mut<T>(&self, work: impl FnOnce(&mut Index, &Files) -> io::Result<T>) -> Result<T> {
        let directory = self.directory()?;
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        (|| {
            let files = Files::open(&directory)?;
            index.refresh(&files)?;
            work(&mut index, &files)
        })()
        .map_err(errors::storage)
    }

    pub fn members(&self) -> Result<Arc<Presence>> {
        let directory = self.directory()?;
        match self.presence.state(&directory).map_err(errors::storage)? {
            State::Read(presence) => Ok(presence),
            State::Absent => Ok(Arc::default()),
            State::Damaged => self.rebuilt_members(),
        }
    }

    fn rebuilt_members(&self) -> Result<Arc<Presence>> {
        let directory = self.directory()?;
        let of = [PRESENCE, &self.presence.copy_name(), LOG];
        let of = of.map(|file| Stamp::at(&directory.join(file)));
        let mut rebuilt = self.rebuilt.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*rebuilt
            && known.of == of
        {
            return Ok(Arc::clone(&known.presence));
        }
        let activities = self.activities()?;
        let reads = self.reads.load(&directory).map_err(errors::storage)?;
        let name = self.name.as_str();
        let copy = self.presence.copy(&directory);
        let presence = self.look(|index, files| {
            restore::members(name, copy, (index, files), &activities, &reads).map(Arc::new)
        })?;
        *rebuilt = Some(Rebuilt {
            of,
            presence: Arc::clone(&presence),
        });
        Ok(presence)
    }

    pub fn activities(&self) -> Result<Arc<Activities>> {
        self.activity
            .load(&self.directory()?)
            .map_err(errors::storage)
    }

    pub fn local(&self) -> MutexGuard<'_, Local> {
        self.local.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes everybody who waits in this room, to look again.
    pub fn bump(&self) {
        self.changed.send_modify(|version| *version += 1);
    }

    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_of_agents_has_a_bound() {
        let mut known = HashMap::new();
        for number in 0..2 * REMEMBERED {
            remember(&mut known, &format!("agent-{number}"), number);
        }
        assert_eq!(known.len(), REMEMBERED);
        assert!(known.contains_key(&format!("agent-{}", 2 * REMEMBERED - 1)));
    }
}
