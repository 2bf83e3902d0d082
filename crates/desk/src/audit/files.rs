//! Segments as files. `NAME.jsonl` is the chain, `text/NAME.jsonl` the arguments,
//! `checkpoints.jsonl` the chain of checkpoints, and `torn/` has the lines that
//! crashes left half written.
//!
//! A process locks its segment for as long as it lives; the kernel releases the
//! lock when the process dies in any way. Chain and arguments are separate files,
//! so that chains can be copied to a place where nothing is ever erased.

mod directory;
mod disk;
mod segment;

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    fs::{self, File, OpenOptions, TryLockError},
    io::{Read, Seek, SeekFrom, Write},
    path::Path,
    sync::{Mutex, PoisonError},
};

use directory::{Directory, ENDING};
use disk::{
    if_exists, last_bytes, last_line, make_directory, milliseconds, read, seq_of, sync_directory,
    unusable,
};
use kit::{Blocking, Result};
use segment::FileSegmentWriter;

use super::{
    ranges::RecordRanges,
    record::{Head, Line, Record, StoredArguments, parse},
    store::{AuditStore, CHECKPOINTS, SegmentClaim, SegmentWriter, StoredSegment, THREADS},
};
use crate::private_files;

/// Longer than the number at the start of any line.
const SEQ_BYTES: usize = 32;

/// A file's modification time may lag behind the clock and its records.
const COARSE_MS: i64 = 10_000;

pub struct Files {
    directory: Directory,
    /// How many bytes of the checkpoints were read, and the sealed segments in them.
    sealed: Mutex<(u64, HashSet<String>)>,
    threads: Blocking,
}

impl Files {
    pub fn new(directory: &Path) -> Self {
        Self {
            directory: Directory::new(directory),
            sealed: Mutex::default(),
            threads: Blocking::new(THREADS),
        }
    }

    /// Which of these segments are sealed. Called often, so only new checkpoints are
    /// read, and their hashes are left to `verify`.
    fn sealed_among(&self, names: &[String]) -> Result<HashSet<String>> {
        let path = self.directory.chain(CHECKPOINTS);
        let failed = |error| unusable(&path, error);
        let mut sealed = self.sealed.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut file) = if_exists(&path, File::open(&path))? else {
            *sealed = Default::default();
            return Ok(HashSet::new());
        };
        let (read, known) = &mut *sealed;
        if file.metadata().map_err(failed)?.len() < *read {
            (*read, *known) = Default::default();
        }
        file.seek(SeekFrom::Start(*read)).map_err(failed)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        bytes.truncate(whole.map_or(0, |at| at + 1));
        *read += bytes.len() as u64;
        for line in bytes.split(|byte| *byte == b'\n') {
            let record: Option<Record<'_>> = serde_json::from_slice(line).ok();
            let sealed = record.filter(|record| record.kind == "sealed");
            known.extend(sealed.and_then(|it| it.segment).map(Cow::into_owned));
        }
        let names = names.iter().filter(|name| known.contains(*name));
        Ok(names.cloned().collect())
    }
}

