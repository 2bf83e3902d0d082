//! How rooms are kept: in files, in the document's formats, shared by any
//! number of processes.
//!
//! - Writers hold a room's lock (`lock`), which the kernel releases when a
//!   process dies. Readers hold none: logs only grow, other files are replaced
//!   as a whole.
//! - Around what the original server changes too its own lock is taken as well
//!   (`file_lock`), and what it leaves damaged is made up for (`restore`).
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
mod delete;
mod file_lock;
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
mod restore;
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

use cached::{Cached, State};
use files::{AGENTS, Dir, LOG, OWNERS, PRESENCE, ROOMS, Stamp};
use lock::Guarded;
use process::Process;
use registry::{Agents, Entry, Registry};

pub use members::Member;
pub use messages::{Found, News, Page, Pick, Search, Start};
pub use owners::Remover;
pub use reads::{Place, Position};
pub use room::Room;
pub use waiting::Waiting;

/// Threads that read and write files at once. Most of them wait for a lock.
const THREADS: usize = 16;

pub struct Store {
    settings: Settings,
    dir: Dir,
    process: Process,
    registry: Cached<Registry>,
    restored: restore::Restored,
    agents: Cached<Agents>,
    owners: Cached<Owners>,
    open: Mutex<HashMap<RoomName, Arc<Room>>>,
    dirty: Mutex<Vec<RoomName>>,
    counting: Mutex<()>,
    watch: watch::Watch,
    /// For work on the files.
    pub blocking: Blocking,
}

/// A room as `rooms.json` describes it.
pub struct Listed {
    pub name: RoomName,
    pub description: Option<String>,
    pub created_at: String,
}

impl Listed {
    fn new(name: RoomName, entry: &Entry) -> Self {
        Self {
            name,
            description: entry.description.clone(),
            created_at: entry.created_at.clone(),
        }
    }
}

impl Store {
    /// Touches no file.
    pub fn new(settings: Settings) -> Self {
        let dir = Dir::new(settings.data_dir.clone());
        Self {
            registry: Cached::new(ROOMS).with_copy(&dir, Guarded::Registry),
            dir,
            settings,
            process: Process::new(),
            restored: restore::Restored::default(),
            agents: Cached::new(AGENTS),
            owners: Cached::new(OWNERS),
            open: Mutex::default(),
            dirty: Mutex::default(),
            counting: Mutex::default(),
            watch: watch::Watch::default(),
            blocking: Blocking::new(THREADS),
        }
    }

    /// What the file says, with the rooms that it lacks.
    fn registry(&self) -> Result<Arc<Registry>> {
        let read = || match self.registry.state(self.dir.root())? {
            State::Read(registry) => self.restored.complete(registry, &self.dir.rooms()),
            State::Absent | State::Damaged => {
                let copy = self.registry.copy(self.dir.root());
                restore::rooms(copy, &self.dir.rooms()).map(Arc::new)
            }
        };
        read().map_err(errors::storage)
    }

    /// Changes `rooms.json` under its locks. `change` says whether it changed
    /// anything; it is asked again if the original server took its lock away
    /// meanwhile, and may then find its change there or not.
    fn edit_registry(
        &self,
        held: &lock::Held,
        mut change: impl FnMut(&mut Registry) -> Result<bool>,
    ) -> Result<()> {
        let root = self.dir.root();
        held.change(root, ROOMS, |lock| {
            let mut registry = Registry::clone(&*self.registry()?);
            if !change(&mut registry)? {
                return Ok(true);
            }
            let saved = self.registry.save_under(lock, root, &registry);
            saved.map_err(errors::storage)
        })
    }

    /// All rooms, oldest first.
    pub fn rooms(&self) -> Result<Vec<Listed>> {
        let registry = self.registry()?;
        let rooms = registry.rooms.iter().filter_map(|(name, entry)| {
            let name = RoomName::parse(name).ok()?;
            Some(Listed::new(name, entry))
        });
        Ok(rooms.collect())
    }

    /// One room, if it exists.
    pub fn listed(&self, name: &RoomName) -> Result<Listed> {
        Ok(Listed::new(name.clone(), &self.require(name)?))
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
        if let Some(entry) = self.registry()?.rooms.get(name.as_str()) {
            return Ok(entry.clone());
        }
        self.restored.forget();
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
        let held = lock::registry(&self.dir, self.settings.lock_timeout())?;
        self.restored.forget();
        let entry = Entry::new(description, written(now));
        let mut prepared = false;
        self.edit_registry(&held, |registry| {
            if !prepared {
                self.prepare(actor, name, registry)?;
                prepared = true;
            }
            registry.rooms.set(name.as_str(), entry.clone());
            Ok(true)
        })
    }

    /// Everything that a new room needs before it is listed.
    fn prepare(&self, actor: &Actor, name: &RoomName, registry: &Registry) -> Result<()> {
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
        self.make_directory(name).map_err(errors::storage)?;
        // Before the file says so: it must not be taken for another process's.
        self.watch_room(name);
        Ok(())
    }

    /// A directory that is there already stays as it is: another program may
    /// have made it, or a creation that was broken off.
    fn make_directory(&self, name: &RoomName) -> io::Result<()> {
        let path = self.dir.room(name)?;
        fs::create_dir_all(&path)?;
        if Stamp::at(&path.join(PRESENCE)).is_none() {
            let presence = Presence {
                room_name: name.to_string(),
                ..Presence::default()
            };
            let file = Cached::new(PRESENCE).with_copy(&self.dir, Guarded::Room(name.clone()));
            file.save(&path, &presence, true)?;
        }
        let mut options = fs::OpenOptions::new();
        files::open(&path.join(LOG), options.append(true).create(true))?.sync_all()?;
        files::sync_directory(&path)?;
        files::sync_directory(&self.dir.rooms())
    }

    /// The refusal for somebody who is not a member of `room`.
    fn stranger(&self, agent: &str, room: &RoomName) -> kit::Error {
        if let Err(error) = names::check_newcomer(agent) {
            return error;
        }
        errors::agent_not_in_room(agent, room.as_str())
    }

    /// Whether `agent` ever entered a room. A directory written by another
    /// program has no list of agents, but its rooms remember who was there.
    pub fn is_known(&self, agent: &str) -> bool {
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
            let author = || {
                let sent = room.look(|index, _| Ok(index.sent_by(agent)));
                sent.is_ok_and(|sent| sent > 0)
            };
            member || reader || author()
        })
    }
}
