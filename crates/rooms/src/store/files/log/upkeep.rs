//! Repairs and shortens a log: a torn last line is moved to a file of its own, and the
//! oldest messages move to the archive. All of it under the room's lock.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    ops::Range,
    path::Path,
};

use jiff::Timestamp;
use kit::durable;

use super::{
    index::{Files, Index},
    segment::{Reader, Segment, copy_range},
};
use crate::{
    model::message::IndexedLine,
    store::{
        files::{
            dir::{self, ARCHIVE, LOG, Stamp},
            original_lock::OriginalLock,
        },
        messages::kept,
    },
};

const TORN: &str = "messages.torn-";

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

/// Makes both files end in a complete line. The locks keep everybody else from writing, so
/// an incomplete line was left by a crash.
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
        if IndexedLine::parse(&tail).is_none() {
            let now = Timestamp::now();
            let name = format!("{TORN}{}.jsonl", now.as_millisecond());
            dir::replace(directory, &name, &tail, true)?;
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
pub fn tail_of(mut file: &File, segment: &Segment) -> io::Result<Option<Vec<u8>>> {
    if !segment.is_behind(file)? {
        return Ok(None);
    }
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(segment.end()))?;
    file.read_to_end(&mut tail)?;
    Ok(Some(tail).filter(|tail| !tail.is_empty()))
}

/// Completes a message that only lacks its line end; removes anything else.
fn finish(path: &Path, segment: &Segment, tail: &[u8]) -> io::Result<()> {
    let mut file = dir::open(path, OpenOptions::new().append(true))?;
    if IndexedLine::parse(tail).is_some() {
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

/// Whether the log holds more than `most` messages, or repeats the archive.
pub fn is_long(index: &Index, most: usize) -> bool {
    index.log.count() > most || index.log.repeated_until > 0
}

/// Moves the oldest messages to the archive when the log is over its limit, and completes
/// an interrupted move. The archive is synced before the log is shortened; in between
/// they are in both, and counted once.
pub fn shorten(
    directory: &Path,
    most: usize,
    lock: &OriginalLock,
    (index, files): (&mut Index, &Files),
) -> io::Result<()> {
    if !is_long(index, most) {
        return Ok(());
    }
    let count = index.log.count();
    let moved = if count > most { count - kept(most) } else { 0 };
    let Some(log) = &files.log else { return Ok(()) };
    let from = index.log.repeated_until;
    let cut = match moved {
        0 => from,
        _ => Reader::new(&index.log, log).start_of(moved)?,
    };
    let is_plain = index.all_is_messages(files)?;
    archive(directory, log, from..cut)?;
    let length = log.metadata()?.len();
    let rest = |file: &mut File| copy_range(log, cut..length, file);
    let is_replaced = dir::replace_with(directory, LOG, true, rest, || lock.is_held())?;
    if is_replaced {
        rescue(directory, log, length)?;
    }
    let now = Files::open(directory)?;
    if is_replaced && is_plain {
        index.follow_move((moved, cut), log, &now)?;
    }
    index.refresh(&now)
}

/// Removes all messages, archived ones too.
pub fn clear(directory: &Path) -> io::Result<()> {
    dir::replace(directory, LOG, b"", true)?;
    dir::absent(fs::remove_file(directory.join(ARCHIVE)))?;
    for name in torn_files(directory) {
        fs::remove_file(directory.join(name))?;
    }
    durable::sync_directory(directory)
}

/// Appends whole lines and waits until they are on the disk; on failure the log
/// is as it was. `told` learns first what the log will be.
pub fn append(directory: &Path, bytes: &[u8], told: impl Fn(Stamp)) -> io::Result<()> {
    let path = directory.join(LOG);
    let is_new = Stamp::at(&path).is_none();
    let mut file = dir::open(&path, OpenOptions::new().append(true).create(true))?;
    let before = Stamp::of(&file.metadata()?);
    // So that the watcher does not take this for another process's write.
    told(before.grown_by(bytes.len() as u64));
    let mut write = || {
        file.write_all(bytes)?;
        file.sync_data()?;
        match is_new {
            true => durable::sync_directory(directory),
            false => Ok(()),
        }
    };
    let written = write();
    if written.is_err() {
        file.set_len(before.length)?;
    }
    written
}

/// Adds what another program wrote to the old log after it was copied. That program may
/// have lost its lock, or never had one.
fn rescue(directory: &Path, old: &File, copied: u64) -> io::Result<()> {
    let length = old.metadata()?.len();
    if length <= copied {
        return Ok(());
    }
    let mut log = dir::open(&directory.join(LOG), OpenOptions::new().append(true))?;
    copy_range(old, copied..length, &mut log)?;
    log.sync_data()
}

fn archive(directory: &Path, log: &File, range: Range<u64>) -> io::Result<()> {
    if range.is_empty() {
        return Ok(());
    }
    let path = directory.join(ARCHIVE);
    let mut file = dir::open(&path, OpenOptions::new().append(true).create(true))?;
    let before = file.metadata()?.len();
    let written = copy_range(log, range, &mut file).and_then(|()| file.sync_data());
    if let Err(error) = written {
        file.set_len(before)?;
        return Err(error);
    }
    durable::sync_directory(directory)
}
