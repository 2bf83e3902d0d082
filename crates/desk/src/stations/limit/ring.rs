//! The times of a caller's last requests, in a file that all processes on one
//! embedded database share.
//!
//! The file is a header and a ring buffer of times (milliseconds since 1970). It is
//! read and changed under a lock on the file and never synced: it survives the end of
//! every process, and a power failure loses at most the last minute.
//!
//! If the clock was set back, times in the future count as now: nobody waits longer
//! than a minute, and nobody gets more requests.

use std::{
    fs::{self, File, Metadata, TryLockError},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    time::SystemTime,
};

use crate::private_files;

pub const WINDOW_MS: i64 = kit::minute_limit::MINUTE_MS;

/// The first eight bytes of the file; another format gets another value.
const MAGIC: u64 = u64::from_be_bytes(*b"mdglim01");
/// Five numbers of eight bytes: the magic, `slots`, `first`, `used`, `closed_until`.
const HEADER: u64 = 40;
/// Enough for the usual limit. Doubles when a minute has more requests.
const FIRST_SLOTS: u64 = 128;
const MOST_SLOTS: u64 = 1 << 32;
/// How many times (entries) are read at once.
const CHUNK: u64 = 512;

const ENDING: &str = "ring";

/// Only where `is_gone` can detect a removed or replaced file.
const CAN_STAY_OPEN: bool = cfg!(unix);

/// The answer to requests that are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RingAdmission {
    /// So many of them pass, and count. The others have to ask again.
    Admitted(u64),
    /// None passes. They have to wait this many milliseconds.
    RetryAfter(i64),
    /// Another process has locked the file.
    Busy,
}

pub fn file_name(counter: &str, digest: &str) -> String {
    format!("{counter}-{digest}.{ENDING}")
}

/// A caller's file, which stays open between requests where that is safe.
pub struct RingFile {
    path: PathBuf,
    /// Not locked.
    open: Option<File>,
}

impl RingFile {
    pub fn new(path: PathBuf) -> Self {
        Self { path, open: None }
    }

    pub fn is_at(&self, path: &Path) -> bool {
        self.path.as_os_str() == path.as_os_str()
    }

    /// Counts those of so many requests that pass. `now` is called under the lock, so
    /// that times are in order.
    pub fn take(
        &mut self,
        limit: u64,
        requests: u64,
        now: impl Fn() -> i64,
    ) -> io::Result<RingAdmission> {
        let Some((mut file, length)) = self.lock()? else {
            return Ok(RingAdmission::Busy);
        };
        let now = now();
        let mut ring = match Ring::load(&mut file, length)? {
            Some(ring) => ring,
            None => {
                tracing::warn!(
                    file = %self.path.display(),
                    "the count of a caller's requests is damaged; the caller is refused for a minute"
                );
                Ring::create(&mut file, now + WINDOW_MS)?
            }
        };
        let taken = ring.take(&mut file, limit, requests, now)?;
        if matches!(taken, RingAdmission::Admitted(_)) && ring.used > ring.slots {
            ring.grow(&mut file, &self.path, now)?;
        } else if CAN_STAY_OPEN {
            file.unlock()?;
            self.open = Some(file);
        }
        Ok(taken)
    }

