//! Keeping logs whole and short: a torn last line is set aside, the oldest
//! messages move to the archive, a room is cleared. All under the room's lock.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    ops::Range,
    path::Path,
};

use jiff::Timestamp;
use kit::Result;

use super::{
    Registry, Room, Store,
    cached::State,
    files::{self, ARCHIVE, LOG, OWNERS, ROOMS},
    index::{Files, Index},
    lock::Held,
    segment::{Reader, Segment, copy_range},
};
use crate::{errors, model::message::Head};

const TORN: &str = "messages.torn-";
/// Rooms that hold more than this are shortened by a tenth at a time; smaller
/// ones to their limit exactly, since rewriting them costs little.
pub const LARGE: usize = 1_000;

/// Whether a file of the room does not end in a complete line.
pub fn is_torn(index: &Index, files: &Files) -> io::Result<bool> {
    let both = [(&files.log, &index.log), (&files.archive, &index.archive)];
    for (file, segment) in both {
        if let Some(file) = file
            && tail_of(file, segment)?.is_some()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Makes both files end in a complete line. Nobody else writes now, the original
/// server neither, so that whatever has no end is what a crash left.
pub fn mend(directory: &Path, index: &mut Index, files: &Files) -> io::Result<()> {
    if let Some(archive) = &files.archive
        && let Some(tail) = tail_of(archive, &index.archive)?
    {
        // The log still has what was being moved.
        finish(&directory.join(ARCHIVE), &index.archive, &tail)?;
        index.refresh(files)?;
    }
    if let Some(log) = &files.log
        && let Some(tail) = tail_of(log, &index.log)?
    {
        if Head::parse(&tail).is_none() {
            let now = Timestamp::now();
            let name = format!("{TORN}{}.jsonl", now.as_millisecond());
            files::replace(directory, &name, &tail, true)?;
            tracing::warn!(
                bytes = tail.len(),
                kept_in = name,
                "a torn last line was cut from a log"
            );
        }
        finish(&directory.join(LOG), &index.log, &tail)?;
        index.refresh(files)?;
    }
    Ok(())
}

/// What follows the last complete line, if anything.
fn tail_of(mut file: &File, segment: &Segment) -> io::Result<Option<Vec<u8>>> {
    if !segment.is_behind(file)? {
        return Ok(None);
    }
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(segment.end()))?;
    file.read_to_end(&mut tail)?;
    Ok(Some(tail).filter(|tail| !tail.is_empty()))
}

/// Ends a message that only lacks its line end; cuts anything else.
fn finish(path: &Path, segment: &Segment, tail: &[u8]) -> io::Result<()> {
    let mut file = files::open(path, OpenOptions::new().append(true))?;
    if Head::parse(tail).is_some() {
        file.write_all(b"\n")?;
    } else {
        file.set_len(segment.end())?;
    }
    file.sync_data()
}

/// The files that hold what was cut from a room's log.
pub fn torn_files(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let names = entries
        .flatten()
        .filter_map(|e| e.file_name().into_string().ok());
    let mut torn: Vec<String> = names.filter(|name| name.starts_with(TORN)).collect();
    torn.sort();
    torn
}

pub struct Health {
    /// Of everything in the room's directory.
    pub bytes: u64,
    /// What is or was wrong with the files.
    pub warnings: Vec<String>,
}

impl Store {
    /// What is wrong with the files that no room owns.
    pub fn complaints(&self) -> Result<Vec<String>> {
        let root = self.dir.root();
        let mut found = self.agents.complaints(root).map_err(errors::storage)?;
        match self.registry.state(root).map_err(errors::storage)? {
            // What is odd about a room is said with the room.
            State::Read(listed) => {
                found.extend(self.registry.set_aside(root));
                found.extend(self.unlisted(&listed)?.map(|name| {
                    format!(
                        "{ROOMS} does not list `{name}`, whose messages are there: it counts as a \
                         room, without its description. The next change lists it."
                    )
                }));
            }
            State::Absent | State::Damaged => {
                found.extend(self.registry.complaints(root).map_err(errors::storage)?);
            }
        }
        match self.owners.state(root).map_err(errors::storage)? {
            State::Damaged => found.push(format!(
                "{OWNERS} cannot be understood; agents that call over a network are refused until \
                 it is put right."
            )),
            State::Read(_) => {
                found.extend(self.owners.complaints(root).map_err(errors::storage)?);
            }
            State::Absent => {}
        }
        Ok(found)
    }

    /// The rooms that their list lacks.
    pub(super) fn unlisted(&self, listed: &Registry) -> Result<impl Iterator<Item = String>> {
        let all = self.registry()?;
        let unlisted = all
            .rooms
            .names()
            .filter(|name| listed.rooms.get(name).is_none());
        let unlisted: Vec<String> = unlisted.map(str::to_owned).collect();
        Ok(unlisted.into_iter())
    }

    pub fn health(&self, room: &Room) -> Result<Health> {
        let directory = room.directory()?;
        let (damaged, unfinished) = room.look(|index, files| {
            let tail = match &files.log {
                Some(log) => tail_of(log, &index.log)?,
                None => None,
            };
            Ok((
                index.damaged(),
                tail.is_some_and(|tail| Head::parse(&tail).is_none()),
            ))
        })?;
        let mut warnings = Vec::new();
        if damaged > 0 {
            warnings.push(format!(
                "{damaged} damaged line(s) in the log are passed over and left as they are."
            ));
        }
        if unfinished {
            warnings.push("The log ends in a torn line; the next message sets it aside.".into());
        }
        let torn = torn_files(&directory);
        if !torn.is_empty() {
            warnings.push(format!(
                "A torn last line was cut from the log and kept in {}.",
                torn.join(", ")
            ));
        }
        let odd = self.require(&room.name)?.odd;
        warnings.extend(odd.iter().map(|what| {
            format!("{ROOMS}: {what} cannot be understood; what the room's own files say counts.")
        }));
        let complaints = [
            room.presence.complaints(&directory),
            room.reads.complaints(&directory),
            room.activity.complaints(&directory),
        ];
        for complaint in complaints {
            warnings.extend(complaint.map_err(errors::storage)?);
        }
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
        let sizes = entries.filter_map(|entry| entry.metadata().ok());
        Ok(Health {
            bytes: sizes.map(|metadata| metadata.len()).sum(),
            warnings,
        })
    }

    /// Moves the oldest messages to the archive when the log is over its limit,
    /// and ends a move that was broken off. The archive has them safely before
    /// the log loses them; in between they are in both, and counted once.
    pub(super) fn shorten(&self, held: &Held, room: &Room) -> Result<()> {
        let most = self.settings.max_messages.get() as usize;
        let is_long = |index: &Index| index.log.count() > most || index.log.repeated_until > 0;
        if !room.look(|index, _| Ok(is_long(index)))? {
            return Ok(());
        }
        let directory = room.directory()?;
        let lock = held.file(&directory, LOG)?;
        room.look_mut(|index, files| {
            if !is_long(index) {
                return Ok(());
            }
            let count = index.log.count();
            let keep = if most > LARGE { most - most / 10 } else { most };
            let moved = if count > most { count - keep } else { 0 };
            let Some(log) = &files.log else { return Ok(()) };
            let from = index.log.repeated_until;
            let cut = match moved {
                0 => from,
                _ => Reader::new(&index.log, log).start_of(moved)?,
            };
            archive(&directory, log, from..cut)?;
            let length = log.metadata()?.len();
            let rest = |file: &mut File| copy_range(log, cut..length, file);
            if files::replace_with(&directory, LOG, true, rest, || lock.is_held())? {
                rescue(&directory, log, length)?;
            }
            let files = Files::open(&directory)?;
            index.refresh(&files)
        })?;
        self.told_log(room);
        Ok(())
    }
}

/// What another program added to the old log after it was copied, for it may
/// have lost its lock or never had one, is added to the new one.
fn rescue(directory: &Path, old: &File, copied: u64) -> io::Result<()> {
    let length = old.metadata()?.len();
    if length <= copied {
        return Ok(());
    }
    let mut log = files::open(&directory.join(LOG), OpenOptions::new().append(true))?;
    copy_range(old, copied..length, &mut log)?;
    log.sync_data()
}

fn archive(directory: &Path, log: &File, range: Range<u64>) -> io::Result<()> {
    if range.is_empty() {
        return Ok(());
    }
    let path = directory.join(ARCHIVE);
    let mut file = files::open(&path, OpenOptions::new().append(true).create(true))?;
    let before = file.metadata()?.len();
    let written = copy_range(log, range, &mut file).and_then(|()| file.sync_data());
    if let Err(error) = written {
        file.set_len(before)?;
        return Err(error);
    }
    files::sync_directory(directory)
}
