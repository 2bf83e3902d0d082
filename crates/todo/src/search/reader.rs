//! Reads and folds files, reusing its buffers.

use super::fold::fold_into;
use crate::files::{Folder, Stamp};

pub struct Reader<'a> {
    folder: &'a Folder,
    bytes: Vec<u8>,
    folded: Vec<u8>,
}

pub struct Read<'a> {
    pub text: &'a str,
    pub folded: &'a [u8],
    pub stamp: Stamp,
    pub settled: bool,
}

impl<'a> Reader<'a> {
    pub fn new(folder: &'a Folder) -> Self {
        Self {
            folder,
            bytes: Vec::new(),
            folded: Vec::new(),
        }
    }

    /// Reads a file that had this stamp a moment ago. `None` if it cannot
    /// be read.
    pub fn read(&mut self, name: &str, stamp: &Stamp) -> Option<Read<'_>> {
        // Fast path for an unchanged file that nobody is writing.
        let known = stamp.is_settled() && self.folder.read_known(name, stamp, &mut self.bytes);
        let (stamp, settled) = if known {
            (*stamp, true)
        } else {
            let loaded = self.folder.read(name).ok().flatten()?;
            self.bytes.clear();
            self.bytes.extend_from_slice(loaded.text.as_bytes());
            (loaded.stamp, loaded.settled)
        };
        let text = std::str::from_utf8(&self.bytes).ok()?;
        fold_into(text, &mut self.folded);
        Some(Read {
            text,
            folded: &self.folded,
            stamp,
            settled,
        })
    }
}
