//! Reads messages by their numbers, from the archive and the log.

use std::{fs::File, io, path::Path};

use super::segment::{self, Segment};
use crate::{
    model::message::{IndexedLine, MessageLine},
    store::files::dir::{self, ARCHIVE, LOG},
};

/// Both files at one moment. The log is opened first, so that a message which moves to
/// the archive meanwhile is seen twice rather than not at all.
pub struct Files {
    pub log: Option<File>,
    pub archive: Option<File>,
}

impl Files {
    pub fn open(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            log: dir::open_to_read(&directory.join(LOG))?,
            archive: dir::open_to_read(&directory.join(ARCHIVE))?,
        })
    }
}

/// Reads messages by their numbers.
pub struct Reader<'a> {
    archived: usize,
    archive: Option<segment::Reader<'a>>,
    log: Option<segment::Reader<'a>>,
}

impl<'a> Reader<'a> {
    pub fn new(archive: &'a Segment, log: &'a Segment, files: &'a Files) -> Self {
        let reader = |segment, file: &'a Option<File>| {
            file.as_ref()
                .map(|file| segment::Reader::new(segment, file))
        };
        Self {
            archived: archive.count(),
            archive: reader(archive, &files.archive),
            log: reader(log, &files.log),
        }
    }
}

impl Reader<'_> {
    pub fn text(&mut self, number: usize) -> io::Result<Option<&[u8]>> {
        let (reader, at) = match number.checked_sub(self.archived) {
            None => (&mut self.archive, number),
            Some(at) => (&mut self.log, at),
        };
        match reader {
            Some(reader) => reader.text(at),
            None => Ok(None),
        }
    }

    pub fn is_at(&mut self, number: usize, id: &str) -> io::Result<bool> {
        let head = self.text(number)?.and_then(IndexedLine::parse);
        Ok(head.is_some_and(|head| head.id == id))
    }

    pub fn line(&mut self, number: usize) -> io::Result<Option<MessageLine>> {
        Ok(self.text(number)?.and_then(MessageLine::parse))
    }
}
