//! Where messages are in one file. The index holds the start of every block of
//! messages; the rest is found by reading the block, which keeps the memory of a
//! hundred full rooms small.

use std::{
    fs::File,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    mem,
    ops::Range,
};

use super::packed::make_space;
use crate::{model::message::IndexedLine, store::files::dir::Stamp};

/// The most messages of a block,
const BLOCK_MESSAGES: usize = 128;
/// and the bytes after which it ends, so that reading one is quick.
const BLOCK_BYTES: u64 = 32 * 1024;
const BUFFER: usize = 64 * 1024;

#[derive(Default)]
pub struct Segment {
    stamp: Stamp,
    /// Up to here the file has been read; always the end of a line.
    end: u64,
    /// Length and hash of the last message read, with what follows it, to check that it is
    /// still the same file.
    tail: (u64, u64),
    count: usize,
    blocks: Vec<Block>,
    pub damaged: u32,
    /// The end of the lines that repeat another file.
    pub repeated_until: u64,
}

struct Block {
    /// Where its first message starts, and which one that is.
    start: u64,
    first: u32,
    /// Whether lines are among it that are no messages.
    is_mixed: bool,
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
        self.count
    }

    pub fn end(&self) -> u64 {
        self.end
    }

    /// Whether the file still begins with what was read of it, so that only
    /// what is new has to be read.
    pub fn still_holds(&mut self, file: Option<&File>) -> io::Result<bool> {
        let Some(file) = file else {
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
        match read_range(file, self.end - length..self.end) {
            Ok(tail) => {
                let holds = hash_of(&tail) == hash;
                if holds && stamp.length == self.end {
                    self.stamp = stamp;
                }
                Ok(holds)
            }
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
        let line = memchr::memchr(b'\n', &start).unwrap_or(4096).max(80);
        let expected = length / line;
        self.blocks.reserve_exact(expected / BLOCK_MESSAGES + 1);
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
                let verdict = if is_blank(text) {
                    Verdict::Skipped
                } else {
                    judge(text)?
                };
                self.take(line.len() as u64, &verdict);
                self.tail = (line.len() as u64, 0);
                // Only the last line of the buffer: hashing each would cost as much as reading.
                if reader.buffer().is_empty() || !reader.buffer().contains(&b'\n') {
                    self.tail.1 = hash_of(&line);
                }
            }
        }
        self.stamp = stamp;
        Ok(())
    }

    fn take(&mut self, length: u64, verdict: &Verdict) {
        match verdict {
            Verdict::Message => {
                if self.is_block_full() {
                    make_space(&mut self.blocks);
                    self.blocks.push(Block {
                        start: self.end,
                        first: u32::try_from(self.count).unwrap_or(u32::MAX),
                        is_mixed: false,
                    });
                }
                self.count += 1;
            }
            Verdict::Skipped | Verdict::Repeated | Verdict::Damaged => {
                if let Some(block) = self.blocks.last_mut() {
                    block.is_mixed = true;
                }
            }
        }
        self.end += length;
        match verdict {
            Verdict::Repeated => self.repeated_until = self.end,
            Verdict::Damaged => self.damaged += 1,
            Verdict::Message | Verdict::Skipped => {}
        }
    }

    fn is_block_full(&self) -> bool {
        self.blocks.last().is_none_or(|block| {
            self.count - block.first as usize >= BLOCK_MESSAGES
                || self.end - block.start >= BLOCK_BYTES
        })
    }

    pub fn shrink(&mut self) {
        self.blocks.shrink_to_fit();
    }

    /// Follows a move of the first `moved` messages, those before `cut`, to the end of
    /// `archive`. Only the block that is cut is read. At least one message stays.
    pub fn follow_move(
        &mut self,
        archive: &mut Self,
        (moved, cut): (usize, u64),
        file: &File,
    ) -> io::Result<()> {
        let last = Reader::new(self, file).start_of(moved.saturating_sub(1))?;
        let tail = read_range(file, last..cut)?;
        let first = u32::try_from(moved).unwrap_or(u32::MAX);
        let cut_before = self.blocks.partition_point(|block| block.first < first);
        let mut stays = self.blocks.split_off(cut_before);
        if let Some(block) = self.blocks.last()
            && stays.first().is_none_or(|next| next.first > first)
        {
            let is_mixed = block.is_mixed;
            stays.insert(
                0,
                Block {
                    start: cut,
                    first,
                    is_mixed,
                },
            );
        }
        let bytes = archive.end;
        let mut moves = mem::take(&mut self.blocks).into_iter().peekable();
        while let Some(block) = moves.next() {
            let (next, end) = moves.peek().map_or((first, cut), |it| (it.first, it.start));
            let messages = (next - block.first) as usize;
            archive.add_block(bytes + block.start..bytes + end, messages, block.is_mixed);
        }
        archive.tail = (tail.len() as u64, hash_of(&tail));
        for block in &mut stays {
            block.start -= cut;
            block.first -= first;
        }
        self.blocks = stays;
        self.count -= moved;
        self.end -= cut;
        Ok(())
    }

    /// Adds messages at `place`, which follow those that it has. Few of them become a part
    /// of the last block.
    fn add_block(&mut self, place: Range<u64>, messages: usize, is_mixed: bool) {
        let count = self.count + messages;
        let fits = |last: &Block| {
            count - last.first as usize <= BLOCK_MESSAGES && place.end - last.start <= BLOCK_BYTES
        };
        match self.blocks.last_mut().filter(|last| fits(last)) {
            // Blank lines may stand between the two.
            Some(last) => last.is_mixed |= is_mixed || place.start > self.end,
            None => {
                make_space(&mut self.blocks);
                self.blocks.push(Block {
                    start: place.start,
                    first: u32::try_from(self.count).unwrap_or(u32::MAX),
                    is_mixed,
                });
            }
        }
        (self.count, self.end) = (count, place.end);
    }

    /// What was read is in this file now. Whether it really is, [`Self::still_holds`] finds
    /// out.
    pub fn now_in(&mut self, file: Option<&File>) -> io::Result<()> {
        if let Some(file) = file {
            self.stamp.inode = Stamp::of(&file.metadata()?).inode;
        }
        Ok(())
    }

    #[cfg(test)]
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }
}

