//! The files of all rooms at one moment, for a backup.
//!
//! While the locks are held nobody changes a room. Logs only grow, and other files are
//! replaced as a whole, so what was opened under the locks can be read after them.

use std::{
    fs::{self, File},
    io::{Read, Seek, SeekFrom},
    path::Path,
};

use kit::Result;

use super::{
    dir::{self, ACTIVITY, AGENTS, ARCHIVE, Dir, LOG, OWNERS, ROOMS},
    lock::{self, Held},
    process,
};
use crate::{Settings, errors, model::names::RoomName};

/// A file of the data directory.
pub struct RoomFile {
    /// Relative to the data directory, with `/`.
    pub name: String,
    pub content: RoomFileContent,
}

pub enum RoomFileContent {
    /// A small file, which another program may overwrite in place.
    Bytes(Vec<u8>),
    /// A log, and how many of its bytes belong to the copy.
    Log(File, u64),
}

/// Keeps everybody from changing the rooms until it is dropped.
pub struct FrozenRooms {
    dir: Dir,
    rooms: Vec<RoomName>,
    _locks: Vec<Held>,
}

impl FrozenRooms {
    /// `None` if there are no rooms in this directory.
    pub fn new(settings: &Settings) -> Result<Option<Self>> {
        let place = Dir::new(settings.data_dir.clone());
        if !has_rooms(&place) {
            return Ok(None);
        }
        let timeout = settings.lock_timeout();
        let mut locks = vec![lock::registry(&place, timeout)?];
        let mut rooms = Vec::new();
        let listed = dir::absent(fs::read_dir(place.rooms())).map_err(errors::storage)?;
        for entry in listed.into_iter().flatten().flatten() {
            let name = entry.file_name();
            let room = name.to_str().and_then(|name| RoomName::parse(name).ok());
            if let (Some(room), Ok(kind)) = (room, entry.file_type())
                && kind.is_dir()
            {
                locks.push(lock::room(&place, &room, timeout)?);
                rooms.push(room);
            }
        }
        rooms.sort();
        Ok(Some(Self {
            dir: place,
            rooms,
            _locks: locks,
        }))
    }

    /// What belongs to a copy. Signs of life, locks and other programs' files do not.
    pub fn files(&self) -> Result<Vec<RoomFile>> {
        let mut found = Vec::new();
        let is_registry = |name: &str| {
            let known = [ROOMS, AGENTS, OWNERS];
            known.iter().any(|known| is_or_was(name, known))
        };
        self.add("", self.dir.root(), is_registry, &mut found)?;
        for room in &self.rooms {
            let path = self.dir.room(room).map_err(errors::storage)?;
            let is_part =
                |name: &str| !name.starts_with('.') && !name.ends_with(".lock") && name != ACTIVITY;
            self.add(&format!("rooms/{room}/"), &path, is_part, &mut found)?;
        }
        Ok(found)
    }

    fn add(
        &self,
        prefix: &str,
        directory: &Path,
        is_part: impl Fn(&str) -> bool,
        found: &mut Vec<RoomFile>,
    ) -> Result<()> {
        let entries = fs::read_dir(directory).map_err(errors::storage)?.flatten();
        let entries = entries.filter(|it| it.file_type().is_ok_and(|kind| kind.is_file()));
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| is_part(name)).collect();
        names.sort();
        for name in names {
            let opened = dir::open_to_read(&directory.join(&name)).map_err(errors::storage)?;
            if let Some(file) = opened {
                found.push(RoomFile {
                    content: content(file, &name).map_err(errors::storage)?,
                    name: format!("{prefix}{name}"),
                });
            }
        }
        Ok(())
    }
}

/// `rooms.json`, or what was kept of it when it was damaged.
fn is_or_was(name: &str, known: &str) -> bool {
    let rest = name.strip_prefix(known);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(".damaged-"))
}

fn content(mut file: File, name: &str) -> std::io::Result<RoomFileContent> {
    if name == LOG || name == ARCHIVE {
        let length = whole_lines(&mut file)?;
        return Ok(RoomFileContent::Log(file, length));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(RoomFileContent::Bytes(bytes))
}

/// The length up to the last line end: a torn line may be cut at any time.
fn whole_lines(file: &mut File) -> std::io::Result<u64> {
    const BLOCK: u64 = 64 * 1024;
    let mut end = file.metadata()?.len();
    while end > 0 {
        let from = end.saturating_sub(BLOCK);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(end - from).read_to_end(&mut bytes)?;
        if let Some(at) = bytes.iter().rposition(|byte| *byte == b'\n') {
            return Ok(from + at as u64 + 1);
        }
        end = from;
    }
    Ok(0)
}

fn has_rooms(dir: &Dir) -> bool {
    dir.root().join(ROOMS).exists() || dir.rooms().exists()
}

/// Whether there is something of this counter in the directory.
pub fn exists(settings: &Settings) -> bool {
    let dir = Dir::new(settings.data_dir.clone());
    let known = [ROOMS, AGENTS, OWNERS];
    let has_file = known.iter().any(|name| dir.root().join(name).exists());
    let rooms = fs::read_dir(dir.rooms());
    has_file || rooms.is_ok_and(|mut entries| entries.next().is_some())
}

/// Whether a process serves these rooms now. The original server can't be seen.
pub fn is_served(settings: &Settings) -> bool {
    process::is_any_alive(&Dir::new(settings.data_dir.clone()))
}
