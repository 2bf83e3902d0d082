//! Rooms are kept in files, in the seed's formats, shared by any number of processes.
//!
//! - Each kind of file has a type of its own: [`log::Log`] the messages,
//!   [`members::Members`] the members, [`read_positions::ReadPositions`] how far
//!   they have read, [`registry::RoomRegistry`] which rooms there are,
//!   [`owners::NameOwners`] which key holds which name. [`FileStore`] composes them.
//! - Writers hold a room's lock (`lock`), which the kernel releases when a
//!   process dies. Readers hold none: logs only grow, other files are replaced
//!   as a whole.
//! - Around files that the original server changes too, its own lock is taken as
//!   well (`original_lock`), and what it leaves damaged is restored from a copy.
//! - A message counts as sent once it is on the disk (`send`).
//! - Memory holds an index and never the messages. Before every answer a look at
//!   the files' sizes brings it up to date; watching the files (`watch`) only
//!   makes answers quicker, and no answer depends on it.
//!
//! Methods here block; only [`room::Room::send`] is async. `room_store` implements
//! [`RoomStore`](super::RoomStore) and runs them on threads of their own; `operations`
//! does what each tool asks for.

mod agents;
mod batch;
mod cached;
pub mod copy;
mod counts;
mod data;
mod dir;
mod lock;
mod log;
mod members;
mod noticed;
mod operations;
mod original_lock;
mod owners;
mod process;
mod read_positions;
mod registry;
mod removal;
mod room;
mod room_dir;
mod room_store;
mod rounds;
mod send;
mod send_queue;
mod sweep;
mod transfer;
mod watch;

