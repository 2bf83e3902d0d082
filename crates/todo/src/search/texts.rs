//! The folded texts, one after the other: the first megabyte in memory, the
//! rest in a temporary file that has no name. Reading that again is much quicker
//! than reading and folding the files.

use std::{
    fs::File,
    io::{self, Write as _},
};

/// Bytes held in memory.
const IN_MEMORY: usize = 1024 * 1024;
/// What nobody needs any more is dropped once it is this much, and half of all.
const MOST_WASTE: u64 = 1024 * 1024;

#[derive(Default)]
pub struct Texts {
    memory: Vec<u8>,
    /// What comes after `memory`.
    file: Option<File>,
    /// There is no room on disk: everything is kept in memory.
    no_room: bool,
    end: u64,
    waste: u64,
}

/// Where a text is.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    pub start: u64,
    pub length: usize,
}

impl Place {
    pub fn end(&self) -> u64 {
        self.start + self.length as u64
    }
}

impl Texts {
    /// Where what is added next will begin.
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
            tracing::warn!(%error, "texts for the search are kept in memory");
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

    /// Nobody will read this again.
    pub fn forget(&mut self, place: Place) {
        self.waste += place.length as u64;
    }

    /// Whether it is time to begin anew.
    pub fn is_wasteful(&self) -> bool {
        self.waste > MOST_WASTE && self.waste > self.end / 2
    }

    /// What is there, in `buffer` if it has to be fetched.
    pub fn read<'a>(&'a self, place: Place, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
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

    /// Where the file begins; nobody can read across that.
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
    fn texts_are_found_where_they_were_put() {
        let mut texts = Texts::default();
        let mut places = Vec::new();
        let size = IN_MEMORY / 5;
        for number in 0..12u8 {
            places.push(Place {
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
