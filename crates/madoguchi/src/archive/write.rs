//! Writes a backup.

use std::{
    any::Any,
    fs::File,
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use kit::{Error, Result};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use super::{
    entry::{self, END},
    manifest::{self, MANIFEST, Manifest, PartInfo, SEAL, UNKNOWN},
};

/// One file of a backup.
pub struct Part {
    pub name: String,
    pub size: u64,
    pub content: Content,
    /// Dropped when the part is written, such as a lock.
    pub keep: Option<Box<dyn Any>>,
}

pub enum Content {
    Bytes(Vec<u8>),
    /// The beginning of an open file. What is added to the file later is not read.
    File(File),
    /// The same of a file that is opened when its turn comes.
    Path(PathBuf),
    /// A file that is made when its turn comes, and removed afterwards.
    Made(Box<dyn FnOnce() -> Result<NamedTempFile>>),
}

impl Part {
    /// Whether a part may have this name.
    pub fn is_allowed(name: &str) -> bool {
        manifest::is_allowed(name)
    }

    pub fn new(name: impl Into<String>, size: u64, content: Content) -> Self {
        Self {
            name: name.into(),
            size,
            content,
            keep: None,
        }
    }

    pub fn bytes(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self::new(name, bytes.len() as u64, Content::Bytes(bytes))
    }
}

/// Writes all parts, and then the manifest with their checksums over the place that was
/// kept for it. `watch` learns how many bytes of the parts were written.
pub fn write(
    file: &mut File,
    moment: String,
    not_included: Vec<String>,
    parts: Vec<Part>,
    watch: &dyn Fn(u64),
) -> Result<Manifest> {
    let mut manifest = Manifest::new(moment, not_included, announced(&parts));
    let at = manifest.seconds();
    let mut out = BufWriter::with_capacity(1 << 18, &mut *file);
    add_text(&mut out, MANIFEST, &manifest.to_text()?, at).map_err(unwritable)?;
    let mut written = 0;
    for (number, part) in parts.into_iter().enumerate() {
        let (name, size) = (part.name.clone(), part.size);
        let header = entry::header(&name, size, at);
        out.write_all(&header).map_err(unwritable)?;
        let sha256 = add(&mut out, part, &mut |bytes| {
            written += bytes;
            watch(written);
        })?;
        pad(&mut out, size).map_err(unwritable)?;
        let info = manifest.parts.get_mut(number);
        let info = info.filter(|info| info.name == name && info.size == size);
        let info = info.ok_or_else(|| Error::internal("the parts changed while written"))?;
        info.sha256 = sha256;
    }
    let text = manifest.to_text()?;
    let hash = kit::text::hex(Sha256::digest(text.as_bytes()));
    add_text(&mut out, SEAL, &manifest::seal(&hash), at)
        .and_then(|()| out.write_all(&END))
        .and_then(|()| out.flush())
        .map_err(unwritable)?;
    drop(out);
    file.seek(SeekFrom::Start(entry::BLOCK as u64))
        .and_then(|_| file.write_all(text.as_bytes()))
        .and_then(|()| file.sync_all())
        .map_err(unwritable)?;
    Ok(manifest)
}

/// What the manifest says of parts that are not written yet.
fn announced(parts: &[Part]) -> Vec<PartInfo> {
    let info = |part: &Part| PartInfo {
        name: part.name.clone(),
        size: part.size,
        sha256: UNKNOWN.into(),
    };
    parts.iter().map(info).collect()
}

fn add_text(out: &mut impl Write, name: &str, text: &str, at: u64) -> io::Result<()> {
    out.write_all(&entry::header(name, text.len() as u64, at))?;
    out.write_all(text.as_bytes())?;
    pad(out, text.len() as u64)
}

fn pad(out: &mut impl Write, size: u64) -> io::Result<()> {
    let zeros = END.get(..entry::padding(size)).unwrap_or_default();
    out.write_all(zeros)
}

/// Writes the content; returns its SHA-256.
fn add(out: &mut impl Write, part: Part, watch: &mut dyn FnMut(u64)) -> Result<String> {
    let _kept = part.keep;
    let name = part.name.as_str();
    let open = |path: &Path| File::open(path).map_err(|error| unreadable(name, &error));
    let mut copy = |from: &mut dyn Read| copy(out, from, name, part.size, watch);
    match part.content {
        Content::Bytes(bytes) => copy(&mut bytes.as_slice()),
        Content::Path(path) => copy(&mut open(&path)?),
        Content::File(mut file) => {
            let begin = file.seek(SeekFrom::Start(0));
            begin.map_err(|error| unreadable(name, &error))?;
            copy(&mut file)
        }
        Content::Made(make) => {
            let made = make()?;
            let mut file = open(made.path())?;
            let length = file.metadata().map_or(0, |it| it.len());
            match length == part.size {
                true => copy(&mut file),
                false => Err(Error::internal(format!(
                    "{name} has {length} bytes instead of {}",
                    part.size
                ))),
            }
        }
    }
}

fn copy(
    out: &mut impl Write,
    from: &mut dyn Read,
    name: &str,
    size: u64,
    watch: &mut dyn FnMut(u64),
) -> Result<String> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut left = size;
    while left > 0 {
        let most = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let some = buffer.get_mut(..most).unwrap_or_default();
        let read = match from.read(some) {
            Ok(0) => return Err(changed(name)),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(name, &error)),
        };
        let some = buffer.get(..read).unwrap_or_default();
        digest.update(some);
        out.write_all(some).map_err(unwritable)?;
        left -= read as u64;
        watch(read as u64);
    }
    Ok(kit::text::hex(digest.finalize()))
}

fn unwritable(error: io::Error) -> Error {
    let full = error.kind() == io::ErrorKind::StorageFull;
    let next = match full {
        true => "Free some space, or write it to another disk.",
        false => "Check the directory and its permissions.",
    };
    Error::new(
        "BACKUP_UNWRITABLE",
        format!("The backup can't be written: {error}. No backup was made."),
    )
    .next(next)
}

fn unreadable(name: &str, error: &io::Error) -> Error {
    Error::new(
        "BACKUP_INCOMPLETE",
        format!("{name} can't be read: {error}. No backup was made."),
    )
    .next("Let the user that runs this command read the data directory.")
}

fn changed(name: &str) -> Error {
    Error::new(
        "BACKUP_INCOMPLETE",
        format!("{name} became shorter while it was copied. No backup was made."),
    )
    .next("Run the command again.")
}
