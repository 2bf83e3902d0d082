//! Reads rooms out of files, and writes them into new ones.

use std::{
    fs,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use kit::{Error, Result, durable};
use serde::Serialize;

use super::{
    FileStore,
    dir::{self, AGENTS, ARCHIVE, LOG, OWNERS, PRESENCE, READS, ROOMS},
};
use crate::{
    Settings, errors,
    model::{
        agents::{Agents, FirstSeen},
        members::{ByName, Presence, User},
        names::RoomName,
        owners::{Actor, Owners},
        reads::{ReadStatus, Reads},
        registry::{Registry, RoomEntry},
    },
    store::{
        rooms::Listed,
        transfer::moved::{MovedMember, MovedRoom, Shared},
    },
};

/// Rooms in files that nobody uses meanwhile.
pub struct RoomFiles(FileStore);

impl RoomFiles {
    /// Touches no file.
    pub fn new(settings: Settings) -> Self {
        Self(FileStore::new(settings))
    }

    pub fn shared(&self) -> Result<Shared> {
        let agents = self.0.agents.load()?;
        let agents = agents.agents.iter();
        let owners = self.0.names.load()?;
        Ok(Shared {
            other: self.0.registry.load()?.other.clone(),
            agents: agents
                .map(|(name, seen)| (name.to_owned(), seen.first_seen_at.clone()))
                .collect(),
            names: owners.holders().cloned().collect(),
        })
    }

    /// The names of the rooms, oldest first.
    pub fn rooms(&self) -> Result<Vec<RoomName>> {
        let rooms = self.0.rooms()?;
        Ok(rooms.into_iter().map(|listed| listed.name).collect())
    }

    pub fn room(&self, name: &RoomName) -> Result<MovedRoom> {
        let room = self.0.room(name)?;
        let entry = self.0.registry.require(name)?;
        let (presence, reads) = (room.members.load()?, room.reads.load()?);
        let activities = room.members.activities()?;
        let member = |agent: &str, user: Option<&User>| MovedMember {
            agent: agent.to_owned(),
            user: user.cloned(),
            activity: activities.get(agent).cloned(),
            reads: reads.get(agent).cloned(),
        };
        let left = reads.names();
        let left = left.filter(|agent| presence.users.get(agent).is_none());
        let mut members: Vec<MovedMember> = left.map(|agent| member(agent, None)).collect();
        let users = presence.users.iter();
        members.extend(users.map(|(agent, user)| member(agent, Some(user))));
        let (messages, archived) = room
            .log
            .look(|index, _| Ok((index.count(), index.archive.count())))?;
        Ok(MovedRoom {
            listed: Listed {
                name: name.clone(),
                description: entry.description,
                created_at: entry.created_at,
            },
            other: entry.other,
            creator: self.0.names.load()?.creator(name).cloned(),
            presence_other: presence.other.clone(),
            members,
            messages,
            archived,
        })
    }

    /// The messages from the number `from` on, at most so many, as they are in the files.
    pub fn lines(&self, name: &RoomName, from: usize, most: usize) -> Result<Vec<String>> {
        let room = self.0.room(name)?;
        room.log.look(|index, files| {
            let mut reader = index.reader(files);
            let mut lines = Vec::new();
            for number in from..index.count().min(from + most) {
                let text = reader.text(number)?.unwrap_or_default();
                lines.push(String::from_utf8_lossy(text).trim_end().to_owned());
            }
            Ok(lines)
        })
    }

    /// How long an agent may be idle before it counts as offline.
    pub fn idle_ms(&self) -> i64 {
        self.0.data.settings.idle_ms()
    }

    /// Begins to write new files, which nobody sees before they are finished.
    pub fn begin(&self) -> Result<NewFiles> {
        let root = self.0.data.dir.root().to_owned();
        let hidden = root.join(".arriving");
        let made = (|| {
            // Of a copy that was interrupted.
            dir::absent(fs::remove_dir_all(&hidden))?;
            fs::create_dir_all(hidden.join("rooms"))
        })();
        made.map_err(errors::storage)?;
        Ok(NewFiles { root, hidden })
    }
}

/// Files that are being written.
pub struct NewFiles {
    root: PathBuf,
    hidden: PathBuf,
}

impl NewFiles {
    fn write(&self, directory: &Path, name: &str, value: &impl Serialize) -> Result<()> {
        let json = serde_json::to_vec_pretty(value).map_err(Error::internal)?;
        dir::replace(directory, name, &json, true).map_err(errors::storage)
    }

    /// Writes a room. `lines` writes its messages from a number on, at most so many, and
    /// returns how many it wrote.
    pub fn write_room(
        &self,
        room: &MovedRoom,
        mut lines: impl FnMut(&mut dyn Write, usize, usize) -> Result<usize>,
    ) -> Result<()> {
        let directory = self.hidden.join("rooms").join(room.listed.name.as_str());
        fs::create_dir(&directory).map_err(errors::storage)?;
        let mut from = 0;
        for (file, until) in [(ARCHIVE, room.archived), (LOG, room.messages)] {
            if file == ARCHIVE && until == 0 {
                continue;
            }
            let file = fs::File::create_new(directory.join(file)).map_err(errors::storage)?;
            let mut file = BufWriter::new(file);
            while from < until {
                let written = lines(&mut file, from, until - from)?;
                if written == 0 {
                    return Err(Error::internal("a room has fewer messages than it should"));
                }
                from += written;
            }
            let synced = file.into_inner().map_err(io::IntoInnerError::into_error);
            synced
                .and_then(|file| file.sync_all())
                .map_err(errors::storage)?;
        }
        let (mut users, mut reads) = (ByName::default(), Reads::default());
        for member in &room.members {
            if let Some(user) = &member.user {
                users.set(&member.agent, user.clone());
            }
            if let Some(status) = &member.reads {
                reads.set(&member.agent, ReadStatus::clone(status));
            }
        }
        let presence = Presence {
            room_name: room.listed.name.to_string(),
            users,
            other: room.presence_other.clone(),
        };
        self.write(&directory, PRESENCE, &presence)?;
        match reads.len() {
            0 => Ok(()),
            _ => self.write(&directory, READS, &reads),
        }
    }

    /// Writes what is not part of a room, and the list of the rooms.
    pub fn write_shared(&self, shared: &Shared, rooms: &[MovedRoom]) -> Result<()> {
        let mut registry = Registry {
            other: shared.other.clone(),
            ..Registry::default()
        };
        let mut owners = Owners::default();
        for room in rooms {
            let listed = &room.listed;
            let mut entry = RoomEntry::new(listed.description.clone(), listed.created_at.clone());
            let users = room.members.iter().filter(|member| member.user.is_some());
            entry.message_count = room.messages as u64;
            entry.user_count = users.count() as u64;
            entry.other = room.other.clone();
            registry.rooms.set(listed.name.as_str(), entry);
            if let Some(key) = &room.creator {
                owners.created(&listed.name, &Actor::Key(key.clone()), |_| true);
            }
        }
        for holder in &shared.names {
            owners.add(holder.clone());
        }
        let mut agents = Agents::default();
        for (agent, first_seen_at) in &shared.agents {
            let first_seen_at = first_seen_at.clone();
            agents.agents.set(agent, FirstSeen { first_seen_at });
        }
        self.write(&self.hidden, OWNERS, &owners)?;
        self.write(&self.hidden, AGENTS, &agents)?;
        self.write(&self.hidden, ROOMS, &registry)
    }

    /// Shows the files: the rooms first, their list last.
    pub fn finish(self) -> Result<()> {
        let moved = (|| {
            let rooms = self.root.join("rooms");
            durable::sync_directory(&self.hidden.join("rooms"))?;
            durable::sync_directory(&self.hidden)?;
            // Empty, or there would be rooms already.
            dir::absent(fs::remove_dir(&rooms))?;
            for name in ["rooms", OWNERS, AGENTS, ROOMS] {
                fs::rename(self.hidden.join(name), self.root.join(name))?;
            }
            fs::remove_dir(&self.hidden)?;
            durable::sync_directory(&self.root)
        })();
        moved.map_err(errors::storage)
    }
}
