//! Compressed files of sealed segments: `NAME.jsonl.gz` in place of `NAME.jsonl`. Any
//! gzip program reads them.
//!
//! The plain file is removed when the compressed one is on disk. So a reader that finds
//! no plain file finds a compressed one, and a process that is killed in between leaves
//! both, of which the plain one counts.

use std::{
    fs::{self, File, Metadata},
    io::{self, ErrorKind, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use flate2::read::MultiGzDecoder;
use kit::{Result, durable};

use super::{
    disk::{if_exists, is_damage, unusable},
    members,
};
use crate::private_files;

pub const ENDING: &str = ".gz";
/// In the names of files that are not complete yet.
const UNFINISHED: &str = ".gz.new-";

pub fn packed(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ENDING);
    name.into()
}

/// Opens a file that may be compressed.
pub fn open(path: &Path) -> Result<Option<Box<dyn Read>>> {
    if let Some(file) = if_exists(path, File::open(path))? {
        return Ok(Some(Box::new(file)));
    }
    let path = packed(path);
    let file = if_exists(&path, File::open(&path))?;
    Ok(file.map(|file| Box::new(MultiGzDecoder::new(file)) as Box<dyn Read>))
}

pub fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>> {
    let Some(mut reader) = open(path)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    match reader.read_to_end(&mut bytes) {
        Ok(_) => {}
        // What can be read of a damaged file. `verify` misses the rest.
        Err(error) if is_damage(&error) => {}
        Err(error) => return Err(unusable(path, error)),
    }
    Ok(Some(bytes))
}

/// Also reads damaged files: a line that is not UTF-8 fails its hash later.
pub fn read(path: &Path) -> Result<Option<String>> {
    let bytes = read_bytes(path)?;
    Ok(bytes.map(|bytes| {
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }))
}

pub fn metadata(path: &Path) -> Option<Metadata> {
    let plain = fs::metadata(path);
    plain.or_else(|_| fs::metadata(packed(path))).ok()
}

/// Writes the compressed file beside its final name, and returns where. `modified` is
/// the time of the last record.
pub fn write(path: &Path, content: &mut dyn Read, modified: &Metadata) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    let random = kit::ids::random(UNFINISHED, 8);
    let made = path.with_file_name(format!(".{}{random}", name.to_string_lossy()));
    let file = private_files::options()
        .write(true)
        .create_new(true)
        .open(&made)?;
    let write = || {
        let mut into = io::BufWriter::new(file);
        members::write(content, &mut into)?;
        let file = into.into_inner()?;
        file.set_modified(modified.modified()?)?;
        file.sync_all()
    };
    let written = write();
    if written.is_err() {
        let _ = fs::remove_file(&made);
    }
    written.map(|()| made)
}

/// Lets the compressed file take the place of the plain one.
pub fn replace_plain(path: &Path, made: &Path) -> io::Result<()> {
    fs::rename(made, packed(path))?;
    durable::sync_name(path)?;
    fs::remove_file(path)
}

/// Lets the compressed file take the place of an older one, of which nothing remains.
pub fn replace_packed(path: &Path, made: &Path) -> io::Result<()> {
    let path = packed(path);
    let old = File::options().write(true).open(&path)?;
    fs::rename(made, &path)?;
    durable::sync_name(&path)?;
    blank(old)
}

/// Removes the compressed file beside a plain one, if there is one.
pub fn remove_packed(path: &Path) -> io::Result<()> {
    let path = packed(path);
    match File::options().write(true).open(&path) {
        Ok(file) => {
            fs::remove_file(&path)?;
            blank(file)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Overwrites what a file has.
fn blank(mut file: File) -> io::Result<()> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(0))?;
    io::copy(&mut io::repeat(0).take(length), &mut file)?;
    file.flush()?;
    file.sync_data()
}

/// Removes what processes left that were killed while they compressed. The caller holds
/// the lock under which files are compressed.
pub fn remove_unfinished(directory: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') && name.contains(UNFINISHED) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
