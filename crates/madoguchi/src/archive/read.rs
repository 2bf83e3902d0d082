//! Reads a backup, and refuses one with a single byte that should not be there.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom},
    path::Path,
};

use kit::{Error, Result};
use sha2::{Digest, Sha256};

use super::{
    entry::{self, BLOCK, END},
    manifest::{self, MANIFEST, Manifest, PartInfo, SEAL, damaged, not_a_backup},
};

/// No manifest is longer: that would be half a million parts.
const LONGEST_MANIFEST: u64 = 64 * 1024 * 1024;

/// A file whose manifest was read and fits its length.
pub struct Archive {
    pub manifest: Manifest,
    file: File,
    /// The SHA-256 of the manifest.
    sha256: String,
    parts_at: u64,
}

impl Archive {
    pub fn open(path: &Path) -> Result<Self> {
        let unusable = |error: io::Error| {
            let message = format!("{} can't be read: {error}.", path.display());
            Error::new("BACKUP_UNREADABLE", message).next("Check its name and its permissions.")
        };
        let about = std::fs::metadata(path).map_err(unusable)?;
        if !about.is_file() {
            return Err(not_a_backup());
        }
        let mut file = File::open(path).map_err(unusable)?;
        let length = file.metadata().map_err(unusable)?.len();
        let mut head = [0; BLOCK];
        file.read_exact(&mut head).map_err(|_| not_a_backup())?;
        let (size, at) = entry::size_and_time(&head).ok_or_else(not_a_backup)?;
        if head.as_slice() != entry::header(MANIFEST, size, at) {
            return Err(not_a_backup());
        }
        if size > LONGEST_MANIFEST || size > length {
            return Err(damaged("it is cut off"));
        }
        let mut text = vec![0; usize::try_from(size).map_err(Error::internal)?];
        file.read_exact(&mut text).map_err(|error| cut(&error))?;
        let manifest = Manifest::parse(&text)?;
        if manifest.seconds() != at {
            return Err(damaged("its manifest was changed"));
        }
        match manifest.file_length(size) {
            Some(expected) if expected == length => {}
            Some(expected) if expected > length => return Err(damaged("it is cut off")),
            _ => return Err(damaged("it is longer than its parts")),
        }
        let after = entry::padding(size);
        let mut archive = Self {
            manifest,
            file,
            sha256: kit::text::hex(Sha256::digest(&text)),
            parts_at: (BLOCK + text.len() + after) as u64,
        };
        zeros(&mut archive.file, after)?;
        archive.check_seal(length)?;
        Ok(archive)
    }

    /// The end of the file, before the parts: it says whether the manifest is the one
    /// that was written.
    fn check_seal(&mut self, length: u64) -> Result<()> {
        let text = manifest::seal(&self.sha256);
        let mut end = entry::header(SEAL, text.len() as u64, self.manifest.seconds());
        end.extend_from_slice(text.as_bytes());
        end.resize(end.len() + entry::padding(text.len() as u64), 0);
        end.extend_from_slice(&END);
        let mut found = vec![0; end.len()];
        let at = length.saturating_sub(end.len() as u64);
        let seek = self.file.seek(SeekFrom::Start(at));
        seek.and_then(|_| self.file.read_exact(&mut found))
            .map_err(|error| cut(&error))?;
        match found == end {
            true => Ok(()),
            false => Err(damaged(
                "its manifest does not match the checksum at its end",
            )),
        }
    }

    /// Hands each part to `take`, which reads as much of it as it likes, and checks the
    /// part afterwards. `watch` learns how many bytes were read.
    pub fn each(
        &mut self,
        mut take: impl FnMut(&PartInfo, &mut dyn Read) -> Result<()>,
        watch: &dyn Fn(u64),
    ) -> Result<()> {
        let seek = self.file.seek(SeekFrom::Start(self.parts_at));
        seek.map_err(|error| cut(&error))?;
        let at = self.manifest.seconds();
        let mut file = BufReader::with_capacity(1 << 16, &mut self.file);
        let mut done = 0;
        for part in &self.manifest.parts {
            let header = entry::header(&part.name, part.size, at);
            let mut found = vec![0; header.len()];
            file.read_exact(&mut found).map_err(|error| cut(&error))?;
            if found != header {
                return Err(damaged(&format!("the entry of {} was changed", part.name)));
            }
            let mut reader = Hashing {
                from: (&mut file).take(part.size),
                digest: Sha256::new(),
                progress: &|read| watch(done + read),
                read: 0,
            };
            take(part, &mut reader)?;
            io::copy(&mut reader, &mut io::sink()).map_err(|error| cut(&error))?;
            let (sha256, read) = (kit::text::hex(reader.digest.finalize()), reader.read);
            if read != part.size {
                return Err(damaged("it is cut off"));
            }
            if sha256 != part.sha256 {
                return Err(damaged(&format!(
                    "{} does not match its checksum",
                    part.name
                )));
            }
            zeros(&mut file, entry::padding(part.size))?;
            done += part.size;
        }
        Ok(())
    }
}

struct Hashing<'a, R> {
    from: R,
    digest: Sha256,
    progress: &'a dyn Fn(u64),
    read: u64,
}

impl<R: Read> Read for Hashing<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(buffer)?;
        self.digest.update(buffer.get(..count).unwrap_or_default());
        self.read += count as u64;
        (self.progress)(self.read);
        Ok(count)
    }
}

fn zeros(file: &mut impl Read, count: usize) -> Result<()> {
    let mut found = vec![0; count];
    file.read_exact(&mut found).map_err(|error| cut(&error))?;
    match found.iter().all(|byte| *byte == 0) {
        true => Ok(()),
        false => Err(damaged("there is something between its parts")),
    }
}

fn cut(error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => damaged("it is cut off"),
        _ => Error::new(
            "BACKUP_UNREADABLE",
            format!("The backup can't be read: {error}. Nothing was restored."),
        )
        .next("Copy the file to another disk and try again."),
    }
}
