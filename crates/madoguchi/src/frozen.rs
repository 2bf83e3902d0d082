//! Everything of an embedded installation at one moment, for a backup.
//!
//! For an instant no row and no room changes: the write lock of the database and the locks
//! of the rooms are held. Within it the database is made a snapshot of, and the files
//! are opened. The audit trail comes last, so it has no record of a change that the
//! copies lack; a record that is still missing is added from the rows when the restored
//! desk starts. What was opened is read after the locks are released.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use desk::audit;
use kit::{Error, Result, time::Clock};
use store::snapshot::{Freeze, Snapshot};

use crate::{
    archive::{Content, Part},
    counters::FrozenFolder,
    new_installation::Places,
    own_state::SECRET,
    temporary,
};

pub struct Frozen {
    /// In milliseconds since 1970.
    pub moment: i64,
    pub parts: Vec<Part>,
    /// Files that can't be in a backup.
    pub skipped: Vec<PathBuf>,
}

/// `folder` freezes the files of a counter. The copy of the database is made in
/// `scratch` before it is written.
pub fn freeze(
    places: &Places,
    folder: impl FnOnce() -> Result<Option<FrozenFolder>>,
    with_secret: bool,
    scratch: &Path,
) -> Result<Frozen> {
    let mut parts = Vec::new();
    // First, because this may wait for a while, and rooms are locked for an instant only.
    let database = match places.database.exists() {
        true => Some(Freeze::new(&places.database)?),
        false => None,
    };
    let rooms = folder()?;
    let moment = Clock::system().now().as_millisecond();
    let snapshot = database.as_ref();
    let snapshot = snapshot.map(|frozen| frozen.snapshot(&places.database));
    let snapshot = snapshot.transpose()?;
    let trail = audit::copy(&places.data.join("audit"))?;
    drop(database);
    // First, because nothing can be sealed or erased until it is written.
    if let Some(trail) = trail {
        parts.extend(trail_parts(trail));
    }
    if let Some(FrozenFolder { parts: files, lock }) = rooms {
        drop(lock);
        parts.extend(files);
    }
    let mut skipped = Vec::new();
    add_assets(&places.data, &mut parts, &mut skipped)?;
    if with_secret {
        parts.extend(secret(places)?);
    }
    if let Some(snapshot) = snapshot {
        parts.push(database_part(snapshot, scratch));
    }
    Ok(Frozen {
        moment,
        parts,
        skipped,
    })
}

fn trail_parts(trail: audit::TrailCopy) -> Vec<Part> {
    let (files, lock) = trail.into_parts();
    let parts = files.into_iter().map(|it| {
        let name = format!("audit/{}", it.name);
        Part::new(name, it.length, Content::Path(it.path))
    });
    let mut parts: Vec<Part> = parts.collect();
    if let Some(last) = parts.last_mut() {
        last.keep = Some(Box::new(lock));
    }
    parts
}

fn secret(places: &Places) -> Result<Option<Part>> {
    let path = places.database.with_file_name(SECRET);
    match fs::read(&path) {
        Ok(bytes) => Ok(Some(Part::bytes(SECRET, bytes))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(&path, &error)),
    }
}

fn database_part(snapshot: Snapshot, scratch: &Path) -> Part {
    let scratch = scratch.to_owned();
    let size = snapshot.size;
    let made = move || {
        let made = temporary::file(&scratch);
        let made = made.map_err(|error| unreadable(&scratch, &error))?;
        snapshot.copy_to(made.path(), &|_| {})?;
        Ok(made)
    };
    Part::new("madoguchi.db", size, Content::Made(Box::new(made)))
}

/// Links are not followed: a copy of what they lead to would no longer be a link.
fn add_assets(data: &Path, parts: &mut Vec<Part>, skipped: &mut Vec<PathBuf>) -> Result<()> {
    let mut directories = vec![data.join("assets")];
    while let Some(directory) = directories.pop() {
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(unreadable(&directory, &error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(&directory, &error))?;
            let path = entry.path();
            let failed = |error: io::Error| unreadable(&path, &error);
            let kind = entry.file_type().map_err(failed)?;
            let name = path.strip_prefix(data).ok().and_then(Path::to_str);
            match name.filter(|name| kind.is_dir() || Part::is_allowed(name)) {
                Some(_) if kind.is_dir() => directories.push(path),
                Some(name) if kind.is_file() => {
                    let length = entry.metadata().map_err(failed)?.len();
                    parts.push(Part::new(name, length, Content::Path(path.clone())));
                }
                _ => skipped.push(path),
            }
        }
    }
    Ok(())
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::new(
        "BACKUP_INCOMPLETE",
        format!(
            "{} can't be read: {error}. No backup was made.",
            path.display()
        ),
    )
    .next("Let the user that runs this command read the data directory.")
}
