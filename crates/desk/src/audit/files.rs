//! Segments as files. `NAME.jsonl` is the chain, `text/NAME.jsonl` the arguments,
//! `checkpoints.jsonl` the chain of checkpoints, `heads/` has the heads of segments
//! that are not sealed, and `torn/` the lines that crashes left half written. Files of
//! sealed segments are compressed: `NAME.jsonl.gz`.
//!
//! A process locks its segment for as long as it lives; the kernel releases the
//! lock when the process dies in any way. Chain and arguments are separate files,
//! so that chains can be copied to a place where nothing is ever erased.

mod compress;
pub(super) mod directory;
pub(super) mod disk;
mod kept_head;
mod members;
mod newest_first;
mod packed;
mod segment;

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    fs::{self, File, OpenOptions, TryLockError},
    io::{BufRead, BufReader, Read, Seek, SeekFrom, Write},
    path::Path,
    sync::{Mutex, PoisonError},
};

use directory::{Directory, ENDING};
use disk::{
    if_exists, last_bytes, last_line, make_directory, milliseconds, seq_of, unusable, whole_lines,
};
use kit::{Blocking, Result, durable};
use newest_first::{Merged, numbered_line};
use packed::read;
use segment::FileSegmentWriter;

use super::{
    position::{NewestFirst, Position},
    ranges::RecordRanges,
    record::{Head, Record, RecordLine, StoredArguments, parse},
    store::{AuditStore, CHECKPOINTS, SegmentClaim, SegmentWriter, StoredSegment, THREADS},
};
use crate::private_files;

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
        bytes.truncate(whole_lines(&bytes));
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

/// The segment to which a file belongs.
fn segment_of(file: &str) -> Option<&str> {
    let file = file.strip_suffix(packed::ENDING).unwrap_or(file);
    file.strip_suffix(ENDING)
}

/// The line with this number; the outer `None`: the file has to be read whole.
fn numbered(path: &Path, seq: u64) -> Result<Option<Option<String>>> {
    match path.exists() {
        true => numbered_line(path, seq).map(Some),
        false => members::numbered_line(&packed::packed(path), seq),
    }
}

impl Files {
    /// Finds a record in a segment whose files have to be read whole.
    fn row(&self, segment: &str, seq: u64) -> Result<Option<(String, Option<String>)>> {
        let stored = self.read(segment)?.unwrap_or_default();
        let mut lines = stored.lines.into_iter();
        Ok(lines.find(|(line, _)| seq_of(line) == seq))
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
            .filter_map(|name| segment_of(&name).map(str::to_owned))
            .filter(|name| name != CHECKPOINTS)
            .collect();
        names.sort();
        names.dedup();
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
                let chain = packed::metadata(&self.directory.chain(&name))?;
                let modified = chain.modified().ok()?;
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
        let whole = whole_lines(text.as_bytes());
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

    fn newest_first(&self, before: Option<Position>) -> Result<NewestFirst<'_>> {
        let read_whole = |segment: &str| {
            let stored = self.read(segment)?.unwrap_or_default();
            Ok(stored.lines)
        };
        let touched = self.touched(i64::MIN)?;
        let merged = Merged::new(&self.directory, touched, before, Box::new(read_whole));
        Ok(Box::new(merged))
    }

    fn line(&self, segment: &str, seq: u64) -> Result<Option<String>> {
        match numbered(&self.directory.chain(segment), seq)? {
            Some(found) => Ok(found),
            None => Ok(self.row(segment, seq)?.map(|row| row.0)),
        }
    }

    fn arguments(&self, segment: &str, seq: u64) -> Result<Option<String>> {
        match numbered(&self.directory.arguments(segment), seq)? {
            Some(found) => Ok(found),
            None => Ok(self.row(segment, seq)?.and_then(|row| row.1)),
        }
    }

    fn first(&self, segment: &str) -> Result<Option<String>> {
        let path = self.directory.chain(segment);
        let Some(file) = packed::open(&path)? else {
            return Ok(None);
        };
        let mut line = String::new();
        // A damaged one has no first line; `verify` reports it.
        let _ = BufReader::new(file).read_line(&mut line);
        Ok(line.ends_with('\n').then(|| line.trim_end().to_owned()))
    }

    fn head(&self, segment: &str) -> Result<Option<Head>> {
        let path = self.directory.chain(segment);
        let bytes = match if_exists(&path, File::open(&path))? {
            Some(mut file) => {
                let last = match segment == CHECKPOINTS || self.is_live(segment)? {
                    true => last_bytes(&mut file).map(|(bytes, _)| bytes),
                    // Its last seconds may not have been on disk. Another process may
                    // have sealed and compressed it meanwhile: what is open can be read.
                    false => {
                        let mut bytes = Vec::new();
                        file.read_to_end(&mut bytes).map(|_| {
                            bytes.truncate(whole_lines(&bytes));
                            bytes
                        })
                    }
                };
                Some(last.map_err(|error| unusable(&path, error))?)
            }
            None => packed::read_bytes(&path)?,
        };
        Ok(last_line(&bytes.unwrap_or_default())
            .and_then(|line| parse(line).ok())
            .map(|record| Head {
                segment: segment.to_owned(),
                seq: record.seq,
                hash: record.hash,
            }))
    }

