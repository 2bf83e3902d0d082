//! Reads the trail's files: whole, and their last lines.

use std::{
    fs::File,
    io::{ErrorKind, Read, Seek, SeekFrom},
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use kit::{Error, Result};

use crate::private_files;

/// How much is read to find the last record. Longer than nearly all records.
const LAST_BYTES: u64 = 64 * 1024;

pub fn unusable(path: &Path, error: std::io::Error) -> Error {
    Error::new(
        "AUDIT_UNUSABLE",
        format!("{} can't be used: {error}.", path.display()),
    )
    .next("Check for a full disk and for the owner of the directory.")
}

pub fn broken(segment: &str, what: &str) -> Error {
    Error::new(
        "AUDIT_BROKEN",
        format!("The last record of {segment} is damaged: {what}."),
    )
    .next("Run `madoguchi audit verify`.")
}

pub fn make_directory(directory: &Path) -> Result<()> {
    private_files::create_directory(directory).map_err(|error| unusable(directory, error))
}

/// Whether a compressed file is damaged, rather than out of reach.
pub fn is_damage(error: &std::io::Error) -> bool {
    use ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

/// The result of using a file; `None`: it does not exist.
pub fn if_exists<T>(path: &Path, result: std::io::Result<T>) -> Result<Option<T>> {
    match result {
        Ok(it) => Ok(Some(it)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unusable(path, error)),
    }
}

/// The length of the lines that are whole. A power loss may cut off the end of a file, or
/// leave zeros in place of some blocks that were not synced; what follows them is torn too.
pub fn whole_lines(bytes: &[u8]) -> usize {
    let zero = bytes.iter().position(|byte| *byte == 0);
    let written = bytes.get(..zero.unwrap_or(bytes.len())).unwrap_or_default();
    let end = written.iter().rposition(|byte| *byte == b'\n');
    end.map_or(0, |at| at + 1)
}

/// The last whole lines of a file, and the length of all of its whole lines. Zeros that
/// are further from its end are not found.
pub fn last_bytes(file: &mut File) -> std::io::Result<(Vec<u8>, u64)> {
    let length = file.metadata()?.len();
    let mut span = LAST_BYTES;
    loop {
        let from = length.saturating_sub(span);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(length - from).read_to_end(&mut bytes)?;
        let end = whole_lines(&bytes);
        bytes.truncate(end);
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        if from > 0 && lines < 2 {
            span *= 4;
            continue;
        }
        return Ok((bytes, from + end as u64));
    }
}

pub fn last_line(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok();
    // The first bytes may be the end of a longer character.
    let text = text.or_else(|| {
        let at = bytes.iter().position(|byte| *byte == b'\n')?;
        std::str::from_utf8(bytes.get(at + 1..)?).ok()
    })?;
    text.lines().next_back()
}

/// The number of a line, without checking it: that is left to the hash.
pub fn seq_of(line: &str) -> u64 {
    line.strip_prefix("{\"seq\":")
        .and_then(|rest| rest.split_once(','))
        .and_then(|(seq, _)| seq.parse().ok())
        .unwrap_or(0)
}

pub fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// How many bytes this user may still write there; `None`: unknown.
pub fn free_bytes(path: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        // A directory that does not exist yet will be on the disk of its parent.
        let there = path.ancestors().find(|path| path.exists())?;
        let disk = rustix::fs::statvfs(there).ok()?;
        Some(disk.f_bavail.saturating_mul(disk.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_last_line_is_found_however_long_it_is() {
        for length in [1, LAST_BYTES - 1, LAST_BYTES, 20 * LAST_BYTES] {
            let mut file = tempfile::tempfile().unwrap();
            let last = "x".repeat(usize::try_from(length).unwrap());
            let whole = format!("first\nsecond\n{last}\n");
            file.write_all(whole.as_bytes()).unwrap();
            file.write_all(b"torn").unwrap();
            let (bytes, end) = last_bytes(&mut file).unwrap();
            assert_eq!(last_line(&bytes), Some(&*last), "{length}");
            assert_eq!(end, whole.len() as u64);
        }
    }
}
