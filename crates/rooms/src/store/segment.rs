//! Where each message lies in one file: four bytes per message, so that a
//! hundred full rooms fit into a few megabytes.

use std::{
    fs::File,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    ops::Range,
};

use super::files::Stamp;

/// Between two positions that are written down; those between are added up.
const STRIDE: usize = 64;
const BUFFER: usize = 128 * 1024;

#[derive(Default)]
pub struct Segment {
    stamp: Stamp,
    /// Up to here the file has been read; always the end of a line.
    end: u64,
    /// Bytes before `end` that belong to no message: damaged or skipped lines.
    gap: u64,
    /// Length and hash of the last line read, by which a file is known to be
    /// still the one that was read.
    tail: (u64, u64),
    /// The bytes of each message, with what lies between it and the one before.
    spans: Vec<u32>,
    /// Where every [`STRIDE`]th message starts.
    marks: Vec<u64>,
    pub damaged: u32,
    /// Where the lines end that repeat another file.
    pub repeated_until: u64,
}

/// What to do with a line.
pub enum Verdict {
    Message,
    /// Nothing: a blank line.
    Skipped,
    /// The archive has it already.
    Repeated,
    Damaged,
}

impl Segment {
    pub fn count(&self) -> usize {
        self.spans.len()
    }

    pub fn end(&self) -> u64 {
        self.end
    }

    /// Whether the file still begins with what was read of it, so that only
    /// what is new has to be read.
    pub fn still_holds(&self, file: Option<&File>) -> io::Result<bool> {
        let Some(mut file) = file else {
            return Ok(self.end == 0);
        };
        if self.end == 0 {
            return Ok(true);
        }
        let stamp = Stamp::of(&file.metadata()?);
        if stamp == self.stamp && stamp.is_settled() {
            return Ok(true);
        }
        if stamp.inode != self.stamp.inode || stamp.length < self.end {
            return Ok(false);
        }
        let (length, hash) = self.tail;
        let mut tail = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        file.seek(SeekFrom::Start(self.end - length))?;
        match file.read_exact(&mut tail) {
            Ok(()) => Ok(hash_of(&tail) == hash),
            // Cut this very moment, after a write that failed.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether there is anything to read that has not been read.
    pub fn is_behind(&self, file: &File) -> io::Result<bool> {
        Ok(file.metadata()?.len() > self.end)
    }

    /// Makes room for as many messages as the file seems to hold by its first one.
    pub fn make_room(&mut self, mut file: &File) -> io::Result<usize> {
        let length = usize::try_from(file.metadata()?.len()).unwrap_or(0);
        let mut start = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.take(4096).read_to_end(&mut start)?;
        let line = start.iter().position(|byte| *byte == b'\n');
        let expected = length / line.unwrap_or(4096).max(80);
        self.spans.reserve_exact(expected);
        self.marks.reserve_exact(expected / STRIDE + 1);
        Ok(expected)
    }

    /// Reads the complete lines that are new. The last line is left alone while
    /// it has no end: somebody may be writing it.
    pub fn read_on(
        &mut self,
        mut file: &File,
        mut judge: impl FnMut(&[u8]) -> io::Result<Verdict>,
    ) -> io::Result<()> {
        let stamp = Stamp::of(&file.metadata()?);
        if stamp.length > self.end {
            file.seek(SeekFrom::Start(self.end))?;
            let ahead = usize::try_from(stamp.length - self.end).unwrap_or(BUFFER);
            let mut reader = BufReader::with_capacity(ahead.min(BUFFER), file);
            let mut line = Vec::new();
            loop {
                line.clear();
                reader.read_until(b'\n', &mut line)?;
                let Some(text) = line.strip_suffix(b"\n") else {
                    break;
                };
                let verdict = if text.iter().all(u8::is_ascii_whitespace) {
                    Verdict::Skipped
                } else {
                    judge(text)?
                };
                self.take(line.len() as u64, &verdict)?;
                self.tail = (line.len() as u64, 0);
                // Hashing each line would cost as much as reading it.
                if reader.buffer().is_empty() || !reader.buffer().contains(&b'\n') {
                    self.tail.1 = hash_of(&line);
                }
            }
        }
        self.stamp = stamp;
        Ok(())
    }

    fn take(&mut self, length: u64, verdict: &Verdict) -> io::Result<()> {
        match verdict {
            Verdict::Message => {
                let span = u32::try_from(self.gap + length).map_err(io::Error::other)?;
                if self.spans.len().is_multiple_of(STRIDE) {
                    self.marks.push(self.end - self.gap);
                }
                make_space(&mut self.spans);
                self.spans.push(span);
                self.gap = 0;
            }
            Verdict::Skipped => self.gap += length,
            Verdict::Repeated => {
                self.gap += length;
                self.repeated_until = self.end + length;
            }
            Verdict::Damaged => {
                self.gap += length;
                self.damaged += 1;
            }
        }
        self.end += length;
        Ok(())
    }

    /// Where the message at `at` starts, or where the last one ends.
    pub fn start_of(&self, at: usize) -> u64 {
        let Some(mark) = self.marks.get(at / STRIDE) else {
            return self.end - self.gap;
        };
        let first = at - at % STRIDE;
        let between = self.spans.get(first..at).unwrap_or_default();
        mark + between.iter().map(|span| u64::from(*span)).sum::<u64>()
    }

    /// How many of the messages before `until`, counted back from it, fit into `bytes`.
    pub fn fit_before(&self, until: usize, most: usize, bytes: u64) -> usize {
        let mut left = bytes;
        let spans = self.spans.get(..until).unwrap_or_default();
        let fitting = spans.iter().rev().take(most).take_while(|span| {
            let fits = u64::from(**span) <= left;
            left = left.saturating_sub(u64::from(**span));
            fits
        });
        fitting.count()
    }

    /// Hands the text of each message in `range` to `each`, oldest first.
    pub fn read(
        &self,
        mut file: &File,
        range: Range<usize>,
        mut each: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let (from, to) = (self.start_of(range.start), self.start_of(range.end));
        let mut bytes = vec![0; usize::try_from(to - from).map_err(io::Error::other)?];
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(&mut bytes)?;
        let mut rest = bytes.as_slice();
        for span in self.spans.get(range).unwrap_or_default() {
            let Some((message, after)) = rest.split_at_checked(*span as usize) else {
                break;
            };
            rest = after;
            let text = message.strip_suffix(b"\n").unwrap_or(message);
            each(text.rsplit(|byte| *byte == b'\n').next().unwrap_or(text));
        }
        Ok(())
    }

    pub fn shrink(&mut self) {
        self.spans.shrink_to_fit();
        self.marks.shrink_to_fit();
    }
}

/// Doubling, as vectors do by themselves, would waste half of the memory of
/// every room that was just filled.
pub fn make_space<T>(vector: &mut Vec<T>) {
    if vector.len() == vector.capacity() {
        vector.reserve_exact(vector.len() / 8 + 32);
    }
}

pub fn hash_of(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