    fn kept_heads(&self) -> Result<Vec<Head>> {
        kept_head::all(&self.directory)
    }

    fn durable_head(&self, segment: &str) -> Result<Option<Head>> {
        let head = self.head(segment)?;
        let path = self.directory.chain(segment);
        // Whoever wrote it: this syncs the file.
        if let Some(file) = if_exists(&path, File::open(&path))? {
            file.sync_data().map_err(|error| unusable(&path, error))?;
        }
        Ok(head)
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

    fn begin(&self, segment: &str, first: &RecordLine) -> Result<Box<dyn SegmentWriter>> {
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
            durable::sync_name(&path)?;
            Ok((file, text.len() as u64))
        })();
        let (file, length) = made.map_err(|error| {
            let _ = fs::remove_file(&hidden);
            unusable(&path, error)
        })?;
        let directory = self.directory.clone();
        Ok(Box::new(FileSegmentWriter::new(
            directory, segment, file, length, first,
        )))
    }

    fn checkpoints(&self) -> Result<Vec<String>> {
        let text = read(&self.directory.chain(CHECKPOINTS))?.unwrap_or_default();
        let lines = text.get(..whole_lines(text.as_bytes())).unwrap_or_default();
        let lines = lines.lines();
        Ok(lines.map(str::to_owned).collect())
    }

    fn checkpoint(&self, records: Vec<(Record<'static>, i64)>, sealed: Option<&str>) -> Result<()> {
        self.directory.add_checkpoints(records)?;
        if let Some(segment) = sealed {
            // The checkpoint names the head now.
            let path = self.directory.kept_head(segment);
            if_exists(&path, fs::remove_file(&path))?;
        }
        Ok(())
    }

    fn quarantine_torn_line(&self, segment: &str) -> Result<u64> {
        let path = self.directory.chain(segment);
        let failed = |error| unusable(&path, error);
        let bytes = fs::read(&path).map_err(failed)?;
        let whole = whole_lines(&bytes);
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
        durable::sync_name(&quarantine).map_err(failed)?;
        let file = OpenOptions::new().write(true).open(&path).map_err(failed)?;
        file.set_len(whole as u64).map_err(failed)?;
        file.sync_data().map_err(failed)?;
        Ok(torn.len() as u64)
    }

    fn erase(&self, segment: &str, records: &RecordRanges) -> Result<u64> {
        compress::erase(&self.directory, segment, records)
    }

    fn remove(&self, segment: &str) -> Result<()> {
        let torn = self.directory.path().join("torn").join(segment);
        let arguments = self.directory.arguments(segment);
        let chain = self.directory.chain(segment);
        for path in [
            packed::packed(&arguments),
            arguments,
            torn,
            self.directory.kept_head(segment),
            packed::packed(&chain),
            chain,
        ] {
            if_exists(&path, fs::remove_file(&path))?;
        }
        Ok(())
    }

    fn compress(&self) -> Result<u64> {
        let mut names = self.segments()?;
        if names.is_empty() {
            return Ok(0);
        }
        let sealed = self.sealed_among(&names)?;
        names.retain(|name| sealed.contains(name));
        // Left by processes that were killed after they had sealed their segments.
        for head in self.kept_heads()? {
            if sealed.contains(&head.segment) {
                let path = self.directory.kept_head(&head.segment);
                if_exists(&path, fs::remove_file(&path))?;
            }
        }
        compress::compress(&self.directory, &names)
    }

    fn bytes(&self) -> Result<u64> {
        Ok(self.sizes()?.values().sum())
    }

    fn sizes(&self) -> Result<HashMap<String, u64>> {
        let mut sizes: HashMap<String, u64> = HashMap::new();
        for directory in [self.directory.path(), &self.directory.texts()] {
            let entries = if_exists(directory, fs::read_dir(directory))?;
            for entry in entries.into_iter().flatten().flatten() {
                let (name, metadata) = (entry.file_name(), entry.metadata());
                if let (Some(segment), Ok(metadata)) =
                    (segment_of(&name.to_string_lossy()), metadata)
                {
                    *sizes.entry(segment.to_owned()).or_default() += metadata.len();
                }
            }
        }
        Ok(sizes)
    }

    fn free_bytes(&self) -> Option<u64> {
        disk::free_bytes(self.directory.path())
    }

    fn threads(&self) -> &Blocking {
        &self.threads
    }

    fn heartbeat(&self) -> Option<std::time::Duration> {
        None
    }
}
