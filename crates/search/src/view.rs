//! The segments as of one commit.

use std::{fs, io, os::unix::fs::MetadataExt, path::Path};

use tantivy::IndexReader;

use crate::{
    error::{Error, OpenError},
    schema::{FORMAT, Fields},
    segment::Segment,
};

pub(crate) const META: &str = "meta.json";

/// What searches see until a newer commit is loaded.
pub(crate) struct View {
    pub segments: Vec<Segment>,
    pub position: u64,
    pub documents: u64,
    pub stamp: Option<Stamp>,
}

impl View {
    /// Loads one commit, even if another process commits meanwhile.
    pub fn open(
        index: &tantivy::Index,
        reader: &IndexReader,
        fields: &Fields,
        directory: Option<&Path>,
        known: &[Segment],
    ) -> Result<View, OpenError> {
        let mut tries = 0;
        loop {
            let before = directory.map(stamp).transpose()?;
            let opened = reader.reload().and_then(|()| index.load_metas());
            let unchanged = directory.map(stamp).transpose()? == before;
            tries += 1;
            if !unchanged && tries < 20 {
                continue;
            }
            let meta = opened?;
            let Some(position) = position(meta.payload.as_deref()) else {
                return Err(OpenError::Damaged("it has another version".into()));
            };
            let searcher = reader.searcher();
            let segments = searcher
                .segment_readers()
                .iter()
                .map(|segment| Segment::open(segment, fields, known))
                .collect::<tantivy::Result<Vec<_>>>()?;
            return Ok(View {
                segments,
                position,
                documents: searcher.num_docs(),
                stamp: before,
            });
        }
    }

    /// `term` is that of the id.
    pub fn knows(&self, id: i64, term: &tantivy::Term) -> Result<bool, Error> {
        for segment in &self.segments {
            if segment.may_know(id) && segment.knows(term)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Identifies a commit, by the file that every commit replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: u64,
    modified: (i64, i64),
    length: u64,
}

pub(crate) fn stamp(directory: &Path) -> io::Result<Stamp> {
    let meta = fs::metadata(directory.join(META))?;
    Ok(Stamp {
        inode: meta.ino(),
        modified: (meta.mtime(), meta.mtime_nsec()),
        length: meta.len(),
    })
}

pub(crate) fn payload(position: u64) -> String {
    format!("{FORMAT} {position}")
}

/// The position in a commit's payload; `None` if it has another format.
fn position(payload: Option<&str>) -> Option<u64> {
    // A new index has no payload yet.
    let Some(payload) = payload else {
        return Some(0);
    };
    let (format, position) = payload.split_once(' ')?;
    if format.parse() != Ok(FORMAT) {
        return None;
    }
    position.parse().ok()
}
