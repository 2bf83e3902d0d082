//! A compressed file consists of members, each with some whole lines. So a line is found
//! without reading all lines before it, and any gzip program reads the whole file.
//!
//! The header of a member says in an extra field (RFC 1952) how long the member is.
//! Files of older versions have one member without it; those are read whole.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write},
    path::Path,
};

use flate2::{Compression, GzBuilder, read::GzDecoder};
use kit::Result;

use super::disk::{if_exists, is_damage, seq_of, unusable};

/// How many bytes of lines a member has, or a little more. Small enough to be read in a
/// moment, large enough to be compressed as well as a whole file.
const LINES: usize = 64 * 1024;

/// Two letters, the length of the value, and the value: the length of the member.
const EXTRA: [u8; 8] = [b'M', b'G', 4, 0, 0, 0, 0, 0];
/// The fixed part of a header, and the length of its extra field.
const BEFORE_EXTRA: usize = 12;
const HEADER: usize = BEFORE_EXTRA + EXTRA.len();
/// The same in a header: that there is an extra field and nothing else.
const FLAGS: (usize, u8) = (3, 0b100);

/// Compresses all lines.
pub fn write(content: &mut dyn Read, into: &mut dyn Write) -> io::Result<()> {
    let mut content = BufReader::new(content);
    let mut lines = Vec::new();
    loop {
        lines.clear();
        while lines.len() < LINES && content.read_until(b'\n', &mut lines)? > 0 {}
        if lines.is_empty() {
            return Ok(());
        }
        into.write_all(&member(&lines)?)?;
    }
}

fn member(lines: &[u8]) -> io::Result<Vec<u8>> {
    let builder = GzBuilder::new().extra(EXTRA);
    // Half of a record are hashes, which have no patterns to find: the usual effort takes
    // three times as long, and the files are as large.
    let mut encoder = builder.write(Vec::new(), Compression::fast());
    encoder.write_all(lines)?;
    let mut bytes = encoder.finish()?;
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    let place = bytes.get_mut(HEADER - 4..HEADER);
    place
        .ok_or(io::ErrorKind::InvalidData)?
        .copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// The members of a compressed file.
pub struct Members {
    file: File,
    /// Where each begins, and how long it is.
    places: Vec<(u64, u64)>,
}

impl Members {
    /// `None` if there is no such file, or if it has to be read whole.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        let Some(file) = if_exists(path, File::open(path))? else {
            return Ok(None);
        };
        let places = places(&file).map_err(|error| unusable(path, error))?;
        Ok(places.map(|places| Self { file, places }))
    }

    /// How many members begin with a line for which `is_after` does not hold. It must
    /// not hold for any line before one for which it does not.
    pub fn before(&self, is_after: impl Fn(&str) -> bool) -> io::Result<usize> {
        let (mut low, mut high) = (0, self.places.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match is_after(&self.first_line(middle)?) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        Ok(low)
    }

    pub fn count(&self) -> usize {
        self.places.len()
    }

    fn first_line(&self, at: usize) -> io::Result<String> {
        let mut bytes = Vec::new();
        let mut lines = BufReader::with_capacity(4096, self.reader(at)?);
        readable(lines.read_until(b'\n', &mut bytes))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The lines of one member, oldest first. Of a damaged one, those before the damage.
    pub fn lines(&self, at: usize) -> io::Result<Vec<String>> {
        let mut bytes = Vec::with_capacity(LINES);
        readable(self.reader(at)?.read_to_end(&mut bytes))?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.lines().map(str::to_owned).collect())
    }

    fn reader(&self, at: usize) -> io::Result<impl Read + use<'_>> {
        let (begin, length) = *self.places.get(at).ok_or(io::ErrorKind::InvalidInput)?;
        let mut file = &self.file;
        file.seek(SeekFrom::Start(begin))?;
        Ok(GzDecoder::new(file.take(length)))
    }
}

