//! The head of a segment that is being written, in a file of its own:
//! `heads/NAME.json`. So `verify` notices when the segment loses its last records, or
//! disappears, before anybody has sealed it.
//!
//! The file is overwritten in place after the records are on disk, and is never
//! synced itself. After a power loss it may be older than the segment or damaged, but
//! it never names a record that was lost. A damaged one counts as none.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use kit::Result;

use super::{
    directory::{Directory, ENDING_OF_HEADS},
    disk::if_exists,
};
use crate::{audit::record::Head, digest::sha256, private_files};

/// Every head has this length, so that one replaces another without a trace. It fits
/// into one sector of a disk.
const LENGTH: usize = 256;

/// A reader may meet a writer.
const ATTEMPTS: usize = 5;

pub struct KeptHead {
    file: File,
    segment: String,
}

impl KeptHead {
    pub fn create(directory: &Directory, segment: &str) -> io::Result<Self> {
        let path = directory.kept_head(segment);
        if let Some(parent) = path.parent() {
            private_files::create_directory(parent)?;
        }
        let file = private_files::options()
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)?;
        Ok(Self {
            file,
            segment: segment.to_owned(),
        })
    }

    /// All records up to this one must be on disk.
    pub fn set(&mut self, seq: u64, hash: &str) -> io::Result<()> {
        let head = Head {
            segment: self.segment.clone(),
            seq,
            hash: hash.to_owned(),
        };
        let text = serde_json::to_string(&head)?;
        let line = format!("{} {text}", sha256(text.as_bytes()));
        self.file.seek(SeekFrom::Start(0))?;
        self.file
            .write_all(format!("{line:<width$}\n", width = LENGTH - 1).as_bytes())
    }
}

/// All heads that are kept, by their segments' names.
pub fn all(directory: &Directory) -> Result<Vec<Head>> {
    let path = directory.kept_heads();
    let entries = if_exists(&path, fs::read_dir(&path))?;
    let mut heads: Vec<Head> = entries
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            !name.starts_with('.') && name.ends_with(ENDING_OF_HEADS)
        })
        .filter_map(|entry| read(&entry.path()))
        .collect();
    heads.sort_by(|a, b| a.segment.cmp(&b.segment));
    Ok(heads)
}

fn read(path: &Path) -> Option<Head> {
    (0..ATTEMPTS).find_map(|_| {
        let mut text = String::new();
        let file = File::open(path).ok()?;
        file.take(2 * LENGTH as u64)
            .read_to_string(&mut text)
            .ok()?;
        let (check, head) = text.trim_end().split_once(' ')?;
        if sha256(head.as_bytes()) != check {
            return None;
        }
        serde_json::from_str(head).ok()
    })
}