    fn lock(&mut self) -> io::Result<Option<(File, u64)>> {
        if let Some(file) = self.open.take() {
            match file.try_lock() {
                Ok(()) => {
                    if let Some(length) = length(&file)? {
                        return Ok(Some((file, length)));
                    }
                    // Another file has its name, or none has.
                }
                Err(TryLockError::WouldBlock) => {
                    self.open = Some(file);
                    return Ok(None);
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        lock(&self.path)
    }
}

/// Removes the files of callers without recent requests.
pub fn sweep(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.extension().is_some_and(|it| it == ENDING) && is_old(&path) {
            // Under its lock, so that a waiting process notices the removal.
            if let Ok(Some(_locked)) = lock(&path)
                && is_old(&path)
            {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

fn is_old(path: &Path) -> bool {
    let modified = fs::metadata(path).and_then(|it| it.modified());
    let age = modified.map(|at| SystemTime::now().duration_since(at).unwrap_or_default());
    CAN_STAY_OPEN && age.is_ok_and(|age| age.as_millis() > 2 * WINDOW_MS as u128)
}

/// The file and its length. `None`: another process has locked, replaced or removed it.
fn lock(path: &Path) -> io::Result<Option<(File, u64)>> {
    let open = || {
        let mut options = private_files::options();
        options.read(true).write(true).create(true).truncate(false);
        options.open(path)
    };
    let file = match open() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if let Some(directory) = path.parent() {
                private_files::create_directory(directory)?;
            }
            open()?
        }
        opened => opened?,
    };
    match file.try_lock() {
        Ok(()) => Ok(length(&file)?.map(|length| (file, length))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// `None`: the file has no name any more.
fn length(file: &File) -> io::Result<Option<u64>> {
    let metadata = file.metadata()?;
    Ok((!is_gone(&metadata)).then_some(metadata.len()))
}

#[cfg(unix)]
fn is_gone(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) == 0
}

#[cfg(not(unix))]
fn is_gone(_: &Metadata) -> bool {
    false
}

#[derive(Debug)]
struct Ring {
    slots: u64,
    /// The slot of the oldest time.
    first: u64,
    used: u64,
    /// No request passes before this time. Set after damage, when it is unknown how
    /// many requests passed.
    closed_until: i64,
}

impl Ring {
    /// `None`: the file is damaged.
    fn load(file: &mut File, length: u64) -> io::Result<Option<Self>> {
        if length == 0 {
            return Self::create(file, 0).map(Some);
        }
        if length < HEADER {
            return Ok(None);
        }
        let mut numbers = [0u64; 5];
        let read = read_numbers(file, 0, 5)?;
        numbers.copy_from_slice(read.get(..5).ok_or(ErrorKind::UnexpectedEof)?);
        let [magic, slots, first, used, closed_until] = numbers;
        let is_sound = magic == MAGIC
            && (1..=MOST_SLOTS).contains(&slots)
            && first < slots
            && used <= slots
            && length >= HEADER + slots * 8;
        Ok(is_sound.then_some(Self {
            slots,
            first,
            used,
            closed_until: closed_until.cast_signed(),
        }))
    }

    /// Writes an empty ring in full length, so that a disk that fills up later does not
    /// keep callers out.
    fn create(file: &mut File, closed_until: i64) -> io::Result<Self> {
        let ring = Self {
            slots: FIRST_SLOTS,
            first: 0,
            used: 0,
            closed_until,
        };
        file.set_len(0)?;
        write_at(file, 0, &ring.bytes(&[]))?;
        Ok(ring)
    }

    fn header(&self) -> [u64; 5] {
        let closed_until = self.closed_until.cast_unsigned();
        [MAGIC, self.slots, self.first, self.used, closed_until]
    }

    /// The whole file, with these times in its first slots.
    fn bytes(&self, times: &[i64]) -> Vec<u8> {
        let times = times.iter().map(|time| time.cast_unsigned());
        let numbers = self.header().into_iter().chain(times);
        let mut bytes: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
        let whole = usize::try_from(HEADER + self.slots * 8).unwrap_or(usize::MAX);
        bytes.resize(whole, 0);
        bytes
    }

    /// Afterwards `used` may exceed `slots` by one: see `grow`.
    fn take(
        &mut self,
        file: &mut File,
        limit: u64,
        requests: u64,
        now: i64,
    ) -> io::Result<RingAdmission> {
        self.closed_until = self.closed_until.min(now + WINDOW_MS);
        if self.closed_until > now {
            self.save(file)?;
            return Ok(RingAdmission::RetryAfter(self.closed_until - now));
        }
        self.correct_future_times(file, now)?;
        self.drop_old(file, now)?;
        if self.used < limit {
            let free = self.slots.saturating_sub(self.used);
            let passed = requests.min(limit - self.used).min(free.max(1));
            if passed <= free {
                // The times first: if this process dies in between, nothing passed.
                self.write_times(file, self.used, passed, now)?;
                self.used += passed;
                self.save(file)?;
            } else {
                self.used += 1;
            }
            return Ok(RingAdmission::Admitted(passed));
        }
        // If another process has a higher limit, more than one time must expire.
        let oldest = self.times(file, self.used - limit, 1)?;
        let oldest = oldest.first().copied().unwrap_or(now);
        let wait = oldest.saturating_sub(now).saturating_add(WINDOW_MS + 1);
        Ok(RingAdmission::RetryAfter(wait.clamp(1, WINDOW_MS)))
    }

    /// Doubles the ring for the request that has just passed.
    fn grow(&mut self, file: &mut File, path: &Path, now: i64) -> io::Result<()> {
        let mut times = self.times(file, 0, self.slots)?;
        times.push(now);
        self.slots = (self.slots * 2).min(MOST_SLOTS);
        self.first = 0;
        let bytes = self.bytes(&times);
        private_files::replace(path, |file| file.write_all(&bytes))
    }

    fn correct_future_times(&mut self, file: &mut File, now: i64) -> io::Result<()> {
        let Some(last) = self.used.checked_sub(1) else {
            return Ok(());
        };
        if self.times(file, last, 1)?.iter().all(|time| *time <= now) {
            return Ok(());
        }
        for (at, time) in (0..).zip(self.times(file, 0, self.used)?) {
            if time > now {
                self.write_times(file, at, 1, now)?;
            }
        }
        Ok(())
    }

    /// A time expires after more than a minute: with millisecond precision, exactly a
    /// minute could be a little less.
    fn drop_old(&mut self, file: &mut File, now: i64) -> io::Result<()> {
        // Usually none is old, and the first says so.
        let mut looked_at = 1;
        while self.used > 0 {
            let times = self.times(file, 0, self.used.min(looked_at))?;
            let old = times
                .iter()
                .take_while(|time| now.saturating_sub(**time) > WINDOW_MS);
            let old = old.count() as u64;
            self.first = (self.first + old) % self.slots;
            self.used -= old;
            if old < looked_at {
                break;
            }
            looked_at = CHUNK;
        }
        Ok(())
    }

    fn save(&self, file: &mut File) -> io::Result<()> {
        write_numbers(file, 0, &self.header())
    }

    fn offset(&self, at: u64) -> u64 {
        HEADER + (self.first + at) % self.slots * 8
    }

    /// Writes the same time into `count` slots, starting with the `from`th oldest.
    fn write_times(&self, file: &mut File, from: u64, count: u64, time: i64) -> io::Result<()> {
        let before_the_end = self.slots - (self.first + from) % self.slots;
        for (from, count) in [
            (from, count.min(before_the_end)),
            (from + before_the_end, count.saturating_sub(before_the_end)),
        ] {
            if count > 0 {
                let count = usize::try_from(count).map_err(|_| ErrorKind::FileTooLarge)?;
                let times = vec![time.cast_unsigned(); count];
                write_numbers(file, self.offset(from), &times)?;
            }
        }
        Ok(())
    }

    /// `count` times, starting with the `from`th oldest.
    fn times(&self, file: &mut File, from: u64, count: u64) -> io::Result<Vec<i64>> {
        let start = self.offset(from);
        let before_the_end = (HEADER + self.slots * 8 - start) / 8;
        let mut numbers = read_numbers(file, start, count.min(before_the_end))?;
        let more = count.saturating_sub(before_the_end);
        if more > 0 {
            numbers.extend(read_numbers(file, HEADER, more)?);
        }
        Ok(numbers.into_iter().map(u64::cast_signed).collect())
    }
}

fn read_numbers(file: &mut File, offset: u64, count: u64) -> io::Result<Vec<u64>> {
    let length = usize::try_from(count * 8).map_err(|_| ErrorKind::FileTooLarge)?;
    let mut bytes = vec![0; length];
    read_at(file, offset, &mut bytes)?;
    let (numbers, _) = bytes.as_chunks::<8>();
    Ok(numbers.iter().map(|it| u64::from_le_bytes(*it)).collect())
}

fn write_numbers(file: &mut File, offset: u64, numbers: &[u64]) -> io::Result<()> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
    write_at(file, offset, &bytes)
}

/// One call of the system each, because every request makes five of them.
#[cfg(unix)]
fn read_at(file: &mut File, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(unix)]
fn write_at(file: &mut File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn read_at(file: &mut File, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(bytes)
}

#[cfg(not(unix))]
fn write_at(file: &mut File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests;