fn readable(read: io::Result<usize>) -> io::Result<()> {
    match read {
        Err(error) if !is_damage(&error) => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn places(mut file: &File) -> io::Result<Option<Vec<(u64, u64)>>> {
    let whole = file.metadata()?.len();
    let (mut places, mut begin) = (Vec::new(), 0);
    while begin < whole {
        let mut header = [0; HEADER];
        file.seek(SeekFrom::Start(begin))?;
        match file.read_exact(&mut header) {
            Ok(()) => {}
            Err(error) if is_damage(&error) => return Ok(None),
            Err(error) => return Err(error),
        }
        let Some(length) = length_in(&header).filter(|length| *length <= whole - begin) else {
            return Ok(None);
        };
        places.push((begin, length));
        begin += length;
    }
    Ok(Some(places))
}

fn length_in(header: &[u8; HEADER]) -> Option<u64> {
    let (at, flags) = FLAGS;
    let (extra, length) = header.get(BEFORE_EXTRA..)?.split_at_checked(4)?;
    let is_ours = header.starts_with(&[0x1f, 0x8b])
        && header.get(at) == Some(&flags)
        && EXTRA.starts_with(extra);
    let length = u64::from(u32::from_le_bytes(length.try_into().ok()?));
    (is_ours && length >= HEADER as u64).then_some(length)
}

/// The line with this number; the outer `None`: the file has to be read whole.
pub fn numbered_line(path: &Path, seq: u64) -> Result<Option<Option<String>>> {
    let Some(members) = Members::open(path)? else {
        return Ok(None);
    };
    let find = || {
        let before = members.before(|line| seq_of(line) > seq)?;
        let Some(at) = before.checked_sub(1) else {
            return Ok(None);
        };
        let mut lines = members.lines(at)?.into_iter();
        Ok(lines.find(|line| seq_of(line) == seq))
    };
    let found: io::Result<Option<String>> = find();
    found.map(Some).map_err(|error| unusable(path, error))
}

#[cfg(test)]
mod tests {
    use flate2::read::MultiGzDecoder;

    use super::*;

    fn line(seq: u64) -> String {
        format!("{{\"seq\":{seq},\"text\":\"{}\"}}", "x".repeat(1000))
    }

    fn compressed(lines: std::ops::Range<u64>) -> (tempfile::TempDir, std::path::PathBuf) {
        let text: String = lines.map(|seq| line(seq) + "\n").collect();
        let mut bytes = Vec::new();
        write(&mut text.as_bytes(), &mut bytes).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.jsonl.gz");
        std::fs::write(&path, bytes).unwrap();
        (directory, path)
    }

    #[test]
    fn every_line_of_a_compressed_file_is_found_and_the_whole_file_is_gzip() {
        let (_directory, path) = compressed(1..1001);
        let members = Members::open(&path).unwrap().unwrap();
        assert_eq!(members.count(), 16, "a megabyte");
        for seq in [1, 2, 255, 256, 257, 258, 259, 999, 1000] {
            let found = numbered_line(&path, seq).unwrap().unwrap();
            assert_eq!(found, Some(line(seq)), "{seq}");
        }
        for seq in [0, 1001, u64::MAX] {
            assert_eq!(numbered_line(&path, seq).unwrap(), Some(None), "{seq}");
        }
        let whole = MultiGzDecoder::new(File::open(&path).unwrap());
        assert_eq!(BufReader::new(whole).lines().count(), 1000);
    }

    #[test]
    fn a_file_without_lengths_or_with_wrong_ones_is_left_to_be_read_whole() {
        let (_directory, path) = compressed(1..600);
        let good = std::fs::read(&path).unwrap();
        assert!(numbered_line(&path, 1).unwrap().is_some());
        for (at, byte) in [(0, 0), (3, 0), (12, b'X'), (16, 0xff), (19, 0xff)] {
            let mut bad = good.clone();
            bad[at] = byte;
            std::fs::write(&path, &bad).unwrap();
            assert_eq!(numbered_line(&path, 1).unwrap(), None, "{at}");
        }
        std::fs::write(&path, &good[..good.len() - 1]).unwrap();
        assert_eq!(numbered_line(&path, 1).unwrap(), None, "torn");
    }
}
