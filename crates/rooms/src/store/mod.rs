//! How rooms are kept: in files, in the document's formats, shared by any
//! number of processes.
//!
//! - Writers hold a room's lock (`lock`), which the kernel releases when a
//!   process dies. Readers hold none: logs only grow, other files are replaced
//!   as a whole.
//! - A message counts as sent once it is on the disk (`send`).
//! - Memory holds an index (`index`, `segment`) and never the messages; it is
//!   brought up to date by a look at the files' sizes before every answer, so
//!   that watching (`watch`) only makes things quick, never right.
//!
//! [`Store`] is all that the rest of the counter sees. Its methods block;
//! only [`Store::send`] is async.

mod absence;
mod cached;
mod counts;
mod files;
mod index;
mod lock;
mod members;
mod mentioned;
mod messages;
mod owners;
mod packed;
mod process;
mod reads;
mod recent;
mod registry;
mod room;
mod segment;
mod send;
mod sieve;
mod upkeep;
mod waiting;
mod watch;

use std::{
    collections::HashMap,
    fs, io,
    sync::{Arc, Mutex, PoisonError},
};

use jiff::Timestamp;
use kit::{Blocking, Result, text};

use crate::{
    Settings, errors,
    model::{
        members::Presence,
        message::written,
        names::{self, RoomName},
        owners::{Actor, Owners},
    },
};

use cached::Cached;
use files::{AGENTS, Dir, LOG, OWNERS, PRESENCE, ROOMS};
use process::Process;
use registry::{Agents, Entry, Registry};

pub use members::Member;
pub use messages::{Found, News, Page, Pick, Search, Start};
pub use owners::Remover;
pub use reads::{Place, Position};
pub use room::Room;
pub use waiting::Waiting;

/// Threads that read and write files at once. Most of them wait for a lock.
const THREADS: usize = 32;

pub struct Store {
    settings: Settings,
    dir: Dir,
    process: Process,
    registry: Cached<Registry>,
    agents: Cached<Agents>,
    owners: Cached<Owners>,
    open: Mutex<HashMap<RoomName, Arc<Room>>>,
    dirty: Mutex<Vec<RoomName>>,
    watch: watch::Watch,
    /// For work on the files.
    pub blocking: Blocking,
}

/// A room as `rooms.json` describes it.
pub struct Listed {
    pub name: RoomName,
    pub description: Option<String>,
}

impl Store {
    /// Touches no file.
    pub fn new(settings: Settings) -> Self {
        Self {
            dir: Dir::new(settings.data_dir.clone()),
            settings,
            process: Process::new(),
            registry: Cached::new(ROOMS),
            agents: Cached::new(AGENTS),
            owners: Cached::new(OWNERS),
            open: Mutex::default(),
            dirty: Mutex::default(),
            watch: watch::Watch::default(),
            blocking: Blocking::new(THREADS),
        }
    }

    fn registry(&self) -> Result<Arc<Registry>> {
        self.registry
            .state(self.dir.root())
            .and_then(|state| registry::or_rebuilt(state, &self.dir.rooms()))
            .map_err(errors::storage)
    }

    /// All rooms, oldest first.
    pub fn rooms(&self) -> Result<Vec<Listed>> {
        let registry = self.registry()?;
        let rooms = registry.rooms.iter().filter_map(|(name, entry)| {
            Some(Listed {
                name: RoomName::parse(name).ok()?,
                description: entry.description.clone(),
            })
        });
        Ok(rooms.collect())
    }

    /// One room, if it exists.
    pub fn listed(&self, name: &RoomName) -> Result<Listed> {
        Ok(Listed {
            name: name.clone(),
            description: self.require(name)?.description,
        })
    }

    /// A room that exists.
    pub fn room(&self, name: &RoomName) -> Result<Arc<Room>> {
        self.require(name)?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let room = open
            .entry(name.clone())
            .or_insert_with(|| Arc::new(Room::new(name.clone(), self.dir.clone())));
        Ok(Arc::clone(room))
    }

