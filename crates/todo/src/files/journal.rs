//! Makes a change of several files atomic. It is written to a journal first; if
//! this process is killed, the next one finishes it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use kit::durable;
use serde::{Deserialize, Serialize};

use super::{
    folder::Folder,
    read::is_missing,
    replace::{FileVersion, replace},
    stamp::Stamp,
    write::{PlaceOutcome, PreparedFile},
};

const NAME: &str = ".journal";

#[derive(Serialize, Deserialize)]
pub struct Step {
    pub name: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

pub fn path(folder: &Folder) -> PathBuf {
    folder.todo.join(NAME)
}

pub fn write(folder: &Folder, steps: &[Step]) -> io::Result<()> {
    let text = serde_json::to_string(steps)?;
    let mut prepared = PreparedFile::new(&path(folder), &text)?;
    prepared.sync()?;
    match prepared.place(None)? {
        PlaceOutcome::Done { .. } => durable::sync_directory(&folder.todo),
        PlaceOutcome::Raced { .. } => Err(io::ErrorKind::AlreadyExists.into()),
    }
}

pub fn remove(folder: &Folder) -> io::Result<()> {
    match fs::remove_file(path(folder)) {
        Err(error) if !is_missing(&error) => Err(error),
        // If it came back after a power failure, it would repeat an old change.
        _ => durable::sync_directory(&folder.todo),
    }
}

/// Finishes an interrupted change. Files that somebody changed since then are
/// left alone.
pub fn recover(folder: &Folder) -> io::Result<()> {
    let text = match fs::read_to_string(path(folder)) {
        Ok(text) => text,
        Err(error) if is_missing(&error) => return Ok(()),
        Err(error) => return Err(error),
    };
    // Our journal is always complete, so a file that does not parse is not
    // ours.
    let steps: Vec<Step> = serde_json::from_str(&text)?;
    for step in steps {
        let Ok(path) = folder.path(&step.name) else {
            continue;
        };
        finish(&path, &step)?;
    }
    remove(folder)
}

fn finish(path: &Path, step: &Step) -> io::Result<()> {
    let now = match fs::read_to_string(path) {
        Ok(text) => Some(text),
        Err(error) if is_missing(&error) => None,
        Err(_) => return Ok(()),
    };
    if now != step.before || now == step.after {
        return Ok(());
    }
    match &step.after {
        Some(after) => {
            if let Some(parent) = path.parent() {
                durable::create_directory(parent, 0o777)?;
            }
            let expected = fs::metadata(path).ok().map(|old| Stamp::of(&old));
            let mut prepared = PreparedFile::new(path, after)?;
            prepared.sync()?;
            match (expected, now) {
                (Some(stamp), Some(now)) => {
                    let there = FileVersion::before(stamp, &now.into());
                    let after = after.as_str().into();
                    let shown = Folder::shown(&step.name);
                    // On a conflict the other version
                    // stays.
                    let replaced = replace(path, &shown, there, prepared, &after);
                    if let Some(done) = replaced.map_err(io::Error::other)? {
                        done.settle(path, &shown).map_err(io::Error::other)?;
                    }
                }
                _ => {
                    prepared.place(None)?;
                }
            }
        }
        None => fs::remove_file(path)?,
    }
    durable::sync_name(path)
}