/// Reads messages of one file, a block at a time.
pub struct Reader<'a> {
    segment: &'a Segment,
    file: &'a File,
    /// The numbers of the messages that are in memory.
    held: Range<usize>,
    start: u64,
    bytes: Vec<u8>,
    lines: Vec<Range<usize>>,
}

impl<'a> Reader<'a> {
    pub fn new(segment: &'a Segment, file: &'a File) -> Self {
        Self {
            segment,
            file,
            held: 0..0,
            start: 0,
            bytes: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// The text of the message at `at`.
    pub fn text(&mut self, at: usize) -> io::Result<Option<&[u8]>> {
        let line = self.line(at)?;
        Ok(line.and_then(|line| self.bytes.get(line)))
    }

    /// Where in the file the message at `at` starts, or where the last one ends.
    pub fn start_of(&mut self, at: usize) -> io::Result<u64> {
        let line = self.line(at)?;
        Ok(line.map_or(self.segment.end, |line| self.start + line.start as u64))
    }

    fn line(&mut self, at: usize) -> io::Result<Option<Range<usize>>> {
        if at >= self.segment.count {
            return Ok(None);
        }
        if !self.held.contains(&at) {
            self.fetch(at)?;
        }
        Ok(self.lines.get(at - self.held.start).cloned())
    }

    fn fetch(&mut self, at: usize) -> io::Result<()> {
        let blocks = &self.segment.blocks;
        let after = blocks.partition_point(|block| block.first as usize <= at);
        let Some(block) = blocks.get(after.wrapping_sub(1)) else {
            return Ok(());
        };
        let (count, end) = match blocks.get(after) {
            Some(next) => (next.first as usize, next.start),
            None => (self.segment.count, self.segment.end),
        };
        self.bytes = read_range(self.file, block.start..end)?;
        self.start = block.start;
        self.held = block.first as usize..count;
        self.lines.clear();
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', &self.bytes) {
            let text = self.bytes.get(start..end).unwrap_or_default();
            if !block.is_mixed || !is_blank(text) && IndexedLine::parse(text).is_some() {
                self.lines.push(start..end);
            }
            start = end + 1;
        }
        Ok(())
    }
}

fn is_blank(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_whitespace)
}

pub fn read_range(mut file: &File, range: Range<u64>) -> io::Result<Vec<u8>> {
    let length = usize::try_from(range.end - range.start).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    file.seek(SeekFrom::Start(range.start))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Appends a part of a file to another, whatever its size, in little memory.
pub fn copy_range(mut from: &File, range: Range<u64>, to: &mut File) -> io::Result<()> {
    let length = range.end - range.start;
    from.seek(SeekFrom::Start(range.start))?;
    match io::copy(&mut from.take(length), to)? {
        copied if copied == length => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

pub fn hash_of(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
