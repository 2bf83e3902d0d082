//! Writes a segment that is a file.

use std::fs::File;
use std::io::Write;

use kit::Result;

use super::{directory::Directory, disk::unusable};
use crate::{
    audit::{
        record::{Line, Record},
        store::{Appended, SegmentWriter},
    },
    private_files,
};

pub struct FileSegmentWriter {
    directory: Directory,
    segment: String,
    /// Locked.
    file: File,
    length: u64,
    /// The file of the arguments and its length; created when first needed.
    text: Option<(File, u64)>,
}

impl FileSegmentWriter {
    /// `file` is locked and has `length` bytes.
    pub fn new(directory: Directory, segment: &str, file: File, length: u64) -> Self {
        Self {
            directory,
            segment: segment.to_owned(),
            file,
            length,
            text: None,
        }
    }

    fn write(&mut self, lines: &[Line], durable: bool) -> std::io::Result<()> {
        let (mut records, mut arguments) = (String::new(), String::new());
        for line in lines {
            records.push_str(&line.record);
            records.push('\n');
            if let Some(kept) = &line.arguments {
                arguments.push_str(kept);
                arguments.push('\n');
            }
        }
        // Arguments first: a record must not exist without them.
        if !arguments.is_empty() {
            let (file, length) = match &mut self.text {
                Some(open) => open,
                none => {
                    let path = self.directory.arguments(&self.segment);
                    if let Some(parent) = path.parent() {
                        private_files::create_directory(parent)?;
                    }
                    let file = private_files::options()
                        .append(true)
                        .create(true)
                        .open(path)?;
                    none.insert((file, 0))
                }
            };
            if let Err(error) = file.write_all(arguments.as_bytes()) {
                let _ = file.set_len(*length);
                return Err(error);
            }
            *length += arguments.len() as u64;
        }
        let written = self.file.write_all(records.as_bytes()).and_then(|()| {
            if durable {
                self.file.sync_data()
            } else {
                Ok(())
            }
        });
        if let Err(error) = written {
            // Undo what was half written; it is written again later.
            let _ = self.file.set_len(self.length);
            if let Some((file, length)) = &mut self.text {
                *length -= arguments.len() as u64;
                let _ = file.set_len(*length);
            }
            return Err(error);
        }
        self.length += records.len() as u64;
        Ok(())
    }
}

impl SegmentWriter for FileSegmentWriter {
    fn append(&mut self, lines: &[Line], durable: bool) -> Result<Appended> {
        self.write(lines, durable)
            .map_err(|error| unusable(&self.directory.chain(&self.segment), error))?;
        Ok(Appended::Written)
    }

    fn sync_arguments(&mut self) {
        if let Some((file, _)) = &self.text
            && let Err(error) = file.sync_data()
        {
            tracing::warn!(%error, "arguments in the audit trail may not be on disk");
        }
    }

    fn end(&mut self, last: &Line, seal: Record<'static>) -> Result<()> {
        let before = self.length;
        self.append(std::slice::from_ref(last), true)?;
        self.sync_arguments();
        // Sealed while still locked, so that nobody considers it dead.
        let sealed = self.directory.add_checkpoints(vec![(seal, last.at)]);
        if sealed.is_err() {
            let _ = self.file.set_len(before);
            self.length = before;
        }
        sealed
    }
}