use std::{
    collections::HashMap,
    fs,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;
use kit::{Blocking, Result, durable};

use crate::{
    Settings, errors,
    model::{
        message::written,
        names::RoomName,
        owners::{Actor, NameStatus},
        registry::{Registry, RoomEntry},
    },
    store::rooms::Listed,
};

use agents::KnownAgents;
use data::DataDir;
use dir::{LOG, ROOMS};
use owners::NameOwners;
use registry::RoomRegistry;

use room::Room;

pub use room_store::FileRooms;
pub use transfer::{NewFiles, RoomFiles};

pub struct FileStore {
    data: Arc<DataDir>,
    registry: Arc<RoomRegistry>,
    agents: KnownAgents,
    names: NameOwners,
    open: Mutex<HashMap<RoomName, Arc<Room>>>,
    counting: Mutex<()>,
    watch: watch::Watch,
}

/// The size of a room's files, and what is wrong with them.
pub struct Health {
    /// All files in the room's directory.
    pub bytes: u64,
    pub warnings: Vec<String>,
}

impl FileStore {
    /// Touches no file.
    pub fn new(settings: Settings) -> Self {
        let data = Arc::new(DataDir::new(settings));
        Self {
            registry: Arc::new(RoomRegistry::new(&data)),
            agents: KnownAgents::new(&data),
            names: NameOwners::new(&data),
            data,
            open: Mutex::default(),
            counting: Mutex::default(),
            watch: watch::Watch::default(),
        }
    }

    /// For work on the files.
    pub fn blocking(&self) -> &Blocking {
        &self.data.blocking
    }

    /// All rooms, oldest first.
    pub fn rooms(&self) -> Result<Vec<Listed>> {
        self.registry.list()
    }

    /// One room, if it exists.
    pub fn listed(&self, name: &RoomName) -> Result<Listed> {
        self.registry.listed(name)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<RoomName, Arc<Room>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A room that exists.
    pub fn room(&self, name: &RoomName) -> Result<Arc<Room>> {
        self.registry.require(name)?;
        let mut open = self.open();
        let new = || Arc::new(Room::new(name.clone(), &self.data, &self.registry));
        Ok(Arc::clone(open.entry(name.clone()).or_insert_with(new)))
    }

    /// A room that this process has already used. The disk is not read.
    pub fn opened(&self, name: &RoomName) -> Option<Arc<Room>> {
        self.open().get(name).map(Arc::clone)
    }

    pub fn create(
        &self,
        actor: &Actor,
        name: &RoomName,
        description: Option<String>,
        now: Timestamp,
    ) -> Result<()> {
        durable::create_directory(self.data.dir.root(), 0o777).map_err(errors::storage)?;
        let held = self.data.lock_registry()?;
        self.registry.refresh();
        let entry = RoomEntry::new(description, written(now));
        let mut prepared = false;
        self.registry.edit(&held, |registry| {
            if !prepared {
                self.prepare(actor, name, registry)?;
                prepared = true;
            }
            registry.rooms.set(name.as_str(), entry.clone());
            Ok(true)
        })
    }

    /// Does everything that a new room needs before it is listed.
    fn prepare(&self, actor: &Actor, name: &RoomName, registry: &Registry) -> Result<()> {
        if registry.rooms.get(name.as_str()).is_some() {
            return Err(errors::room_already_exists(name.as_str()));
        }
        let most = self.data.settings.max_rooms.get();
        if registry.rooms.len() >= most as usize {
            return Err(errors::room_limit_exceeded(most));
        }
        // On a file system that ignores case both would share a directory.
        let is_like = |known: &&str| known.eq_ignore_ascii_case(name.as_str());
        let path = self.data.dir.room(name).map_err(errors::storage)?;
        if let (Some(twin), true) = (registry.rooms.names().find(is_like), path.exists()) {
            return Err(errors::room_already_exists(twin));
        }
        let exists = |room: &str| registry.rooms.get(room).is_some();
        self.names.note_creator(name, actor, exists)?;
        self.create_directory(name)?;
        // Before the file is written, so that it is not taken for another process's change.
        self.watch.add_room(&self.data.dir, name);
        Ok(())
    }

    /// An existing directory is used as it is: another program may have made it, or a
    /// creation that was interrupted.
    fn create_directory(&self, name: &RoomName) -> Result<()> {
        let path = self.data.dir.room(name).map_err(errors::storage)?;
        fs::create_dir_all(&path).map_err(errors::storage)?;
        let room = Room::new(name.clone(), &self.data, &self.registry);
        room.members.create()?;
        (|| {
            let mut options = fs::OpenOptions::new();
            dir::open(&path.join(LOG), options.append(true).create(true))?.sync_all()?;
            durable::sync_directory(&path)?;
            durable::sync_directory(&self.data.dir.rooms())
        })()
        .map_err(errors::storage)
    }

    /// Makes an agent a member of a room. Returns whether it was one already,
    /// and had been offline.
    pub fn enter(
        &self,
        room: &Room,
        agent: &str,
        profile: Option<crate::model::members::Profile>,
        now: Timestamp,
    ) -> Result<bool> {
        let again = room.enter(agent, profile, now)?;
        self.agents.add(agent, now)?;
        Ok(again)
    }

    /// Call it before a member acts. A free name then belongs to the caller's key; a name
    /// of another key is an error.
    pub fn act(&self, actor: &Actor, room: &Room, agent: &str, now: Timestamp) -> Result<()> {
        if self.names.name_status(actor, agent)? == NameStatus::Free {
            room.members.require(agent)?;
            self.names.claim(actor, agent, now)?;
        }
        Ok(())
    }

    /// Whether `agent` ever entered a room. A directory written by another
    /// program has no list of agents, but its rooms remember who was there.
    pub fn is_known(&self, agent: &str) -> bool {
        if self.agents.has(agent).unwrap_or_default() {
            return true;
        }
        let rooms = self.rooms().unwrap_or_default();
        rooms.iter().any(|listed| {
            let Ok(room) = self.room(&listed.name) else {
                return false;
            };
            let is_reader = || {
                let reads = room.reads.load();
                reads.is_ok_and(|reads| reads.get(agent).is_some())
            };
            let is_author = || {
                let sent = room.log.look(|index, _| Ok(index.sent_by(agent)));
                sent.is_ok_and(|sent| sent > 0)
            };
            room.members.has(agent).unwrap_or_default() || is_reader() || is_author()
        })
    }

    /// What is wrong with the files outside of rooms.
    pub fn warnings(&self) -> Result<Vec<String>> {
        let mut found = self.agents.warnings()?;
        found.extend(self.registry.warnings()?);
        found.extend(self.names.warnings()?);
        Ok(found)
    }

    pub fn health(&self, room: &Room) -> Result<Health> {
        let mut warnings = room.log.warnings()?;
        let odd = self.registry.require(&room.name)?.odd;
        warnings.extend(odd.iter().map(|what| {
            format!("{ROOMS}: {what} cannot be understood; what the room's own files say counts.")
        }));
        warnings.extend(room.members.warnings()?);
        warnings.extend(room.reads.warnings()?);
        let directory = self.data.dir.room(&room.name).map_err(errors::storage)?;
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
        let sizes = entries.filter_map(|entry| entry.metadata().ok());
        Ok(Health {
            bytes: sizes.map(|metadata| metadata.len()).sum(),
            warnings,
        })
    }
}
