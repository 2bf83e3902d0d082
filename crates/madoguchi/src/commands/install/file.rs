//! Reads and writes a client's file. Writing replaces the whole file at once, and never
//! replaces a text that was not read.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

use kit::{Error, Result};

/// What becomes of a file.
pub enum FileChange {
    Keep,
    Write(String),
    Delete,
}

/// What becomes of its backup.
#[derive(Debug, PartialEq, Eq)]
pub enum Backup {
    Keep,
    Save(String),
    Remove,
}

/// The texts that an edit starts from.
pub struct Texts {
    pub file: Option<String>,
    pub backup: Option<String>,
}

/// How often the file may change while it is edited.
const MOST_ATTEMPTS: usize = 20;

/// Where the text from before the first entry is kept: beside the file itself, not
/// beside a link to it.
pub fn backup_path(path: &Path) -> PathBuf {
    let path = followed(path).unwrap_or_else(|_| path.to_owned());
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".madoguchi-backup");
    path.with_file_name(name)
}

/// Edits a file, one process at a time. `edit` is called again if another program
/// changed the file meanwhile. A missing file is created, for its owner alone if it is
/// private; a link is followed. `by_hand` is what the person does if this fails.
pub fn update<T>(
    path: &Path,
    is_private: bool,
    by_hand: &str,
    mut edit: impl FnMut(&Texts) -> Result<(FileChange, Backup, T)>,
) -> Result<T> {
    let path = followed(path).map_err(|error| unusable(path, &error, by_hand))?;
    let failed = |error: io::Error| unusable(&path, &error, by_hand);
    let directory = path.parent().unwrap_or(Path::new("."));
    // Held until the end. A file system without locks is no obstacle.
    let locked = File::open(directory).and_then(|directory| directory.lock().map(|()| directory));
    let mut locked = locked.ok();
    for _ in 0..MOST_ATTEMPTS {
        let bytes = read(&path).map_err(failed)?;
        let texts = Texts {
            file: bytes.clone().map(|bytes| text(&path, bytes)).transpose()?,
            backup: match read(&backup_path(&path)).map_err(failed)? {
                Some(backup) => Some(text(&backup_path(&path), backup)?),
                None => None,
            },
        };
        let (next, backup, result) = edit(&texts)?;
        if matches!(next, FileChange::Keep) {
            return Ok(result);
        }
        refuse_read_only(&path).map_err(failed)?;
        if locked.is_none() {
            create_directory(directory).map_err(failed)?;
            let lock = File::open(directory).and_then(|it| it.lock().map(|()| it));
            locked = lock.ok();
        }
        if let Backup::Save(text) = &backup {
            let saved = prepared(&path, text, true).map_err(failed)?;
            let saved = saved.persist(backup_path(&path));
            saved.map_err(|it| failed(it.error))?;
        }
        let new = match &next {
            FileChange::Write(text) => Some(prepared(&path, text, is_private).map_err(failed)?),
            FileChange::Keep | FileChange::Delete => None,
        };
        if read(&path).map_err(failed)? != bytes {
            continue;
        }
        match new {
            Some(new) => new
                .persist(&path)
                .map(drop)
                .map_err(|it| failed(it.error))?,
            None => fs::remove_file(&path).map_err(failed)?,
        }
        kit::durable::sync_name(&path).map_err(failed)?;
        if backup == Backup::Remove {
            missing_is_fine(fs::remove_file(backup_path(&path))).map_err(failed)?;
        }
        return Ok(result);
    }
    Err(Error::new(
        "FILE_BUSY",
        format!(
            "{} is changed by another program again and again.",
            path.display()
        ),
    )
    .next("Quit the client and run this again."))
}

/// The file behind links. The last of them may be missing.
pub fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(target) => {
                let directory = path.parent().unwrap_or(Path::new("."));
                path = directory.join(target);
            }
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links"))
}

/// The bytes of a file; `None` if there is none. Only of a regular file: reading a pipe
/// would wait for ever, and a device must not be replaced.
pub fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => fs::read(path).map(Some),
        Ok(_) => Err(io::Error::other("it is not a file")),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The system would allow the edit, because a new file replaces the old one.
fn refuse_read_only(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.permissions().readonly() => {
            Err(io::Error::other("it is read-only"))
        }
        _ => Ok(()),
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn missing_is_fine(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| match is_missing(&error) {
        true => Ok(()),
        false => Err(error),
    })
}

fn text(path: &Path, bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| {
        Error::new("BROKEN_FILE", format!("{} is not UTF-8.", path.display()))
            .next("Nothing was changed. Save the file as UTF-8 and run this again.")
    })
}

/// The new file, still under another name.
fn prepared(path: &Path, text: &str, is_private: bool) -> io::Result<tempfile::NamedTempFile> {
    let mut new = like(path, is_private)?;
    new.write_all(text.as_bytes())?;
    new.as_file().sync_all()?;
    Ok(new)
}

/// An empty file beside another one, with the owner and permissions of that. If that is
/// missing, with the owner of the directory, so that root can run this for somebody else.
fn like(path: &Path, is_private: bool) -> io::Result<tempfile::NamedTempFile> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".madoguchi-");
    #[cfg(unix)]
    if !is_private {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let new = builder.tempfile_in(directory)?;
    let existing = match fs::metadata(path) {
        Ok(metadata) => Some(metadata),
        Err(error) if is_missing(&error) => None,
        Err(error) => return Err(error),
    };
    #[cfg(unix)]
    {
        let wanted = match &existing {
            Some(metadata) => owner(metadata),
            None => owner(&fs::metadata(directory)?),
        };
        if wanted != owner(&new.as_file().metadata()?) {
            // Only root can; others keep what they make.
            let _ = std::os::unix::fs::fchown(new.as_file(), wanted.0, wanted.1);
        }
    }
    if let Some(metadata) = existing {
        new.as_file().set_permissions(metadata.permissions())?;
    }
    Ok(new)
}

/// Creates a directory and those above it, each with the owner of the one above.
fn create_directory(directory: &Path) -> io::Result<()> {
    let above = match directory.parent() {
        Some(above) if !directory.is_dir() => above,
        _ => return Ok(()),
    };
    create_directory(above)?;
    match fs::create_dir(directory) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        Err(_) => {}
        Ok(()) => {
            #[cfg(unix)]
            {
                let (user, group) = owner(&fs::metadata(above)?);
                let _ = std::os::unix::fs::lchown(directory, user, group);
            }
            kit::durable::sync_directory(above)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn owner(metadata: &fs::Metadata) -> (Option<u32>, Option<u32>) {
    use std::os::unix::fs::MetadataExt;
    (Some(metadata.uid()), Some(metadata.gid()))
}

fn unusable(path: &Path, error: &io::Error, by_hand: &str) -> Error {
    let message = format!("{} can't be edited: {error}.", path.display());
    Error::new("FILE_UNUSABLE", message).next(by_hand)
}

#[cfg(test)]
mod tests;
