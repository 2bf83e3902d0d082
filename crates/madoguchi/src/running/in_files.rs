//! One file for each desk, beside the embedded database. A file without a lock is of
//! a desk that was killed.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};

use desk::private_files;
use kit::{Error, Result};

use super::running_desk::RunningDesk;

/// The file, locked until this is dropped.
pub struct AnnouncedFile {
    path: PathBuf,
    _locked: File,
}

impl Drop for AnnouncedFile {
    fn drop(&mut self) {
        // A file that stays has no lock, so the next reader removes it.
        let _ = fs::remove_file(&self.path);
    }
}

pub fn announce(directory: &Path, desk: &RunningDesk) -> Result<AnnouncedFile> {
    let name = kit::ids::random(&format!("{}-", desk.pid), 8);
    let path = directory.join(format!("{name}.json"));
    // Locked and complete before others can see it.
    let hidden = directory.join(format!(".{name}"));
    let text = serde_json::to_string(desk).map_err(Error::internal)?;
    let write = || {
        private_files::create_directory(directory)?;
        let mut file = private_files::options()
            .write(true)
            .create_new(true)
            .open(&hidden)?;
        file.lock()?;
        writeln!(file, "{text}")?;
        fs::rename(&hidden, &path)?;
        std::io::Result::Ok(file)
    };
    let locked = write().map_err(|error| {
        let message = format!("{} can't be written: {error}.", path.display());
        Error::new("DATA_UNUSABLE", message)
    })?;
    Ok(AnnouncedFile {
        path,
        _locked: locked,
    })
}

/// The desks that are alive. Removes the files of the others.
pub fn desks(directory: &Path) -> Vec<RunningDesk> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_announced = |path: &PathBuf| path.extension().is_some_and(|it| it == "json");
    let paths = entries.map(|entry| entry.path()).filter(is_announced);
    let mut alive = Vec::new();
    for path in paths {
        let Ok(file) = File::open(&path) else {
            continue;
        };
        if file.try_lock_shared().is_ok() {
            let _ = fs::remove_file(&path);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        alive.extend(serde_json::from_str::<RunningDesk>(&text).ok());
    }
    alive
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desk(port: u16) -> RunningDesk {
        let address = format!("http://127.0.0.1:{port}");
        RunningDesk::of_this_process(Some(address), Vec::new(), 1)
    }

    #[test]
    fn a_desk_is_found_until_it_ends_however_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("desks");
        assert_eq!(desks(&directory), []);
        let first = announce(&directory, &desk(1)).unwrap();
        let second = announce(&directory, &desk(2)).unwrap();
        assert_eq!(desks(&directory).len(), 2);
        drop(first);
        assert_eq!(desks(&directory), [desk(2)]);
        // Killed: the lock is gone, the file stays.
        let path = second.path.clone();
        let text = fs::read(&path).unwrap();
        drop(second);
        fs::write(&path, text).unwrap();
        assert_eq!(desks(&directory), []);
        assert!(!path.exists());
    }
}
