//! Stores the folded texts: the first megabyte in memory, the rest in an
//! unnamed temporary file. Reading them there is much faster than reading and
//! folding the files again.

use std::{
    fs::File,
    io::{self, Write as _},
};

/// Bytes held in memory.
const IN_MEMORY: usize = 1024 * 1024;
/// The store is rebuilt when it has more unused bytes than this and they are
/// more than half of it.
const MOST_WASTE: u64 = 1024 * 1024;

#[derive(Default)]
pub struct TextStore {
    memory: Vec<u8>,
    /// The bytes after `memory`.
    file: Option<File>,
    /// No temporary file is possible, so everything is in memory.
    no_room: bool,
    end: u64,
    waste: u64,
}

/// Where a text is.
#[derive(Debug, Clone, Copy)]
pub struct TextRange {
    pub start: u64,
    pub length: usize,
}

impl TextRange {
    pub fn end(&self) -> u64 {
        self.start + self.length as u64
    }
}

impl TextStore {
    /// Where the next text will start.
    pub fn end(&self) -> u64 {
        self.end
    }

    pub fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        let full = self.memory.len() + bytes.len() > IN_MEMORY;
        if full && self.file.is_none() && !self.no_room {
            self.file = tempfile::tempfile().ok();
            self.no_room = self.file.is_none();
        }
        let seam = self.seam();
        if let Some(file) = &mut self.file
            && let Err(error) = file.write_all(bytes)
        {
            tracing::warn!(%error, "no temporary file for the search; its texts stay in memory");
            let mut written = vec![0; (self.end - seam) as usize];
            read_at(file, &mut written, 0)?;
            self.memory.extend(written);
            self.file = None;
            self.no_room = true;
        }
        if self.file.is_none() {
            self.memory.extend_from_slice(bytes);
        }
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Marks a text as unused.
    pub fn forget(&mut self, place: TextRange) {
        self.waste += place.length as u64;
    }

    /// Whether the store should be rebuilt.
    pub fn is_wasteful(&self) -> bool {
        self.waste > MOST_WASTE && self.waste > self.end / 2
    }

    /// Reads a text, into `buffer` if it is in the file.
    pub fn read<'a>(&'a self, place: TextRange, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        let first = self.memory.len() as u64;
        if place.start < first {
            let start = place.start as usize;
            let found = self.memory.get(start..start + place.length);
            return found.ok_or_else(|| io::ErrorKind::UnexpectedEof.into());
        }
        let file = self.file.as_ref().ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.resize(place.length, 0);
        read_at(file, buffer, place.start - first)?;
        Ok(buffer)
    }

    /// Where the file begins. No read can cross this point.
    pub fn seam(&self) -> u64 {
        self.memory.len() as u64
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, at)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<()> {
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match std::os::windows::fs::FileExt::seek_read(file, rest, at + done as u64)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => done += read,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_back() {
        let mut texts = TextStore::default();
        let mut places = Vec::new();
        let size = IN_MEMORY / 5;
        for number in 0..12u8 {
            places.push(TextRange {
                start: texts.end(),
                length: size,
            });
            texts.add(&vec![number; size]).unwrap();
        }
        assert!(texts.seam() <= IN_MEMORY as u64 && texts.end() > texts.seam());
        for (number, place) in places.iter().enumerate() {
            let mut buffer = Vec::new();
            let read = texts.read(*place, &mut buffer).unwrap();
            assert!(read.iter().all(|byte| usize::from(*byte) == number));
        }
        for place in places.iter().skip(5) {
            texts.forget(*place);
        }
        assert!(texts.is_wasteful());
    }
}
