//! Rooms that `rooms.json` lacks, by its copy and the directories. Nothing here
//! writes the file; its next change does.

use std::{
    fs,
    io::{self, Read},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    model::{
        message::{SearchedLine, written},
        names,
        registry::{Registry, RoomEntry},
    },
    store::files::{
        cached::Copied,
        dir::{self, ARCHIVE, LOG, PRESENCE, Stamp},
    },
};

/// How much of a log is read to see when it begins.
const BEGINNING: u64 = 64 * 1024;

/// The list of rooms with those that it lacks, worked out once per state of the
/// file and of the directory.
#[derive(Default)]
pub struct Restored(Mutex<Option<Known>>);

struct Known {
    listed: Arc<Registry>,
    directory: Option<Stamp>,
    all: Arc<Registry>,
}

impl Restored {
    /// `listed` with every room of `rooms` that has messages and is not in it.
    pub fn complete(&self, listed: Arc<Registry>, rooms: &Path) -> io::Result<Arc<Registry>> {
        let directory = Stamp::at(rooms);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known
            && Arc::ptr_eq(&known.listed, &listed)
            && known.directory == directory
        {
            return Ok(Arc::clone(&known.all));
        }
        let has_messages = |path: &Path| [LOG, ARCHIVE].iter().any(|file| is_file(path, file, 1));
        let all = add_rooms(&listed, rooms, has_messages)?;
        let all = match all.rooms.len() > listed.rooms.len() {
            true => Arc::new(all),
            false => Arc::clone(&listed),
        };
        let is_settled = directory.is_none_or(|stamp| stamp.is_settled());
        *known = is_settled.then(|| Known {
            listed,
            directory,
            all: Arc::clone(&all),
        });
        Ok(all)
    }

    /// Reads the directories again: an existing one may have got a log.
    pub fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The rooms where their list is damaged, empty or gone: those of its copy, and
/// all that have a directory.
pub fn rooms(copy: Option<Copied<Registry>>, rooms: &Path) -> io::Result<Registry> {
    // Somebody who removed the list and all rooms wants to start anew.
    let copy = copy.filter(|_| rooms.is_dir());
    let known = copy.map(|copy| copy.value).unwrap_or_default();
    let is_room = |path: &Path| [LOG, PRESENCE].iter().any(|file| is_file(path, file, 0));
    add_rooms(&known, rooms, is_room)
}

fn add_rooms(
    listed: &Registry,
    rooms: &Path,
    is_room: impl Fn(&Path) -> bool,
) -> io::Result<Registry> {
    let mut found: Vec<(String, RoomEntry)> = Vec::new();
    for entry in dir::absent(fs::read_dir(rooms))?.into_iter().flatten() {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if names::is_room_name(&name)
            && listed.rooms.get(&name).is_none()
            && entry.file_type()?.is_dir()
            && is_room(&entry.path())
        {
            let made = match first_message(&entry.path()) {
                Some(at) => at,
                None => written(entry.metadata()?.modified()?.try_into().unwrap_or_default()),
            };
            found.push((name, RoomEntry::new(None, made)));
        }
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut all = listed.clone();
    for (name, entry) in found {
        all.rooms.set(&name, entry);
    }
    Ok(all)
}

fn is_file(directory: &Path, name: &str, at_least: u64) -> bool {
    let metadata = fs::symlink_metadata(directory.join(name));
    metadata.is_ok_and(|metadata| metadata.is_file() && metadata.len() >= at_least)
}

/// When the oldest message of a room was sent, as its line says.
fn first_message(directory: &Path) -> Option<String> {
    [ARCHIVE, LOG].iter().find_map(|name| {
        let file = dir::open_to_read(&directory.join(name)).ok()??;
        let mut beginning = Vec::new();
        file.take(BEGINNING).read_to_end(&mut beginning).ok()?;
        let mut lines = beginning.split(|byte| *byte == b'\n');
        let time = lines.find_map(|line| SearchedLine::parse(line)?.time())?;
        Some(written(time))
    })
}
