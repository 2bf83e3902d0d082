//! Writes a segment that is a file.

use std::{fs, fs::File, io::Write, time::Instant};

use kit::{Result, durable};

use super::{directory::Directory, disk::unusable, kept_head::KeptHead};
use crate::{
    audit::{
        record::{Record, RecordLine},
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
    /// `None` if it could not be created.
    head: Option<KeptHead>,
    unsynced_since: Option<Instant>,
    /// The last record that was written, and its hash.
    last: (u64, String),
}

impl FileSegmentWriter {
    /// `file` is locked and has one record, of `length` bytes, which is on disk.
    pub fn new(
        directory: Directory,
        segment: &str,
        file: File,
        length: u64,
        first: &RecordLine,
    ) -> Self {
        let head = KeptHead::create(&directory, segment);
        let head = head.inspect_err(|error| tracing::warn!(%error, "the head can't be kept"));
        let mut writer = Self {
            directory,
            segment: segment.to_owned(),
            file,
            length,
            text: None,
            head: head.ok(),
            unsynced_since: None,
            last: (first.seq, first.hash().to_owned()),
        };
        writer.keep_head();
        writer
    }

    /// All that was written is on disk. A head that can't be written stays behind,
    /// which does no harm.
    fn keep_head(&mut self) {
        self.unsynced_since = None;
        if let Some(head) = &mut self.head {
            let (seq, hash) = &self.last;
            let _ = head.set(*seq, hash);
        }
    }

    fn write(&mut self, lines: &[RecordLine], durable: bool) -> std::io::Result<()> {
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
                        .open(&path)?;
                    durable::sync_name(&path)?;
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
        if !lines.is_empty() {
            self.unsynced_since.get_or_insert_with(Instant::now);
        }
        if durable {
            self.unsynced_since = None;
        }
        Ok(())
    }
}

impl SegmentWriter for FileSegmentWriter {
    fn append(&mut self, lines: &[RecordLine], durable: bool) -> Result<Appended> {
        self.write(lines, durable)
            .map_err(|error| unusable(&self.directory.chain(&self.segment), error))?;
        if let Some(last) = lines.last() {
            self.last = (last.seq, last.hash().to_owned());
        }
        if durable {
            self.keep_head();
        }
        Ok(Appended::Written)
    }

    fn unsynced_since(&self) -> Option<Instant> {
        self.unsynced_since
    }

    fn sync_arguments(&mut self) {
        if let Some((file, _)) = &self.text
            && let Err(error) = file.sync_data()
        {
            tracing::warn!(%error, "arguments in the audit trail may not be on disk");
        }
    }

    fn end(&mut self, last: &RecordLine, seal: Record<'static>) -> Result<()> {
        let before = self.length;
        // The kept head does not name this record, which may be taken back below.
        self.write(std::slice::from_ref(last), true)
            .map_err(|error| unusable(&self.directory.chain(&self.segment), error))?;
        self.sync_arguments();
        // Sealed while still locked, so that nobody considers it dead.
        let sealed = self.directory.add_checkpoints(vec![(seal, last.at)]);
        if sealed.is_err() {
            let _ = self.file.set_len(before);
            self.length = before;
        } else {
            // The checkpoint names the head now.
            let _ = fs::remove_file(self.directory.kept_head(&self.segment));
        }
        sealed
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn line(seq: u64) -> RecordLine {
        RecordLine {
            seq,
            at: 0,
            call: None,
            caller: None,
            record: format!("{{\"record\":{seq}}}"),
            arguments: Some(format!("{{\"arguments\":{seq}}}")),
        }
    }

    /// Nothing of a batch that did not fit stays, and nothing before it is lost.
    #[test]
    fn a_batch_that_does_not_fit_on_the_disk_leaves_no_trace() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::new(place.path());
        let path = directory.chain("a");
        let begin = format!("{}\n", line(1).record);
        fs::write(&path, &begin).unwrap();
        let open = || File::options().append(true).open(&path).unwrap();
        let length = begin.len() as u64;
        let mut writer = FileSegmentWriter::new(directory.clone(), "a", open(), length, &line(1));
        writer.append(&[line(2)], true).unwrap();
        let both = || [&path, &directory.arguments("a")].map(|it| fs::read_to_string(it).unwrap());
        let before = both();
        writer.file = File::options().write(true).open("/dev/full").unwrap();
        assert!(writer.append(&[line(3)], true).is_err());
        assert_eq!(both(), before);
        writer.file = open();
        writer.append(&[line(3)], true).unwrap();
        let [records, arguments] = before;
        assert_eq!(both()[0], format!("{records}{}\n", line(3).record));
        assert_eq!(both()[1], format!("{arguments}{{\"arguments\":3}}\n"));
    }
}