    /// A room that this process has used, without a look at the disk.
    pub fn opened(&self, name: &RoomName) -> Option<Arc<Room>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.get(name).map(Arc::clone)
    }

    fn require(&self, name: &RoomName) -> Result<Entry> {
        let registry = self.registry()?;
        registry.rooms.get(name.as_str()).cloned().ok_or_else(|| {
            let nearest = text::nearest(name.as_str(), registry.rooms.names());
            errors::room_not_found(name.as_str(), nearest)
        })
    }

    pub fn create(
        &self,
        actor: &Actor,
        name: &RoomName,
        description: Option<String>,
        now: Timestamp,
    ) -> Result<()> {
        fs::create_dir_all(self.dir.root()).map_err(errors::storage)?;
        let _registry = lock::registry(&self.dir, self.settings.lock_timeout())?;
        let mut registry = Registry::clone(&*self.registry()?);
        if registry.rooms.get(name.as_str()).is_some() {
            return Err(errors::room_already_exists(name.as_str()));
        }
        let most = self.settings.max_rooms.get();
        if registry.rooms.len() >= most as usize {
            return Err(errors::room_limit_exceeded(most));
        }
        // A file system that ignores case has one directory for both.
        let is_like = |known: &&str| known.eq_ignore_ascii_case(name.as_str());
        let path = self.dir.room(name).map_err(errors::storage)?;
        if let (Some(twin), true) = (registry.rooms.names().find(is_like), path.exists()) {
            return Err(errors::room_already_exists(twin));
        }
        self.note_creator(name, actor, |room| registry.rooms.get(room).is_some())?;
        let entry = Entry::new(description, written(now));
        registry.rooms.set(name.as_str(), entry);
        self.make_directory(name).map_err(errors::storage)?;
        // Before the file says so: it must not be taken for another process's.
        self.watch_room(name);
        self.registry
            .save(self.dir.root(), &registry, true)
            .map_err(errors::storage)
    }

    fn make_directory(&self, name: &RoomName) -> io::Result<()> {
        let path = self.dir.room(name)?;
        if fs::symlink_metadata(&path).is_ok() {
            // Left over from a deletion that was broken off, or put there by
            // hand: not this room's, and not ours to throw away.
            let aside = format!(".left-over-{name}-{}", Timestamp::now().as_millisecond());
            fs::rename(&path, self.dir.rooms().join(aside))?;
        }
        fs::create_dir_all(&path)?;
        let presence = Presence {
            room_name: name.to_string(),
            ..Presence::default()
        };
        Cached::new(PRESENCE).save(&path, &presence, true)?;
        files::replace(&path, LOG, b"", true)?;
        files::sync_directory(&self.dir.rooms())
    }

    /// Removes a room and everything in it; returns how many messages went.
    pub fn delete(&self, remover: &Remover, name: &RoomName) -> Result<usize> {
        let timeout = self.settings.lock_timeout();
        let room = self.room(name)?;
        let count = {
            let _registry = lock::registry(&self.dir, timeout)?;
            let _room = lock::room(&self.dir, name, timeout)?;
            self.require(name)?;
            self.may_remove(remover, name)?;
            let count = room.look(|index, _| Ok(index.count())).unwrap_or_default();
            let mut registry = Registry::clone(&*self.registry()?);
            registry.rooms.remove(name.as_str());
            self.forget_room(name);
            self.registry
                .save(self.dir.root(), &registry, true)
                .and_then(|()| self.remove_directory(name))
                .map_err(errors::storage)?;
            self.forget_creator(name);
            count
        };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.remove(name);
        drop(open);
        room.bump();
        Ok(count)
    }

    fn remove_directory(&self, name: &RoomName) -> io::Result<()> {
        let path = self.dir.room(name)?;
        let gone = self.dir.rooms().join(kit::ids::random(".deleted-", 8));
        match fs::rename(&path, &gone) {
            Ok(()) => fs::remove_dir_all(&gone),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The refusal for somebody who is not a member of `room`.
    fn stranger(&self, agent: &str, room: &RoomName) -> kit::Error {
        if let Err(error) = names::check_newcomer(agent) {
            return error;
        }
        if self.is_known(agent) {
            errors::agent_not_in_room(agent, room.as_str())
        } else {
            errors::agent_not_found(agent)
        }
    }

    /// Whether `agent` ever entered a room. A directory written by another
    /// program has no list of agents, but its rooms remember who was there.
    fn is_known(&self, agent: &str) -> bool {
        let listed = self.agents.load(self.dir.root());
        if listed.is_ok_and(|agents| agents.agents.get(agent).is_some()) {
            return true;
        }
        let rooms = self.rooms().unwrap_or_default();
        rooms.iter().any(|listed| {
            let Ok(room) = self.room(&listed.name) else {
                return false;
            };
            let member = room.members().is_ok_and(|p| p.users.get(agent).is_some());
            let reader = room
                .directory()
                .is_ok_and(|d| room.reads.load(&d).is_ok_and(|r| r.get(agent).is_some()));
            member || reader
        })
    }
}