impl AuditStore for Files {
    fn segments(&self) -> Result<Vec<String>> {
        let directory = self.directory.path();
        let entries = if_exists(directory, fs::read_dir(directory))?;
        let entries = entries.into_iter().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| !name.starts_with('.'))
            .filter_map(|name| name.strip_suffix(ENDING).map(str::to_owned))
            .filter(|name| name != CHECKPOINTS)
            .collect();
        names.sort();
        Ok(names)
    }

    fn unsealed(&self) -> Result<Vec<String>> {
        let mut names = self.segments()?;
        if !names.is_empty() {
            let sealed = self.sealed_among(&names)?;
            names.retain(|name| !sealed.contains(name));
        }
        Ok(names)
    }

    fn touched(&self, since: i64) -> Result<Vec<(String, i64)>> {
        let mut touched: Vec<(String, i64)> = self
            .segments()?
            .into_iter()
            .filter_map(|name| {
                let modified = fs::metadata(self.directory.chain(&name))
                    .ok()?
                    .modified()
                    .ok()?;
                Some((name, milliseconds(modified) + COARSE_MS))
            })
            .filter(|(_, at)| *at >= since)
            .collect();
        touched.sort_by_key(|(_, at)| std::cmp::Reverse(*at));
        Ok(touched)
    }

    fn read(&self, segment: &str) -> Result<Option<StoredSegment>> {
        let Some(text) = read(&self.directory.chain(segment))? else {
            return Ok(None);
        };
        let mut arguments: HashMap<u64, String> = HashMap::new();
        // Read after the chain, because arguments are written before their records.
        for line in read(&self.directory.arguments(segment))?
            .unwrap_or_default()
            .lines()
        {
            if let Ok(it) = serde_json::from_str::<StoredArguments>(line) {
                arguments.insert(it.seq, line.trim_end().to_owned());
            }
        }
        let whole = text.rfind('\n').map_or(0, |at| at + 1);
        let lines = text.get(..whole).unwrap_or_default().lines();
        let lines = lines
            .map(|line| (line.to_owned(), arguments.remove(&seq_of(line))))
            .collect();
        Ok(Some(StoredSegment {
            lines,
            torn: (text.len() - whole) as u64,
            keeps_arguments: self.directory.path().join("text").exists(),
        }))
    }

    fn first(&self, segment: &str) -> Result<Option<String>> {
        let path = self.directory.chain(segment);
        let Some(file) = if_exists(&path, File::open(&path))? else {
            return Ok(None);
        };
        let mut line = String::new();
        let mut reader = std::io::BufReader::new(file);
        std::io::BufRead::read_line(&mut reader, &mut line)
            .map_err(|error| unusable(&path, error))?;
        Ok(line.ends_with('\n').then(|| line.trim_end().to_owned()))
    }

    fn head(&self, segment: &str) -> Result<Option<Head>> {
        let path = self.directory.chain(segment);
        let Some(mut file) = if_exists(&path, File::open(&path))? else {
            return Ok(None);
        };
        let (bytes, _) = last_bytes(&mut file).map_err(|error| unusable(&path, error))?;
        Ok(last_line(&bytes)
            .and_then(|line| parse(line).ok())
            .map(|record| Head {
                segment: segment.to_owned(),
                seq: record.seq,
                hash: record.hash,
            }))
    }

    fn is_live(&self, segment: &str) -> Result<bool> {
        let path = self.directory.chain(segment);
        let Some(file) = if_exists(&path, File::open(&path))? else {
            return Ok(false);
        };
        // Closing the file releases the lock.
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(unusable(&path, error)),
        }
    }

    fn claim(&self, segment: &str) -> Result<Option<SegmentClaim>> {
        let path = self.directory.chain(segment);
        let Some(file) = if_exists(&path, File::open(&path))? else {
            return Ok(None);
        };
        match file.try_lock() {
            // Another process may have sealed it before we had the lock.
            Ok(()) => {
                let sealed = self.sealed_among(&[segment.to_owned()])?;
                Ok(sealed.is_empty().then(|| Box::new(file) as SegmentClaim))
            }
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(unusable(&path, error)),
        }
    }

    fn recorded(&self, calls: &HashSet<String>, since: i64) -> Result<HashSet<String>> {
        let mut found = HashSet::new();
        for (name, _) in self.touched(since)? {
            let Some(text) = read(&self.directory.chain(&name))? else {
                continue;
            };
            for line in text.lines() {
                let call = line
                    .split_once("\"call\":\"")
                    .and_then(|(_, rest)| rest.split_once('"'));
                if let Some((call, _)) = call
                    && calls.contains(call)
                {
                    found.insert(call.to_owned());
                }
            }
        }
        Ok(found)
    }

    fn begin(&self, segment: &str, first: &Line) -> Result<Box<dyn SegmentWriter>> {
        make_directory(self.directory.path())?;
        let path = self.directory.chain(segment);
        // Locked before it is visible: a segment without a lock counts as dead.
        let hidden = self.directory.path().join(format!(".{segment}.new"));
        let made = (|| {
            let mut file = private_files::options()
                .append(true)
                .create_new(true)
                .open(&hidden)?;
            file.lock()?;
            let text = format!("{}\n", first.record);
            file.write_all(text.as_bytes())?;
            file.sync_data()?;
            fs::rename(&hidden, &path)?;
            sync_directory(self.directory.path());
            Ok((file, text.len() as u64))
        })();
        let (file, length) = made.map_err(|error| {
            let _ = fs::remove_file(&hidden);
            unusable(&path, error)
        })?;
        let directory = self.directory.clone();
        Ok(Box::new(FileSegmentWriter::new(
            directory, segment, file, length,
        )))
    }

    fn checkpoints(&self) -> Result<Vec<String>> {
        let text = read(&self.directory.chain(CHECKPOINTS))?.unwrap_or_default();
        let whole = text.rfind('\n').map_or(0, |at| at + 1);
        let lines = text.get(..whole).unwrap_or_default().lines();
        Ok(lines.map(str::to_owned).collect())
    }

    fn checkpoint(&self, records: Vec<(Record<'static>, i64)>, _: Option<&str>) -> Result<()> {
        self.directory.add_checkpoints(records)
    }

    fn quarantine_torn_line(&self, segment: &str) -> Result<u64> {
        let path = self.directory.chain(segment);
        let failed = |error| unusable(&path, error);
        let bytes = fs::read(&path).map_err(failed)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let whole = whole.map_or(0, |at| at + 1);
        let torn = bytes.get(whole..).unwrap_or_default();
        if torn.is_empty() {
            return Ok(0);
        }
        let quarantine = self.directory.path().join("torn");
        make_directory(&quarantine)?;
        let quarantine = quarantine.join(segment);
        let opened = private_files::options()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&quarantine);
        let mut file = opened.map_err(failed)?;
        file.write_all(torn).map_err(failed)?;
        file.sync_data().map_err(failed)?;
        let file = OpenOptions::new().write(true).open(&path).map_err(failed)?;
        file.set_len(whole as u64).map_err(failed)?;
        file.sync_data().map_err(failed)?;
        Ok(torn.len() as u64)
    }

    fn erase(&self, segment: &str, records: &RecordRanges) -> Result<u64> {
        let path = self.directory.arguments(segment);
        let failed = |error| unusable(&path, error);
        // Read as bytes: a half erased line may not be UTF-8.
        let bytes = if_exists(&path, fs::read(&path))?.unwrap_or_default();
        let mut blanks: Vec<(u64, String)> = Vec::new();
        let mut at = 0u64;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            let length = text.len();
            let begins = text.get(..length.min(SEQ_BYTES)).unwrap_or_default();
            let seq = seq_of(&String::from_utf8_lossy(begins));
            if records.contains(seq) {
                // Overwritten in place with the same length: the process that adds
                // to the file is not disturbed, and no copy of the text remains.
                let blank = format!("{:<length$}", StoredArguments::erased(seq));
                if blank.len() == length && blank.as_bytes() != text {
                    blanks.push((at, blank));
                }
            }
            at += line.len() as u64;
        }
        if blanks.is_empty() {
            return Ok(0);
        }
        let mut file = OpenOptions::new().write(true).open(&path).map_err(failed)?;
        for (at, blank) in &blanks {
            file.seek(SeekFrom::Start(*at)).map_err(failed)?;
            file.write_all(blank.as_bytes()).map_err(failed)?;
        }
        file.sync_data().map_err(failed)?;
        Ok(blanks.len() as u64)
    }

    fn remove(&self, segment: &str) -> Result<()> {
        let torn = self.directory.path().join("torn").join(segment);
        for path in [
            self.directory.arguments(segment),
            torn,
            self.directory.chain(segment),
        ] {
            if_exists(&path, fs::remove_file(&path))?;
        }
        Ok(())
    }

    fn threads(&self) -> &Blocking {
        &self.threads
    }

    fn heartbeat(&self) -> Option<std::time::Duration> {
        None
    }
}
