//! Replaces the files of sealed segments: compresses them, and erases arguments in them.
//!
//! Both happen under one lock, so that no text is compressed while it is erased. A file
//! is exchanged under the lock on the checkpoints, so that a backup, which holds that
//! lock, finds the files that it has listed.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Seek, SeekFrom, Write},
    path::Path,
};

use kit::Result;

use super::{
    directory::Directory,
    disk::{if_exists, seq_of, unusable},
    packed,
};
use crate::audit::{ranges::RecordRanges, record::StoredArguments};

/// A shorter file takes no less space when it is compressed.
const WORTHWHILE: u64 = 4096;

/// Longer than the number at the start of any line.
const SEQ_BYTES: usize = 32;

/// Compresses the files of these segments, which are sealed. Returns how many.
pub fn compress(directory: &Directory, sealed: &[String]) -> Result<u64> {
    let mut count = 0;
    for segment in sealed {
        for path in [directory.chain(segment), directory.arguments(segment)] {
            let length = fs::metadata(&path).map_or(0, |metadata| metadata.len());
            if length < WORTHWHILE {
                continue;
            }
            let _lock = directory.lock_contents()?;
            if count == 0 {
                packed::remove_unfinished(directory.path());
                packed::remove_unfinished(&directory.texts());
            }
            count += u64::from(one(directory, &path)?);
        }
    }
    Ok(count)
}

fn one(directory: &Directory, path: &Path) -> Result<bool> {
    let failed = |error| unusable(path, error);
    // Another process may have been first.
    let Some(mut plain) = if_exists(path, File::open(path))? else {
        return Ok(false);
    };
    let metadata = plain.metadata().map_err(failed)?;
    let made = packed::write(path, &mut plain, &metadata).map_err(failed)?;
    let _checkpoints = directory.locked_checkpoints()?;
    // Old segments may have been dropped meanwhile.
    if if_exists(path, fs::metadata(path))?.is_none() {
        fs::remove_file(&made).map_err(failed)?;
        return Ok(false);
    }
    packed::replace_plain(path, &made).map_err(failed)?;
    Ok(true)
}

/// Erases the arguments of these records; returns how many had any.
pub fn erase(directory: &Directory, segment: &str, records: &RecordRanges) -> Result<u64> {
    let path = directory.arguments(segment);
    let failed = |error| unusable(&path, error);
    if packed::metadata(&path).is_none() {
        return Ok(0);
    }
    let _lock = directory.lock_contents()?;
    // Read as bytes: a half erased line may not be UTF-8.
    let Some(mut bytes) = packed::read_bytes(&path)? else {
        return Ok(0);
    };
    let blanks = blanks(&bytes, records);
    let Some(metadata) = packed::metadata(&path) else {
        return Ok(0);
    };
    let erased = if path.exists() {
        // An interrupted process left it, with what is to be erased.
        packed::remove_packed(&path).and_then(|()| overwrite(&path, &blanks))
    } else if blanks.is_empty() {
        Ok(())
    } else {
        for (at, blank) in &blanks {
            let at = usize::try_from(*at).unwrap_or(usize::MAX);
            let end = at.saturating_add(blank.len());
            if let Some(line) = bytes.get_mut(at..end) {
                line.copy_from_slice(blank.as_bytes());
            }
        }
        packed::write(&path, &mut bytes.as_slice(), &metadata)
            .and_then(|made| packed::replace_packed(&path, &made))
    };
    erased.map_err(failed)?;
    Ok(blanks.len() as u64)
}

/// Where lines are to be overwritten, and with what. The length stays the same: a
/// process that adds to the file is not disturbed, and no copy of the text remains.
fn blanks(bytes: &[u8], records: &RecordRanges) -> Vec<(u64, String)> {
    let mut blanks = Vec::new();
    let mut at = 0u64;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let length = text.len();
        let begins = text.get(..length.min(SEQ_BYTES)).unwrap_or_default();
        let seq = seq_of(&String::from_utf8_lossy(begins));
        if records.contains(seq) {
            let blank = format!("{:<length$}", StoredArguments::erased(seq));
            if blank.len() == length && blank.as_bytes() != text {
                blanks.push((at, blank));
            }
        }
        at += line.len() as u64;
    }
    blanks
}

fn overwrite(path: &Path, blanks: &[(u64, String)]) -> io::Result<()> {
    if blanks.is_empty() {
        return Ok(());
    }
    let mut file = OpenOptions::new().write(true).open(path)?;
    for (at, blank) in blanks {
        file.seek(SeekFrom::Start(*at))?;
        file.write_all(blank.as_bytes())?;
    }
    file.sync_data()
}
